"""JUnit XML, which most CI systems show as tests: a finding is a test that failed, each under its file.

From the probe, a class is a suite and each check of it a test, so that what was not probed shows as skipped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from typing import Any
from xml.etree import ElementTree

from automodel_lint.findings import Finding, Severity
from automodel_lint.pages import pages
from automodel_lint.report import Report
from automodel_lint.reporters.repository import Repository

_NO_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
Case = tuple[dict[str, str], "tuple[str, dict[str, str], str] | None"]  # attributes; and outcome, its attributes, text


def render(report: Report, verbose: bool = False, quiet: bool = False) -> str:
    """Return the report as XML; findings below the settings' ``fail-on`` are skipped tests."""
    repository = Repository.of(report)
    suites = ElementTree.Element("testsuites", name="automodel-lint")
    rest = report.findings
    for row in report.probe or []:  # what a base class has wrong is a finding of all its heirs
        cases = list(_checks(report, repository, row, [f for f in report.findings if _concerns(f, row)]))
        _suite(suites, row["class"], cases, row["seconds"])
        rest = [finding for finding in rest if not _concerns(finding, row)]
    for path, findings in groupby(rest, key=lambda f: repository.path(f.path)):
        _suite(suites, path, list(_findings(report, repository, findings)))
    if not len(suites):
        _suite(suites, "automodel-lint", [({"classname": "automodel-lint", "name": "no findings"}, None)])
    for name in ("tests", "failures", "skipped"):
        suites.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    suites.set("time", f"{report.seconds:.3f}")
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="us-ascii", xml_declaration=True).decode("ascii")
    text = text.replace("##[", "##&#91;")  # nothing in it is a command to the runner of a GitHub workflow
    return re.sub(r"^(\s*):", r"\1&#58;", text, flags=re.M) + "\n"


def _concerns(finding: Finding, row: dict[str, Any]) -> bool:
    return finding.code in row["checks"] and not set(finding.architectures).isdisjoint(row["architectures"])


def _checks(report: Report, repository: Repository, row: dict[str, Any], findings: list[Finding]) -> Iterable[Case]:
    """The checks of a class that was probed, as tests; one that found several things is a test for each."""
    for code, check in row["checks"].items():
        attributes = {"classname": row["class"], "name": f"{code} {pages()[code].name}"}
        found = [finding for finding in findings if finding.code == code]
        for number, finding in enumerate(found, 1):
            numbered = f"{attributes['name']} ({number})" if len(found) > 1 else attributes["name"]
            yield {**attributes, "name": numbered, **_place(repository, finding)}, _outcome(report, repository, finding)
        if not found and check["status"] == "not-probed":
            yield attributes, ("skipped", {"message": check["reason"] or "no reason given"}, "")
        elif not found:
            silenced = check["status"] == "finding"
            yield attributes, ("skipped", {"message": "what it found is silenced"}, "") if silenced else None


def _findings(report: Report, repository: Repository, findings: Iterable[Finding]) -> Iterable[Case]:
    seen: Counter[str] = Counter()
    for finding in findings:
        name = f"{finding.code} {pages()[finding.code].name} {finding.symbol or ''}".strip()
        seen[name] += 1
        numbered = f"{name} ({seen[name]})" if seen[name] > 1 else name
        place = _place(repository, finding)
        yield {"classname": place["file"], "name": numbered, **place}, _outcome(report, repository, finding)


def _place(repository: Repository, finding: Finding) -> dict[str, str]:
    return {"file": repository.path(finding.path), "line": str(finding.span.line)}


def _outcome(report: Report, repository: Repository, finding: Finding) -> tuple[str, dict[str, str], str]:
    severity = Severity.ERROR if finding.severity is None else finding.severity
    place = f"{repository.path(finding.path)}:{finding.span.line}:{finding.span.column}"
    text = f"{place}: {finding.code} {finding.message}\n{pages()[finding.code].url}"
    if severity < report.config.fail_on:
        return "skipped", {"message": f"{severity}: {finding.message}"}, text
    return "failure", {"message": finding.message, "type": str(severity)}, text


def _suite(suites: ElementTree.Element, name: str, cases: list[Case], seconds: float = 0) -> None:
    outcomes = Counter(outcome[0] for _, outcome in cases if outcome is not None)
    counts = {"tests": len(cases), "failures": outcomes["failure"], "errors": 0, "skipped": outcomes["skipped"]}
    told = {"name": _legal(name), "time": f"{seconds:.3f}", **{key: str(count) for key, count in counts.items()}}
    suite = ElementTree.SubElement(suites, "testsuite", told)
    for attributes, outcome in cases:
        case = ElementTree.SubElement(suite, "testcase", {key: _legal(value) for key, value in attributes.items()})
        if outcome is not None:
            kind, details, text = outcome
            result = ElementTree.SubElement(case, kind, {key: _legal(value) for key, value in details.items()})
            result.text = _legal(text) or None


def _legal(text: str) -> str:
    """Text without what XML 1.0 cannot hold, which shows as an escape."""
    return _NO_XML.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
