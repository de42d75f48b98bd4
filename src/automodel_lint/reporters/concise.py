"""``path:line:col: CODE message``, one finding a line."""

from __future__ import annotations

from automodel_lint.report import Report


def render(report: Report, verbose: bool = False, quiet: bool = False) -> str:
    """Return the report as text; without findings it is empty."""
    return "".join(f"{f.path}:{f.span.line}:{f.span.column}: {f.code} {f.message}\n" for f in report.findings)
