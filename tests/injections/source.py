"""Places in source text, and edits of it that leave every other byte alone."""

from __future__ import annotations

import ast
from functools import lru_cache

Definition = ast.ClassDef | ast.FunctionDef


@lru_cache(maxsize=256)
def parsed(text: str) -> ast.Module:
    """Return the syntax tree of ``text``."""
    return ast.parse(text)


def class_in(text: str, name: str) -> ast.ClassDef | None:
    """Return the first class of that name; a stand-in for a missing dependency comes behind the real one."""
    found = [n for n in ast.walk(parsed(text)) if isinstance(n, ast.ClassDef) and n.name == name]
    return min(found, key=lambda node: node.lineno, default=None)


def member(node: ast.ClassDef, name: str) -> ast.stmt | None:
    """Return what the body of a class binds to ``name``: a method, a class, or an assignment with a value."""
    for statement in node.body:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef) and statement.name == name:
            return statement
        if isinstance(statement, ast.Assign) and [ast.unparse(t) for t in statement.targets] == [name]:
            return statement
        if isinstance(statement, ast.AnnAssign) and statement.value and ast.unparse(statement.target) == name:
            return statement
    return None


def assigned(text: str, cls: str, name: str) -> ast.Assign | ast.AnnAssign | None:
    """Return the assignment of a class attribute."""
    node = class_in(text, cls)
    found = member(node, name) if node else None
    return found if isinstance(found, ast.Assign | ast.AnnAssign) else None


def method(text: str, cls: str, name: str) -> ast.FunctionDef | None:
    """Return a method from the body of a class."""
    node = class_in(text, cls)
    found = member(node, name) if node else None
    return found if isinstance(found, ast.FunctionDef) else None


def without_docstring(node: Definition) -> list[ast.stmt]:
    """Return the statements of a body behind its docstring."""
    first = node.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return node.body[1:] if documented else node.body


def start(text: str, node: ast.expr | ast.stmt) -> int:
    """Return the index in ``text`` where a node begins."""
    return _index(text, node.lineno, node.col_offset)


def end(text: str, node: ast.expr | ast.stmt) -> int:
    """Return the index in ``text`` behind a node."""
    return _index(text, node.end_lineno or node.lineno, node.end_col_offset or 0)


def _index(text: str, line: int, column: int) -> int:
    """Turn a place of a syntax tree, which counts bytes, into an index."""
    lines = text.split("\n")
    return sum(len(each) + 1 for each in lines[: line - 1]) + len(lines[line - 1].encode()[:column].decode())


def segment(text: str, node: ast.expr | ast.stmt) -> str:
    """Return the text of a node."""
    return text[start(text, node) : end(text, node)]


def swapped(text: str, node: ast.expr | ast.stmt, new: str) -> str:
    """Return ``text`` with ``new`` in place of a node."""
    return text[: start(text, node)] + new + text[end(text, node) :]


def first_line(node: ast.stmt) -> int:
    """Return the line where a statement begins, its decorators included."""
    decorators = node.decorator_list if isinstance(node, ast.ClassDef | ast.FunctionDef) else []
    return min([node.lineno, *(d.lineno for d in decorators)])


def cut(text: str, node: ast.stmt) -> str:
    """Return ``text`` without the lines of a statement; of the blank lines around it one side goes, too."""
    lines = text.split("\n")
    above, below = first_line(node) - 2, node.end_lineno or node.lineno
    del lines[above + 1 : below]
    while above >= 0 and above + 1 < len(lines) and not lines[above] and not lines[above + 1]:
        del lines[above + 1]
        if above + 1 == len(lines):
            break
    return "\n".join(lines)


def put(text: str, node: ast.stmt, code: str, indent: int | None = None) -> str:
    """Return ``text`` with the lines ``code`` in front of a statement, indented as it is."""
    return _inserted(text, first_line(node) - 1, code, node.col_offset if indent is None else indent)


def put_below(text: str, node: ast.stmt, code: str) -> str:
    """Return ``text`` with the lines ``code`` behind a statement, indented as it is."""
    return _inserted(text, node.end_lineno or node.lineno, code, node.col_offset)


def _inserted(text: str, line: int, code: str, indent: int) -> str:
    lines = text.split("\n")
    lines[line:line] = [" " * indent + each if each else "" for each in code.split("\n")]
    return "\n".join(lines)
