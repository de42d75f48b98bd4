"""Imports: joined to the one that the file has from the module, else put where the order of the file has them."""

from __future__ import annotations

import ast
import sys
from bisect import bisect_left
from itertools import takewhile

from automodel_lint.fixes.brackets import WIDEST, Bracketed, added, bracketed, put_before
from automodel_lint.fixes.draft import Change, Draft

_FUTURE, _STDLIB, _THIRD, _FIRST, _LOCAL = range(5)
Import = ast.Import | ast.ImportFrom


def import_name(draft: Draft, module: str, name: str, package: str = "") -> list[Change]:
    """See that a name of a module is imported; ``package`` is what relative imports of the file start from."""
    here = _ahead(draft.syntax)
    if not name and any(
        a.name == module and a.asname is None for s in here if isinstance(s, ast.Import) for a in s.names
    ):
        return []
    same = [s for s in here if name and isinstance(s, ast.ImportFrom) and _absolute(s, package) == module]
    if any(alias.name == name and alias.asname in (None, name) for s in same for alias in s.names):
        return []
    for statement in same:
        if statement.names[0].name != "*" and not all(alias.asname for alias in statement.names):
            return _joined(draft, statement, name)
    target = _in_style(here, module, package) if name else module
    text = import_text(target, name) if name else f"import {module}"
    return _placed(draft, here, text, target, package, plain=not name)


def import_text(module: str, name: str) -> str:
    """Return the statement that imports a name of a module, in brackets where it is long."""
    text = f"from {module} import {name}"
    return text if len(text) <= WIDEST else f"from {module} import (\n    {name},\n)"


def _ahead(tree: ast.Module) -> list[Import]:
    """The imports of a module in front of whatever it defines, which may need them."""
    definitions = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    ahead = takewhile(lambda s: not isinstance(s, definitions), tree.body)
    return [s for s in ahead if isinstance(s, (ast.Import, ast.ImportFrom))]


def _absolute(statement: ast.ImportFrom, package: str) -> str:
    if not statement.level:
        return statement.module or ""
    parts = package.split(".") if package else []
    if statement.level > len(parts):
        return ""
    return ".".join(p for p in (*parts[: len(parts) - statement.level + 1], statement.module) if p)


def _in_style(here: list[Import], module: str, package: str) -> str:
    """Return the module as the file would name it: relative, where all imports of its own package are."""
    top = package.partition(".")[0]
    relative = [s for s in here if isinstance(s, ast.ImportFrom) and s.level]
    absolute = [s for s in here if _top(s) == top]
    if not package or module.partition(".")[0] != top or not relative or absolute:
        return module
    ours, theirs = package.split("."), module.split(".")
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False)))
    return "." * (len(ours) - shared + 1) + ".".join(theirs[shared:])


# -- joining --------------------------------------------------------------------------------------------------------


def _joined(draft: Draft, statement: Import, name: str) -> list[Change]:
    """Put a name among those that a statement imports already."""
    names = [alias.name for alias in statement.names]
    index = bisect_left([order_of(n) for n in names], order_of(name)) if _is_sorted(names) else len(names)
    brackets = _brackets(draft, statement)
    if brackets is not None:
        at_end = index >= len(brackets.slots)
        return added(draft, brackets, name) if at_end else put_before(draft, brackets, name, index)
    places = [draft.node_offset(alias) for alias in statement.names]
    end = draft.node_end(statement.names[-1])
    text = draft.text[places[0] : end]
    width = draft.line_end(end) - draft.line_start(places[0]) + len(name) + 2
    if width > WIDEST and "\\" not in text and draft.line_end(end) == end:
        words = [draft.text[p : draft.node_end(a)] for p, a in zip(places, statement.names, strict=True)]
        words.insert(index, name)
        lines = "".join(f"{draft.indent}{word},{draft.newline}" for word in words)
        return [Change(places[0], end, f"({draft.newline}{lines})")]
    if index < len(places):
        return [Change(places[index], places[index], f"{name}, ")]
    return [Change(end, end, f", {name}")]


def _brackets(draft: Draft, statement: Import) -> Bracketed | None:
    first = draft.node_offset(statement.names[0])
    tokens = draft.code_tokens
    before = tokens[bisect_left(tokens, first, key=lambda t: t.start) - 1]
    return bracketed(draft, before.start) if before.string == "(" else None


def order_of(name: str) -> tuple[int, str, str]:
    """Return what names are sorted by, as isort does: constants, classes, the rest."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name.lower(), name


def _is_sorted(names: list[str]) -> bool:
    keys = [order_of(name) for name in names]
    return keys == sorted(keys)


# -- placing --------------------------------------------------------------------------------------------------------


def _placed(draft: Draft, here: list[Import], text: str, target: str, package: str, plain: bool) -> list[Change]:
    """Write an import where it belongs: in its section, in order if that is, with a blank line between sections."""
    block = _first_block(draft)
    section = _section(target, package)
    ours = [s for s in block if _section_of(s, package) == section]
    text = draft.laid_out(text)
    if ours:
        before = [s for s in ours if _key(s) < (not plain, target.lower())]
        ordered = [_key(s) for s in ours] == sorted(_key(s) for s in ours)
        if ordered and not before:
            return [_above(draft, ours[0], text, apart=False)]
        return [_below(draft, before[-1] if ordered else ours[-1], text, apart=False)]
    lower = [s for s in block if _section_of(s, package) < section]
    if lower:
        return [_below(draft, lower[-1], text, apart=True)]
    if block:
        return [_above(draft, block[0], text, apart=True)]
    return [_on_top(draft, text)]


def _first_block(draft: Draft) -> list[Import]:
    """The imports that the module begins with, up to the first other statement."""
    body = draft.syntax.body
    start = 1 if body and ast.get_docstring(draft.syntax, clean=False) is not None else 0
    return [s for s in takewhile(lambda s: isinstance(s, (ast.Import, ast.ImportFrom)), body[start:])]  # type: ignore[misc]


def _top(statement: Import) -> str:
    name = statement.names[0].name if isinstance(statement, ast.Import) else statement.module or ""
    return "" if getattr(statement, "level", 0) else name.partition(".")[0]


def _section(target: str, package: str) -> int:
    top = target.partition(".")[0]
    if not top:
        return _LOCAL
    if top == "__future__":
        return _FUTURE
    if top in sys.stdlib_module_names:
        return _STDLIB
    return _FIRST if top == package.partition(".")[0] else _THIRD


def _section_of(statement: Import, package: str) -> int:
    return _LOCAL if getattr(statement, "level", 0) else _section(_top(statement), package)


def _key(statement: Import) -> tuple[bool, str]:
    """Plain imports come before ``from`` imports, each by the module's name."""
    if isinstance(statement, ast.Import):
        return False, statement.names[0].name.lower()
    return True, ("." * statement.level + (statement.module or "")).lower()


def _start(draft: Draft, statement: ast.stmt) -> int:
    """Where a statement begins, with its decorators."""
    first = min((statement, *getattr(statement, "decorator_list", ())), key=lambda node: node.lineno)
    start = draft.node_offset(first)
    return start if first is statement else draft.text.rindex("@", 0, start)


def _below(draft: Draft, statement: ast.stmt, text: str, apart: bool) -> Change:
    end = draft.logical_end(draft.node_end(statement))
    return Change(end, end, draft.newline * (2 if apart else 1) + text)


def _above(draft: Draft, statement: ast.stmt, text: str, apart: bool) -> Change:
    start = _start(draft, statement)
    if not draft.begins_line(start):  # behind a docstring in its line
        return _below(draft, statement, text, apart)
    start = draft.line_start(start)
    return Change(start, start, text + draft.newline * (2 if apart else 1))


def _on_top(draft: Draft, text: str) -> Change:
    """The first import of a file: below its docstring, else below the comments that it begins with."""
    body = draft.syntax.body
    if body and ast.get_docstring(draft.syntax, clean=False) is not None:
        end = draft.logical_end(draft.node_end(body[0]))
        return Change(end, end, draft.newline * 2 + text + (draft.newline if end == len(draft.text) else ""))
    start = draft.line_start(_start(draft, body[0])) if body else len(draft.text)
    gap = draft.newline if not draft.text or draft.text.endswith(("\n", "\r")) or start < len(draft.text) else ""
    lead = "" if gap or not draft.text else draft.newline
    return Change(start, start, lead + text + draft.newline * (2 if body else 1))
