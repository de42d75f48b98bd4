"""What the transformers at hand knows by itself, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.inference.names import Names

_MAPPING_MODULES = ("auto_mappings", "configuration_auto")
_MAPPING = "CONFIG_MAPPING_NAMES"


def builtin_model_types(names: Names) -> set[str] | None:
    """Return the ``model_type`` texts that the transformers at hand knows by itself; ``None`` if there is none."""
    found: set[str] = set()
    for name in _MAPPING_MODULES:
        module = names.module(f"transformers.models.auto.{name}")
        for statement in module.syntax.body if module else ():
            if any(isinstance(n, ast.Name) and n.id == _MAPPING for n in _around(statement)):
                found |= set(_keys(statement))
    return found or None


def _around(statement: ast.stmt) -> Iterator[ast.AST]:
    """The names that an assignment, or a call such as ``X.update(…)``, is about: not what is in its table."""
    if isinstance(statement, ast.Assign):
        yield from statement.targets
    elif isinstance(statement, ast.AnnAssign):
        yield statement.target
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        yield from ast.walk(statement.value.func)


def _keys(statement: ast.stmt) -> Iterator[object]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Tuple) and len(node.elts) == 2 and isinstance(node.elts[0], ast.Constant):
            yield node.elts[0].value
        elif isinstance(node, ast.Dict):
            yield from (k.value for k in node.keys if isinstance(k, ast.Constant))
