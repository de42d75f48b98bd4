"""What a file says outside its functions and classes: what it imports and binds when it is run, not where.

Who only wants to know that (:meth:`SourceTree.outlining`) is not asked again when somebody edits a method.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def outline(lines: list[str], module: ast.Module) -> str:
    """Return the text of a module's statements, with only the name of each function and class in place of its text."""
    return "\n".join(_parts(lines, module.body))


def _parts(lines: list[str], body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, _DEFINITIONS):
            yield f"{type(statement).__name__} {statement.name}"
            continue
        start = statement.lineno
        for definition in _definitions_in(statement):
            first = min(node.lineno for node in (definition, *definition.decorator_list))
            yield from lines[start - 1 : first - 1]
            yield f"{type(definition).__name__} {definition.name}"
            start = (definition.end_lineno or first) + 1
        yield from lines[start - 1 : statement.end_lineno]


def _definitions_in(statement: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Yield the definitions in the blocks of a compound statement, in order."""
    for name in _BLOCKS:
        for child in getattr(statement, name, ()) if not isinstance(statement, ast.Expr) else ():
            if isinstance(child, _DEFINITIONS):
                yield child
            else:
                yield from _definitions_in(child)
