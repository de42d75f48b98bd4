"""SARIF 2.1.0, within what GitHub's code scanning takes.

No ``security-severity`` is claimed: a broken contract is no vulnerability.
"""

from __future__ import annotations

import os
import re
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from automodel_lint import __version__
from automodel_lint.findings import Edit, Finding, Severity, Span
from automodel_lint.fixes.shapes import safety
from automodel_lint.pages import SITE, Page, pages
from automodel_lint.report import Report
from automodel_lint.reporters.columns import UTF_16, Columns
from automodel_lint.reporters.json import as_text
from automodel_lint.reporters.line_hash import line_hashes
from automodel_lint.reporters.repository import Repository, repository_address
from automodel_lint.reporters.workflow import shortened

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST_RESULTS = 25_000  # GitHub refuses more
LONGEST_DESCRIPTION = 1024  # and cuts there
ROOT = "%SRCROOT%"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(report: Report, verbose: bool = False, quiet: bool = False) -> str:
    """Return the report as SARIF text."""
    return as_text(as_data(report))


def as_data(report: Report) -> dict[str, Any]:
    """Return the report as plain data: one run, with the rules that occur in it."""
    findings = report.edited()
    if len(findings) > MOST_RESULTS:
        findings = sorted(findings, key=lambda f: -_severity(f))[:MOST_RESULTS]
    codes = sorted({finding.code for finding in findings})
    repository = Repository.of(report)
    results = _Results(report, repository, codes)
    driver = {
        "name": "automodel-lint",
        "version": __version__,
        "semanticVersion": __version__,
        "informationUri": SITE,
        "rules": [_rule(pages()[code]) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository."}}},
        **_provenance(repository),
        "invocations": [{"executionSuccessful": True, **_left_out(len(report.findings) - len(findings))}],
        "results": [results.of(finding) for finding in findings],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _severity(finding: Finding) -> Severity:
    return Severity.ERROR if finding.severity is None else finding.severity


def _rule(page: Page) -> dict[str, Any]:
    checks = " ".join(page.sections["What it checks"].split())
    paragraphs = [page.sections[heading].strip() for heading in ("What it checks", "Why it matters")]
    level = _LEVELS[page.severity]
    return {
        "id": page.code,
        "name": page.name,
        "shortDescription": {"text": shortened(page.summary, LONGEST_DESCRIPTION)},
        "fullDescription": {"text": shortened(checks, LONGEST_DESCRIPTION)},
        "help": {"text": "\n\n".join([*paragraphs, page.url]), "markdown": _help(page)},
        "helpUri": page.url,
        "defaultConfiguration": {"level": level},
        "properties": {
            "precision": "high",
            "problem.severity": "recommendation" if level == "note" else level,
            "tags": ["correctness", "nemo-automodel"],
        },
    }


def _help(page: Page) -> str:
    """The page as a reader wants it: without its table of settings, with the code in the title."""
    text = re.sub(r"^```toml\n.*?^```\n+", "", page.text, count=1, flags=re.M | re.S)
    return re.sub(r"\A# .*", f"# [{page.code} {page.name}]({page.url})", text)


def _provenance(repository: Repository) -> dict[str, Any]:
    """What of the repository was linted, where GitHub or GitLab tell its address."""
    address = repository_address()
    if not address or repository.commit is None:
        return {}
    details = {"repositoryUri": address, "revisionId": repository.commit, "mappedTo": {"uriBaseId": ROOT}}
    return {"versionControlProvenance": [details]}


def _left_out(count: int) -> dict[str, Any]:
    if not count:
        return {}
    text = f"{count} of the less severe findings are left out: code scanning takes {MOST_RESULTS} at most"
    return {"toolExecutionNotifications": [{"level": "warning", "message": {"text": text}}]}


class _Results:
    """Makes results of findings."""

    def __init__(self, report: Report, repository: Repository, codes: list[str]):
        self._report, self._repository = report, repository
        self._columns = Columns(report, UTF_16)
        self._index = {code: number for number, code in enumerate(codes)}
        self._hashes: dict[str, list[str]] = {}

    def of(self, finding: Finding) -> dict[str, Any]:
        location: dict[str, Any] = {
            "physicalLocation": {
                "artifactLocation": self._artifact(finding.path),
                "region": self._region(finding.path, finding.span),
            }
        }
        if finding.symbol:
            kind = "member" if "." in finding.symbol else "type"
            location["logicalLocations"] = [{"fullyQualifiedName": finding.symbol, "kind": kind}]
        return {
            "ruleId": finding.code,
            "ruleIndex": self._index[finding.code],
            "level": _LEVELS[_severity(finding)],
            "message": {"text": _unlinked(finding.message)},
            "locations": [location],
            "partialFingerprints": {**self._line_hash(finding), "automodelLint/v1": finding.fingerprint},
            **({"fixes": [self._fix(finding, finding.edits)]} if finding.edits else {}),
        }

    def _artifact(self, path: str) -> dict[str, str]:
        shown = self._repository.path(path)
        if os.path.isabs(shown):
            return {"uri": PurePath(shown).as_uri()}
        return {"uri": quote(os.fsencode(shown)), "uriBaseId": ROOT}

    def _region(self, path: str, span: Span) -> dict[str, int]:
        return {
            "startLine": span.line,
            "startColumn": self._columns.of(path, span.line, span.column),
            "endLine": span.end_line,
            "endColumn": self._columns.of(path, span.end_line, span.end_column),
        }

    def _line_hash(self, finding: Finding) -> dict[str, str]:
        if finding.path not in self._hashes:
            data = self._report.tree.read(self._report.tree.absolute(finding.path))
            self._hashes[finding.path] = [] if data is None else line_hashes(data)
        hashes = self._hashes[finding.path]
        line = finding.span.line
        return {"primaryLocationLineHash": hashes[line - 1]} if 0 < line <= len(hashes) else {}

    def _fix(self, finding: Finding, edits: tuple[Edit, ...]) -> dict[str, Any]:
        title = finding.repair.title if finding.repair else ""
        doubt = " (unsafe: look at it before you take it)" if safety(finding) == "unsafe" else ""
        replacements = [
            {"deletedRegion": self._region(finding.path, edit.span), "insertedContent": {"text": edit.text}}
            for edit in edits
        ]
        change = {"artifactLocation": self._artifact(finding.path), "replacements": replacements}
        return {"description": {"text": f"{title}{doubt}"}, "artifactChanges": [change]}


def _unlinked(message: str) -> str:
    """A message in which no text of the source is a link."""
    return re.sub(r"\[(?=[^\[\]]*\]\()", r"\\[", message)
