"""Findings as diagnostics of the protocol."""

from __future__ import annotations

from lsprotocol import types

from automodel_lint.findings import Finding, Severity
from automodel_lint.integrations.language_server.positions import Positions
from automodel_lint.pages import pages

SOURCE = "automodel-lint"
_UNUSED = "NAM001"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


def diagnostic(finding: Finding, positions: Positions) -> types.Diagnostic:
    """Return a finding as a diagnostic in the text of ``positions``."""
    page = pages().get(finding.code)
    return types.Diagnostic(
        range=positions.range(finding.span),
        message=finding.message,
        severity=_SEVERITIES[Severity.ERROR if finding.severity is None else finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(page.url) if page is not None else None,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if finding.code == _UNUSED else None,
        data={"fingerprint": finding.fingerprint},
    )


def of_settings(line: int, message: str, positions: Positions) -> types.Diagnostic:
    """Return a diagnostic for a line of a settings file that cannot be used."""
    length = len(positions.lines[line - 1]) if line <= len(positions.lines) else 0
    start, end = positions.position(line, 1), positions.position(line, length + 1)
    return types.Diagnostic(types.Range(start, end), message, types.DiagnosticSeverity.Error, source=SOURCE)
