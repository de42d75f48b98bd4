"""Steps that need nothing but the text."""

from __future__ import annotations

import ast

from automodel_lint.fixes.draft import Change, Draft


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


def decorate(draft: Draft, line: int, column: int, text: str) -> list[Change]:
    """Write a decorator directly above a class or function."""
    node = draft.statement(line, column, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
    start = draft.node_offset(node)
    return [Change(start, start, f"@{text}{draft.newline}{draft.indent_at(start)}")]
