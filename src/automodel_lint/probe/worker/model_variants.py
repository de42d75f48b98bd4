"""Models of a class with options on that its tiny configuration leaves off: they have other tensors to name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from torch import nn

from automodel_lint.probe.worker import building
from automodel_lint.probe.worker.checks import NotProbed
from automodel_lint.probe.worker.tiny_config import merge, switch_on

if TYPE_CHECKING:
    from automodel_lint.probe.worker.subject import Subject


def with_adapter(subject: Subject) -> list[tuple[str, nn.Module]]:
    """Return the fp32 models of the class that have an adapter, the shared one first, each with what is special of it.

    They are shared and not to be changed.

    Raises:
        NotProbed: if none has an adapter.
    """
    every = [("in fp32", subject.model), *subject.variants]
    made = [(where, model) for where, model in every if getattr(model, "state_dict_adapter", None) is not None]
    if not made:
        raise NotProbed("it has no state-dict adapter")
    return made


def variants_of(subject: Subject) -> Iterator[tuple[str, nn.Module]]:
    """Yield further models of the class that can be constructed and name tensors that the others have not.

    In fp32, with random parameters. Options are fields that the configuration or a part of it has, and the recipe's own
    variants.
    """
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
    for name, fields in building.shipped()["variants"].items():
        config = subject.config()
        if switch_on(config, fields):
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
