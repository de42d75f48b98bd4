"""One JSON object; its schema is ``docs/findings.schema.json``."""

from __future__ import annotations

import json
from typing import Any

from automodel_lint import __version__
from automodel_lint.findings import Finding, Severity
from automodel_lint.fixes.shapes import as_json
from automodel_lint.pages import pages
from automodel_lint.report import Report
from automodel_lint.work_tree import work_tree

VERSION = 1


def render(report: Report, verbose: bool = False, quiet: bool = False) -> str:
    """Return the report as JSON text."""
    return as_text(as_data(report))


def as_text(data: Any) -> str:
    """Return data as JSON text in which the runner of a GitHub workflow finds no command, whatever the data say."""
    return json.dumps(data, indent=2).replace("##[", "#\\u0023[") + "\n"


def as_data(report: Report) -> dict[str, Any]:
    """Return the report as plain data."""
    place = work_tree(report.root)
    return {
        "version": VERSION,
        "tool": {"name": "automodel-lint", "version": __version__},
        "root": report.root.replace("\\", "/"),
        "repository": None if place is None else {"commit": place.commit, "prefix": place.prefix},
        "summary": {
            **{f"{severity}s" if severity != "info" else severity: n for severity, n in report.counts().items()},
            "classes": report.classes,
            "files": len(report.files),
            "suppressed": report.suppressed,
            "baselined": report.baselined,
            "seconds": round(report.seconds, 3),
            **({"fixed": report.fixed} if report.fixed else {}),
        },
        "findings": [_finding(f) for f in report.edited()],
        **({} if report.probe is None else {"probe": report.probe}),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    page = pages()[finding.code]
    return {
        "code": finding.code,
        "name": page.name,
        "severity": str(finding.severity if finding.severity is not None else Severity.ERROR),
        "message": finding.message,
        "path": finding.path,
        "line": finding.span.line,
        "column": finding.span.column,
        "end_line": finding.span.end_line,
        "end_column": finding.span.end_column,
        "symbol": finding.symbol,
        "architectures": list(finding.architectures),
        "help": page.summary,
        "url": page.url,
        "fingerprint": finding.fingerprint,
        "fix": as_json(finding),
    }
