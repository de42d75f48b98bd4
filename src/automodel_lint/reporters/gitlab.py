"""GitLab's Code Quality report: what a merge request shows beside its changes."""

from __future__ import annotations

from typing import Any

from automodel_lint.findings import Severity
from automodel_lint.report import Report
from automodel_lint.reporters.json import as_text
from automodel_lint.reporters.repository import Repository
from automodel_lint.source import digest

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: Report, verbose: bool = False, quiet: bool = False) -> str:
    """Return the report as JSON text: a list, empty without findings."""
    return as_text(as_data(report))


def as_data(report: Report) -> list[dict[str, Any]]:
    """Return the report as plain data."""
    repository = Repository.of(report)
    seen: set[str] = set()
    entries = []
    for finding in report.findings:
        path = repository.path(finding.path)
        fingerprint = finding.fingerprint
        while fingerprint in seen:  # the like of it in another checkout: GitLab shows one of a kind
            fingerprint = digest(f"{path}\0{fingerprint}".encode("utf-8", "surrogateescape"))[:16]
        seen.add(fingerprint)
        entries.append(
            {
                "description": f"{finding.code} {finding.message}",
                "check_name": finding.code,
                "fingerprint": fingerprint,
                "severity": _SEVERITIES[Severity.ERROR if finding.severity is None else finding.severity],
                "location": {"path": path, "lines": {"begin": finding.span.line, "end": finding.span.end_line}},
            }
        )
    return entries
