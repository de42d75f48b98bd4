"""Rewrites of source text that keep its meaning: what is linted afterwards must give the same findings.

A rewrite takes the files of a checkout by path and returns them changed. It works on the text, guided by the syntax
tree, so that everything it does not touch stays as an author wrote it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

Files = dict[str, str]


@dataclass(frozen=True)
class Rewrite:
    """One rewrite; ``apply`` gets all files of a checkout and the paths that it may change.

    ``keeps_paths`` is false where it moves findings into another file, ``keeps_symbols`` where into another function
    or class.
    """

    name: str
    apply: Callable[[Files, list[str]], Files]
    keeps_paths: bool = True
    keeps_symbols: bool = True


def each_file(name: str, change: Callable[[Source], str]) -> Rewrite:
    """A rewrite that needs to know only the file it changes."""

    def apply(files: Files, paths: list[str]) -> Files:
        return {path: change(Source(text)) if path in paths else text for path, text in files.items()}

    return Rewrite(name, apply)


@cache
def parsed(text: str) -> ast.Module:
    """The syntax tree of a text; nobody changes it, and most texts are asked for by every rewrite."""
    return ast.parse(text)


def in_turn(known: list[Rewrite], *names: str) -> Rewrite:
    """Several rewrites, one on top of the other."""
    steps = [next(r for r in known if r.name == name) for name in names]

    def apply(files: Files, paths: list[str]) -> Files:
        for step in steps:
            files = step.apply(files, paths)
        return files

    keeps_paths, keeps_symbols = (
        all(kept) for kept in zip(*((s.keeps_paths, s.keeps_symbols) for s in steps), strict=True)
    )
    return Rewrite("+".join(names), apply, keeps_paths, keeps_symbols)


class Source:
    """A file's text with its syntax tree, and edits by node."""

    def __init__(self, text: str):
        self.text = text
        self.tree = parsed(text)
        self._data = text.encode()
        self._starts = [0]
        for line in self._data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._edits: list[tuple[int, int, str]] = []

    # -- places ---------------------------------------------------------------------------------------------------

    def start(self, node: ast.AST) -> int:
        """Where a node starts, in bytes."""
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.AST) -> int:
        """Where a node ends, in bytes."""
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def line_start(self, line: int) -> int:
        """Where a line (from 1) starts, in bytes."""
        return self._starts[line - 1]

    def segment(self, node: ast.AST) -> str:
        """The text of a node."""
        return self._data[self.start(node) : self.end(node)].decode()

    def block(self, first: int, last: int) -> str:
        """The text of the lines ``first`` to ``last``, whole."""
        return self._data[self._starts[first - 1] : self._starts[last]].decode()

    def leads_its_line(self, statement: ast.stmt) -> bool:
        """Whether nothing but blanks stands before a statement (or its first decorator) on its line."""
        line = first_line(statement)
        column = statement.col_offset
        return not self._data[self._starts[line - 1] : self._starts[line - 1] + column].strip()

    # -- edits ----------------------------------------------------------------------------------------------------

    def replace(self, node: ast.AST, text: str) -> None:
        """Put another text in a node's place."""
        self._edits.append((self.start(node), self.end(node), text))

    def cut(self, start: int, end: int, text: str = "") -> None:
        """Put another text in the place of a stretch of bytes."""
        self._edits.append((start, end, text))

    def insert(self, at: int, text: str) -> None:
        """Put a text in."""
        self._edits.append((at, at, text))

    def edited(self) -> str:
        """The text after all edits; of edits that overlap only the outermost counts, which here is the first."""
        result, position = [], 0
        for start, end, text in sorted(self._edits, key=lambda e: (e[0], -e[1] if e[1] > e[0] else -e[0])):
            if start < position:
                continue
            result += [self._data[position:start], text.encode()]
            position = end
        return b"".join([*result, self._data[position:]]).decode()


def first_line(statement: ast.stmt) -> int:
    """The line a statement starts on, decorators included."""
    decorators = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(d.lineno for d in decorators)])


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions and methods, wherever they stand."""
    return (n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)))


def classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    """The classes of a module, in branches too."""
    todo: list[ast.stmt] = list(tree.body)
    while todo:
        statement = todo.pop(0)
        if isinstance(statement, ast.ClassDef):
            yield statement
        elif isinstance(statement, (ast.If, ast.Try, ast.With)):
            todo += [s for s in ast.iter_child_nodes(statement) if isinstance(s, ast.stmt)]


def body_after_docstring(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Module) -> list[ast.stmt]:
    """The statements of a body behind its docstring."""
    first = node.body[0]
    has_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return node.body[1:] if has_docstring and isinstance(first.value.value, str) else node.body


def after_imports(source: Source) -> int:
    """Where, in bytes, new top-level statements can stand: behind the leading docstring and imports."""
    position = 0
    for statement in source.tree.body:
        is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not is_docstring and not isinstance(statement, (ast.Import, ast.ImportFrom)):
            break
        position = source.line_start((statement.end_lineno or 0) + 1)
    return position


def module_name(path: str) -> str:
    """The dotted name of a file of the checkout."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
