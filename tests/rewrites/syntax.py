"""What the rewrites of the syntax tree have in common."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

from . import Rewrite, Source, each_file


def by_syntax(name: str, change: Callable[[ast.Module], None], keeps_symbols: bool = True) -> Rewrite:
    """A rewrite of the syntax tree; looks play no part here."""

    def apply(source: Source) -> str:
        tree = copy.deepcopy(source.tree)
        change(tree)
        after = ast.unparse(ast.fix_missing_locations(tree))
        return source.text if after == ast.unparse(source.tree) else after + "\n"

    return Rewrite(name, each_file(name, apply).apply, keeps_symbols=keeps_symbols)


def blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Every list of statements inside functions."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                for field in ("body", "orelse", "finalbody"):
                    block = getattr(node, field, None)
                    if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                        yield block


def constructors(tree: ast.Module) -> Iterator[tuple[ast.ClassDef, ast.FunctionDef]]:
    """Every ``__init__`` with its class."""
    for cls in ast.walk(tree):
        if isinstance(cls, ast.ClassDef):
            for statement in cls.body:
                if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
                    yield cls, statement


def parse(text: str) -> list[ast.stmt]:
    """The statements of a text."""
    return ast.parse(text).body


def add_import(tree: ast.Module, text: str) -> None:
    """Put an import behind those that are there."""
    tree.body[behind_imports(tree) : behind_imports(tree)] = parse(text)


def behind_imports(tree: ast.Module) -> int:
    """Where, as an index, statements that need the imports can stand."""
    found = 0
    for index, statement in enumerate(tree.body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            found = index + 1
        elif not isinstance(statement, ast.Expr):
            break
    return found
