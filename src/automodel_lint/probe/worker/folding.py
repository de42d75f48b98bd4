"""Names of tensors, folded: one root cause is one fault, however many layers show it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

INDEX = re.compile(r"(?<=\.)\d+(?=\.|$)|^\d+(?=\.)")


@dataclass(frozen=True)
class Group:
    """Tensors with one cause: how to call them, where the author edits (as in ``Fault.at``), all their names."""

    shown: str
    at: dict[str, Any]
    names: list[str]

    @property
    def others(self) -> str:
        """``", and likewise in 3 others"``, or nothing."""
        count = len(self.names) - 1
        return f", and likewise in {count} other{'s' * (count > 1)}" if count else ""


def folded(name: str) -> str:
    """Write ``*`` for every index: ``model.layers.0.gate.weight`` is ``model.layers.*.gate.weight``."""
    return INDEX.sub("*", name)


def grouped(model: nn.Module, bad: Mapping[str, object]) -> list[Group]:
    """Put bad tensors together by cause.

    A module of which every parameter is bad is one cause (the outermost such module). Of the rest, what one class
    creates is one: the class of the module that owns the tensor, or its parent's where torch itself has the class.
    """
    where = whole_modules([name for name, _ in model.named_parameters()], bad)
    modules, causes = dict(model.named_modules(remove_duplicate=False)), {}
    for name in bad:
        whole = where[name] != name and where[name] in modules and not _is_leaf(modules[where[name]])
        cause = (folded(where[name]),) if whole else (_maker(modules, name), bad[name] if _is_word(bad[name]) else "")
        causes.setdefault(cause, []).append(name)
    return [_group(modules, names, where[names[0]] if len(cause) == 1 else None) for cause, names in causes.items()]


def _group(modules: Mapping[str, nn.Module], names: list[str], module: str | None) -> Group:
    first = names[0]
    if module is not None:
        return Group(f"{folded(module)}.*".lstrip("."), {"module": module} if module else {}, names)
    alike = [name for name in names if folded(name) == folded(first)]
    return Group(folded(first) if len(alike) > 1 else first, place_of(modules, first), names)


def place_of(modules: Mapping[str, nn.Module], name: str) -> dict[str, Any]:
    """Where to edit for a tensor, as in ``Fault.at``: its own line, or that of its module if that is from elsewhere.

    A layer that another file defines is right for all others that use it.
    """
    owner = name.rpartition(".")[0]
    if not owner or not _is_leaf(modules[owner]):
        return {"tensor": name}
    same = type(modules[owner]).__module__ == _maker(modules, name).__module__
    return {"tensor": name} if same else {"module": owner}


def _is_word(value: object) -> bool:
    return isinstance(value, str) and value.isidentifier()


def _is_leaf(module: nn.Module) -> bool:
    return next(module.children(), None) is None


def _maker(modules: Mapping[str, nn.Module], name: str) -> type:
    """The class whose code creates a tensor, as far as names tell."""
    owner = name.rpartition(".")[0]
    while owner and (type(modules[owner]).__module__.startswith("torch.") or _is_leaf(modules[owner])):
        owner = owner.rpartition(".")[0]
    return type(modules[owner])


def whole_modules(names: Iterable[str], bad: Mapping[str, object]) -> dict[str, str]:
    """Say for every bad name the outermost module of which all ``names`` are bad; the name itself if there is none.

    The empty module name is the model. A module with one tensor is no more than that tensor.
    """
    inside: dict[str, list[str]] = {}
    for name in names:
        parts = name.split(".")
        for depth in range(len(parts)):
            inside.setdefault(".".join(parts[:depth]), []).append(name)
    lost = {module for module, those in inside.items() if len(those) > 1 and all(name in bad for name in those)}
    found = {}
    for name in bad:
        parts = name.split(".")
        modules = (".".join(parts[:depth]) for depth in range(len(parts)))
        found[name] = next((module for module in modules if module in lost), name)
    return found
