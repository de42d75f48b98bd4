"""What a file imports and binds when it is run, not where, nor what it does beside.

Who only wants to know that (:meth:`SourceTree.outlining`) is not asked again when somebody edits a method, a table or a
comment.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def outline(lines: list[str], module: ast.Module) -> str:
    """Return what a module's statements import and bind: of functions and classes the name, of values hardly anything.

    Of a call, the function and the names it is given count (``X = decorate(X)``), and all of it where it imports.
    """
    return "\n".join(_parts(lines, module.body))


def _parts(lines: list[str], body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, _DEFINITIONS):
            yield f"{type(statement).__name__} {statement.name}"
            continue
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)):
            yield _simple(statement)
            continue
        start = statement.lineno
        for definition in _definitions_in(statement):
            first = min(node.lineno for node in (definition, *definition.decorator_list))
            yield from lines[start - 1 : first - 1]
            yield f"{type(definition).__name__} {definition.name}"
            start = (definition.end_lineno or first) + 1
        yield from lines[start - 1 : statement.end_lineno]


def _simple(statement: ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr) -> str:
    """What an assignment binds, or a call does to names."""
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    bound = " ".join(ast.unparse(target) for target in targets if target is not None)
    value = statement.value
    if not isinstance(value, ast.Call):
        return f"{type(statement).__name__} {bound}"
    function = ast.unparse(value.func)
    given = value if "import" in function else [a.id for a in value.args if isinstance(a, ast.Name)]
    return f"{bound} = {function} {ast.unparse(given) if isinstance(given, ast.Call) else given}"


def _definitions_in(statement: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Yield the definitions in the blocks of a compound statement, in order."""
    for name in _BLOCKS:
        for child in getattr(statement, name, ()) if not isinstance(statement, ast.Expr) else ():
            if isinstance(child, _DEFINITIONS):
                yield child
            else:
                yield from _definitions_in(child)
