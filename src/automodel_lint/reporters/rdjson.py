"""reviewdog's diagnostic format: comments on a review, on whatever code host reviewdog knows."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from automodel_lint.findings import Edit, Finding, Severity, Span
from automodel_lint.fixes.shapes import safety
from automodel_lint.pages import SITE, pages
from automodel_lint.report import Report
from automodel_lint.reporters.columns import UTF_8, Columns
from automodel_lint.reporters.json import as_text
from automodel_lint.reporters.repository import Repository
from automodel_lint.source import decoded

MOST_LINES = 30  # of a suggestion that also holds what stays between two edits
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def render(report: Report, verbose: bool = False, quiet: bool = False) -> str:
    """Return the report as JSON text."""
    return as_text(as_data(report))


def as_data(report: Report) -> dict[str, Any]:
    """Return the report as plain data.

    Only safe repairs are suggested: a suggestion has no room for a warning. It is a single edit, since readers take
    several suggestions for a choice.
    """
    repository = Repository.of(report)
    columns = Columns(report, UTF_8)
    return {
        "source": {"name": "automodel-lint", "url": SITE},
        "diagnostics": [_diagnostic(report, repository, columns, finding) for finding in report.edited()],
    }


def _diagnostic(report: Report, repository: Repository, columns: Columns, finding: Finding) -> dict[str, Any]:
    path = repository.path(finding.path)
    severity = Severity.ERROR if finding.severity is None else finding.severity
    edit = _whole(report, finding) if safety(finding) == "safe" else None
    suggestions = [] if edit is None else [{"range": _range(columns, finding, edit.span), "text": edit.text}]
    return {
        "message": finding.message,
        "location": {"path": path, "range": _range(columns, finding, finding.span)},
        "severity": severity.name,
        "code": {"value": finding.code, "url": pages()[finding.code].url},
        **({"suggestions": suggestions} if suggestions else {}),
        "original_output": f"{path}:{finding.span.line}:{finding.span.column}: {finding.code} {finding.message}",
    }


def _range(columns: Columns, finding: Finding, span: Span) -> dict[str, Any]:
    places = {"start": (span.line, span.column), "end": (span.end_line, span.end_column)}
    return {
        name: {"line": line, "column": columns.of(finding.path, line, column)}
        for name, (line, column) in places.items()
    }


def _whole(report: Report, finding: Finding) -> Edit | None:
    """The edits of a finding as one that also writes what stays between them; ``None`` if that is much."""
    edits = finding.edits or ()
    if not edits or edits[-1].span.end_line - edits[0].span.line >= MOST_LINES:
        return None
    lines = _LINE.findall(decoded(report.tree.read(report.tree.absolute(finding.path)) or b""))
    text = edits[0].text
    for last, edit in pairwise(edits):
        kept = Span(last.span.end_line, last.span.end_column, edit.span.line, edit.span.column)
        text += _text_at(lines, kept) + edit.text
    first, last = edits[0].span, edits[-1].span
    return Edit(Span(first.line, first.column, last.end_line, last.end_column), text)


def _text_at(lines: list[str], span: Span) -> str:
    touched = lines[span.line - 1 : span.end_line]
    if span.line == span.end_line:
        return "".join(touched)[span.column - 1 : span.end_column - 1]
    rest = lines[span.end_line - 1][: span.end_column - 1] if span.end_line <= len(lines) else ""
    return touched[0][span.column - 1 :] + "".join(lines[span.line : span.end_line - 1]) + rest
