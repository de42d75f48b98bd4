"""Edits in the forms that others want: the JSON of a report, the language server protocol, unified hunks."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from automodel_lint.findings import Edit, Finding
from automodel_lint.pages import pages


def safety(finding: Finding) -> str | None:
    """Return ``safe`` or ``unsafe`` for a finding that has a repair, else ``None``."""
    if finding.repair is None:
        return None
    return "unsafe" if finding.repair.unsafe else pages()[finding.code].fix


def as_json(finding: Finding) -> dict[str, Any] | None:
    """Return the repair of a finding as ``docs/findings.schema.json`` has it; ``None`` without edits."""
    if finding.repair is None or finding.edits is None:
        return None
    return {
        "safety": safety(finding),
        "title": finding.repair.title,
        "edits": [
            {
                "line": edit.span.line,
                "column": edit.span.column,
                "end_line": edit.span.end_line,
                "end_column": edit.span.end_column,
                "text": edit.text,
            }
            for edit in finding.edits
        ],
    }


def as_lsp(edits: Iterable[Edit], lines: list[str]) -> list[dict[str, Any]]:
    """Return edits as ``TextEdit`` objects: lines from 0, columns in UTF-16 code units, of a text's ``lines``."""

    def position(line: int, column: int) -> dict[str, int]:
        before = lines[line - 1][: column - 1] if line <= len(lines) else ""
        return {"line": line - 1, "character": len(before.encode("utf-16-le")) // 2}

    return [
        {
            "range": {
                "start": position(edit.span.line, edit.span.column),
                "end": position(edit.span.end_line, edit.span.end_column),
            },
            "newText": edit.text,
        }
        for edit in edits
    ]


def unified(path: str, old: str, new: str) -> str:
    """Return what makes one text another as a unified diff; empty if nothing does."""
    before, after = (text.splitlines(keepends=True) for text in (old, new))
    lines = []
    for line in difflib.unified_diff(before, after, f"a/{path}", f"b/{path}"):
        lines.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(lines)
