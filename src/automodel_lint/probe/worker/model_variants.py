"""Models of a class with options on that its tiny configuration leaves off: they have other tensors to name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from torch import nn

from automodel_lint.probe.worker import building
from automodel_lint.probe.worker.checks import NotProbed
from automodel_lint.probe.worker.subject import Subject
from automodel_lint.probe.worker.tiny_config import merge


def with_adapter(subject: Subject) -> list[tuple[str, nn.Module]]:
    """Return the fp32 models of the class that have an adapter, the shared one first, each with what is special of it.

    They are made once; the shared one is not to be changed.

    Raises:
        NotProbed: if none has an adapter.
    """
    made = vars(subject).get("_models_with_adapter")
    if made is None:
        every = [("in fp32", subject.model), *variants(subject)]
        made = [(where, model) for where, model in every if getattr(model, "state_dict_adapter", None) is not None]
        vars(subject)["_models_with_adapter"] = made
    if not made:
        raise NotProbed("it has no state-dict adapter")
    return made


def variants(subject: Subject) -> list[tuple[str, nn.Module]]:
    """Return further models of the class that can be constructed and name tensors that the others have not.

    In fp32, with random parameters. Options are fields that the configuration or a part of it has, and the recipe's own
    variants. They are made once.
    """
    made = vars(subject).get("_variants")
    if made is None:
        made = vars(subject)["_variants"] = list(_made(subject))
    return made


def _made(subject: Subject) -> Iterator[tuple[str, nn.Module]]:
    seen = [set(subject.model.state_dict())]
    for name, config in _configurations(subject):
        try:
            model = subject.fresh(config)
        except NotProbed:
            continue
        names = set(model.state_dict())
        if not any(names <= other for other in seen):
            seen.append(names)
            yield f"with {name}", model


def _configurations(subject: Subject) -> Iterator[tuple[str, Any]]:
    shipped = json.loads(building.RECIPES.read_text(encoding="utf-8"))["variants"]
    for name, fields in shipped.items():
        config = subject.config()
        if _switch_on(config, fields):
            yield name, config
    for name, recipe in subject.recipe.get("variants", {}).items():
        try:
            whole = merge(subject.recipe, recipe)
            yield (
                name,
                building.tiny_config(subject.cls, subject.config_class, subject.target.architectures, whole),
            )
        except Exception:
            continue


def _switch_on(config: Any, fields: dict[str, Any]) -> bool:
    """Set those fields that a configuration and its parts have and leave off; tell whether there was one."""
    changed = False
    for part in (config, *(v for v in vars(config).values() if hasattr(v, "to_dict") and not isinstance(v, type))):
        for name, value in fields.items():
            if name in vars(part) and not getattr(part, name):
                setattr(part, name, value)
                changed = True
    return changed
