"""What the transformers at hand knows by itself, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.inference.names import ClassEntity, Names

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


def config_of_architecture(names: Names, architectures: tuple[str, ...]) -> ClassEntity | None:
    """Return the config class of an architecture that the transformers at hand has itself; ``None`` for all others."""
    module = names.module("transformers.models.auto.modeling_auto")
    types = {k for k, v in _texts(module.syntax) if v in architectures} if module and architectures else set()
    for name in _MAPPING_MODULES if types else ():
        table = names.module(f"transformers.models.auto.{name}")
        for model_type, config in _texts(table.syntax) if table else ():
            entities = names.from_module("transformers", config) if model_type in types else ()
            for entity in entities:
                if isinstance(entity, ClassEntity):
                    return entity
    return None


def config_of_model_type(names: Names, model_type: str) -> ClassEntity | None:
    """Return the config class that the transformers at hand has for a ``model_type``; ``None`` if it has none."""
    for name in _MAPPING_MODULES:
        table = names.module(f"transformers.models.auto.{name}")
        for known, config in _texts(table.syntax) if table else ():
            for entity in names.from_module("transformers", config) if known == model_type else ():
                if isinstance(entity, ClassEntity):
                    return entity
    return None


def _texts(syntax: ast.Module) -> Iterator[tuple[str, str]]:
    """The pairs of texts in the tables of a module."""
    for statement in syntax.body:
        if isinstance(statement, ast.Assign):
            for node in ast.walk(statement.value):
                if isinstance(node, ast.Tuple) and len(node.elts) == 2:
                    words = [e.value for e in node.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
                    if len(words) == 2:
                        yield words[0], words[1]
