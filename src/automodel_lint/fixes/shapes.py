"""Edits in the forms that others want: the JSON of a report, unified hunks."""

from __future__ import annotations

import difflib
from typing import Any

from automodel_lint.findings import Finding
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


def unified(path: str, old: str, new: str) -> str:
    """Return what makes one text another as a unified diff; empty if nothing does."""
    before, after = (text.splitlines(keepends=True) for text in (old, new))
    lines = []
    for line in difflib.unified_diff(before, after, f"a/{path}", f"b/{path}"):
        lines.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(lines)
