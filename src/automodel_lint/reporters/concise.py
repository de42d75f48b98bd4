"""``path:line:col: CODE message``, one finding a line."""

from __future__ import annotations

from automodel_lint.report import Report


def render(report: Report, verbose: bool = False, quiet: bool = False) -> str:
    """Return the report as text; without findings it is empty."""
    lines = (f"{f.path}:{f.span.line}:{f.span.column}: {f.code} {f.message}" for f in report.findings)
    return "".join(f"{_one_line(line)}\n" for line in lines)


def _one_line(text: str) -> str:
    return text.replace("\r", "\\r").replace("\n", "\\n")
