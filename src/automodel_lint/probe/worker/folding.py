"""Names of tensors, folded: one root cause is one fault, however many layers show it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

INDEX = re.compile(r"(?<=\.)\d+(?=\.|$)|^\d+(?=\.)")


def folded(name: str) -> str:
    """Write ``*`` for every index: ``model.layers.0.gate.weight`` is ``model.layers.*.gate.weight``."""
    return INDEX.sub("*", name)


def by_cause(names: Iterable[str], cause: Callable[[str], object] = folded) -> list[tuple[str, list[str]]]:
    """Group names that have one ``cause``; each group is told by its first name, folded if it has several."""
    groups: dict[object, list[str]] = {}
    for name in names:
        groups.setdefault(cause(name), []).append(name)
    return [(folded(group[0]) if len(group) > 1 else group[0], group) for group in groups.values()]


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
