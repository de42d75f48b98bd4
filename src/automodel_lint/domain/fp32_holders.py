"""Whether an adapter knows the modules that hold a model's fp32 parameters, which no checkpoint has."""

from __future__ import annotations

from typing import NamedTuple

from automodel_lint.domain.adapter import Adapter
from automodel_lint.domain.adapter_code import LOADING, SAVING, code_of, module_path
from automodel_lint.domain.adapter_names import images
from automodel_lint.domain.model_class import ModelClass

HOLDER = "_fp32_params"
_MOST = 2  # kinds of holders that are followed


class Unrouted(NamedTuple):
    """A tensor in a holder: its name, what it is saved as, and whether that still has the holder in it."""

    name: str
    saved: str
    kept: bool


def unrouted_holder(model: ModelClass, adapter: Adapter) -> Unrouted | None:
    """Return a tensor whose name goes into the checkpoint with the holder in it, or does not come back into it."""
    names = _held(model)
    if not names:
        return None
    if not any(_mentions(model, adapter, word) for word in (HOLDER, HOLDER.strip("_"))):
        return Unrouted(names[0], names[0], True)
    saved = images(adapter, SAVING, names)
    for name, made in saved.items():
        if made and any(f".{HOLDER}." in new for new in made):
            return Unrouted(name, next(new for new in made if HOLDER in new), True)
    back = images(adapter, LOADING, dict.fromkeys(new for made in saved.values() for new in made or ()))
    for name, made in saved.items():
        if made and all(back[new] is not None and name not in (back[new] or ()) for new in made):
            return Unrouted(name, made[0], False)
    return None


def _held(model: ModelClass) -> list[str]:
    """One tensor for each kind of holder."""
    found: dict[tuple[str, ...], str] = {}
    for fqn, variants in model.module_tree.by_fqn.items():
        if f".{HOLDER}." in fqn and any(tensor.persistent for tensor in variants):
            found.setdefault(tuple(fqn.split(".")[-3:]), fqn)
    return list(found.values())[:_MOST]


def _mentions(model: ModelClass, adapter: Adapter, word: str) -> bool:
    """Whether a word stands in a file from which the adapter runs something."""
    paths = {module_path(view) for view in code_of(model, adapter)}
    return any(model.project.tree.holds(path, word.encode()) for path in paths)
