"""Steps that need no more than the text and where its statements are."""

from __future__ import annotations

import ast

from automodel_lint.fixes.draft import Change, Draft, NotEditable


def replace_text(draft: Draft, line: int, column: int, end_line: int, end_column: int, text: str) -> list[Change]:
    """Put a text in place of another."""
    return [Change(draft.offset(line, column), draft.offset(end_line, end_column), text)]


def remove_comment(draft: Draft, line: int, column: int, end_line: int, end_column: int) -> list[Change]:
    """Take out a comment and the blanks in front of it, or the line that holds nothing else."""
    start, end = draft.offset(line, column), draft.offset(end_line, end_column)
    if draft.begins_line(start) and end == draft.line_end(end):
        return [Change(draft.line_start(start), draft.next_line(end), "")]
    bare = draft.text[:start].rstrip(" \t")
    return [Change(len(bare), end, "")]


def append_line(draft: Draft, text: str) -> list[Change]:
    """Write a statement at the end of the module, two blank lines below what is there."""
    body = draft.text.rstrip()
    end = draft.line_end(len(body))
    have = draft.text[end:].count(draft.newline)
    gap = draft.newline * (3 - min(have, 3)) if body else ""
    return [Change(len(draft.text), len(draft.text), gap + draft.laid_out(text) + draft.newline)]


def append_in_block(draft: Draft, line: int, column: int, text: str) -> list[Change]:
    """Write a statement at the end of the block that another stands in: below its last statement."""
    node = draft.statement(line, column)
    blocks = [b for n in ast.walk(draft.syntax) for b in vars(n).values() if isinstance(b, list) and node in b]
    first, last = blocks[0][0], blocks[0][-1]
    if last in draft.syntax.body:
        return append_line(draft, text)
    start = draft.node_offset(first)
    if not draft.begins_line(start) or draft.text.startswith("elif", start):
        raise NotEditable("the block stands in the line of its header")
    end = draft.logical_end(draft.node_end(last))
    gap = draft.newline * (2 if hasattr(last, "body") else 1)
    return [Change(end, end, gap + draft.laid_out(text, draft.indent_at(start)))]


def decorate(draft: Draft, line: int, column: int, text: str) -> list[Change]:
    """Write a decorator directly above a class or function."""
    node = draft.statement(line, column, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
    start = draft.node_offset(node)
    return [Change(start, start, f"@{text}{draft.newline}{draft.indent_at(start)}")]


def statement_below(draft: Draft, line: int, column: int, text: str) -> list[Change]:
    """Write statements directly below a simple one; a comment that trails it stays with it."""
    start, end = _simple(draft, line, column)
    if not _has_its_lines(draft, start, end):
        raise NotEditable("the statement shares its line")
    end = draft.line_end(end)
    return [Change(end, end, draft.newline + draft.laid_out(text, draft.indent_at(start)))]


def replace_statement(draft: Draft, line: int, column: int, text: str) -> list[Change]:
    """Write statements in place of a simple one; a comment that trails it trails the last of them."""
    start, end = _simple(draft, line, column)
    if "\n" in text and not _has_its_lines(draft, start, end):
        raise NotEditable("the statement shares its line")
    indent = draft.indent_at(start)
    return [Change(start, end, draft.laid_out(text, indent)[len(indent) :])]


def _simple(draft: Draft, line: int, column: int) -> tuple[int, int]:
    """Return where a simple statement begins and ends."""
    node = draft.statement(line, column)
    if hasattr(node, "body"):
        raise NotEditable("only a simple statement has its place in a line")
    return draft.node_offset(node), draft.node_end(node)


def _has_its_lines(draft: Draft, start: int, end: int) -> bool:
    """Whether nothing but blanks and a comment stands beside a stretch of text in its lines."""
    behind = draft.text[end : draft.line_end(end)].strip(" \t\f")
    return draft.begins_line(start) and (not behind or behind.startswith("#"))
