"""Syntax trees as the yardstick: where their nodes stand, what they mean, and what of them must stay as it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


class Places:
    """Where nodes of a text stand, in characters; told without the engine."""

    def __init__(self, text: str):
        self.text = text
        self.lines = _LINE.findall(text)

    def _column(self, line: int, column: int) -> int:
        return len(self.lines[line - 1].encode()[:column].decode())

    def start(self, node: Any) -> tuple[int, int]:
        """Line and column from 1."""
        return node.lineno, self._column(node.lineno, node.col_offset) + 1

    def end(self, node: Any) -> tuple[int, int]:
        """Line and column from 1 of what is behind a node."""
        return node.end_lineno, self._column(node.end_lineno, node.end_col_offset) + 1

    def segment(self, node: Any) -> str:
        """The text of a node."""
        first, last = (
            sum(map(len, self.lines[: line - 1])) + column - 1 for line, column in (self.start(node), self.end(node))
        )
        return self.text[first:last]


def blocks(tree: ast.AST) -> Iterator[tuple[ast.AST, list[ast.stmt]]]:
    """Every list of statements with the node that has it."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            if isinstance(getattr(node, field, None), list) and not isinstance(node, ast.Lambda):
                yield node, getattr(node, field)


def block_of(tree: ast.AST, statement: ast.stmt) -> tuple[list[ast.stmt], int]:
    """The list that has a statement, and the place in it."""
    for _, body in blocks(tree):
        for index, entry in enumerate(body):
            if entry is statement:
                return body, index
    raise AssertionError("no block has it")


def new(text: str) -> list[Any]:
    """Statements that were not there; they are marked."""
    body = ast.parse(text).body
    for statement in body:
        for node in ast.walk(statement):
            node.made = True  # type: ignore[attr-defined]
    return body


def expression(text: str) -> Any:
    """An expression that was not there; marked."""
    return new(text)[0].value


def has_docstring(node: Any) -> bool:
    """Whether a body begins with a docstring."""
    return ast.get_docstring(node, clean=False) is not None


def is_text(statement: ast.stmt) -> bool:
    """A text that stands alone, such as a docstring."""
    return isinstance(statement, ast.Expr) and isinstance(getattr(statement.value, "value", None), str)


def is_filler(statement: ast.stmt) -> bool:
    """``pass`` or ``...``."""
    is_dots = isinstance(statement, ast.Expr) and getattr(statement.value, "value", None) is Ellipsis
    return isinstance(statement, ast.Pass) or is_dots


def normal(tree: ast.Module) -> ast.Module:
    """A tree without fillers, and with the names of an import in order: what differs only there means the same."""
    for _, body in blocks(tree):
        body[:] = [s for s in body if not is_filler(s)]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            node.names.sort(key=lambda alias: (alias.name, alias.asname or ""))
    return tree


def assert_same(expected: ast.Module, found: ast.Module) -> None:
    """Fail with the statement that differs."""
    if ast.dump(expected) != ast.dump(found):
        assert ast.unparse(ast.fix_missing_locations(expected)).splitlines() == ast.unparse(found).splitlines()
        assert ast.dump(expected) == ast.dump(found)


def untouched(expected: ast.Module, found: ast.Module) -> Iterator[tuple[Any, Any]]:
    """The simple statements, and decorators, that the step is not about, side by side: their text must be the same."""
    for one, other in zip(ast.walk(expected), ast.walk(found), strict=True):
        is_simple = isinstance(one, ast.stmt) and not hasattr(one, "body") and not isinstance(one, ast.Match)
        if is_simple and not any(hasattr(n, "made") or hasattr(n, "changed") for n in ast.walk(one)):
            yield one, other
