"""A package that imports on demand: the table behind its ``__getattr__``, and how that writes one more entry."""

from __future__ import annotations

import ast
from collections.abc import Callable

from automodel_lint.inference.names import Module, Names

# How a table can name a module of its package: relative, by itself, in full.
_FORMS: tuple[Callable[[str, str], str], ...] = (
    lambda package, module: module[len(package) :],
    lambda package, module: module[len(package) + 1 :],
    lambda package, module: module,
)


def has_table(package: Module) -> bool:
    """Tell whether a package serves names on demand from a table."""
    return bool(package.bindings.live("__getattr__")) and bool(_tables(package))


def _tables(package: Module) -> list[ast.Dict]:
    """The dicts of texts at module level whose keys are names of classes, among others."""
    values = [b.node for name in package.bindings.names for b in package.bindings.live(name) if not b.conditional]
    return [v for v in values if isinstance(v, ast.Dict) and any(k[:1].isupper() for k, _ in _entries(v))]


def _entries(table: ast.Dict) -> list[tuple[str, str]]:
    """The entries of a dict of texts; empty if it holds anything else."""
    pairs = [
        (key.value, value.value)
        for key, value in zip(table.keys, table.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(value, ast.Constant)
    ]
    texts = [(k, v) for k, v in pairs if isinstance(k, str) and isinstance(v, str)]
    return texts if len(texts) == len(table.keys) else []


def entry_of(names: Names, package: Module, source: Module) -> tuple[ast.Dict, str] | None:
    """Return the table of a package and what it would hold for a name of ``source``.

    ``None`` unless there is one table and all of its entries are written in one form, each leading to a module that
    binds the name.
    """
    tables = _tables(package)
    if len(tables) != 1 or not source.name.startswith(f"{package.name}."):
        return None
    for form in _FORMS:
        if all(_leads_there(names, package, name, module, form) for name, module in _entries(tables[0])):
            return tables[0], form(package.name, source.name)
    return None


def _leads_there(names: Names, package: Module, name: str, text: str, form: Callable[[str, str], str]) -> bool:
    for full in (package.name + text, f"{package.name}.{text}", text):
        module = (
            names.module(full) if full.startswith(f"{package.name}.") and form(package.name, full) == text else None
        )
        if module is not None and names.in_module(module, name) is not None:
            return True
    return False
