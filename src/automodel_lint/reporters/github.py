"""Workflow commands of GitHub Actions, which become annotations on the lines of a pull request."""

from __future__ import annotations

import os
from typing import Any

from automodel_lint.findings import Finding, Severity
from automodel_lint.pages import pages
from automodel_lint.report import Report
from automodel_lint.reporters import job_summary
from automodel_lint.reporters.repository import Repository
from automodel_lint.reporters.workflow import command

MOST_OF_A_KIND = 10  # GitHub drops the rest of a step's
_KINDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report, verbose: bool = False, quiet: bool = False) -> str:
    """Return the commands, the most severe first, and a line that says how many GitHub would not show."""
    repository = Repository.of(report)
    lines, left_out = [], []
    for severity, kind in _KINDS.items():
        findings = [f for f in report.findings if (Severity.ERROR if f.severity is None else f.severity) == severity]
        lines += [_command(kind, finding, repository) for finding in findings[:MOST_OF_A_KIND]]
        more = len(findings) - MOST_OF_A_KIND
        if more > 0:
            left_out.append(f"{more} more {kind}{'s' * (more > 1)}")
    if left_out:
        where = "; see the job summary" if os.environ.get(job_summary.VARIABLE) else ""
        lines.append(f"{' and '.join(left_out)} without annotation: GitHub takes ten of a kind from a step{where}\n")
    return "".join(lines)


def _command(kind: str, finding: Finding, repository: Repository) -> str:
    span, path = finding.span, repository.path(finding.path)
    place: dict[str, Any] = {"file": path, "line": span.line, "endLine": span.end_line}
    if span.line == span.end_line:
        place |= {"col": span.column, "endColumn": max(span.end_column, span.column)}
    message = finding.message
    if os.path.isabs(path):  # no file of the repository, so no line of it to stand on
        place, message = {}, f"{path}:{span.line}: {message}"
    return command(kind, {**place, "title": f"{finding.code} {pages()[finding.code].name}"}, message)
