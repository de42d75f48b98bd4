"""The job summary of a GitHub workflow: a table by rule, then every finding by file, as Markdown.

What comes from the source is text in it and never markup, a link or a mention.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from urllib.parse import quote

import click

from automodel_lint.findings import Finding, Severity
from automodel_lint.pages import pages
from automodel_lint.report import Report
from automodel_lint.reporters.repository import Repository
from automodel_lint.reporters.text import summary

VARIABLE = "GITHUB_STEP_SUMMARY"
MOST_BYTES = 1024 * 1024  # of a step; GitHub shows nothing of a longer one
_RESERVE = 512  # for the line that says what was left out, and what closes the block before it
_CLOSING = "\n</details>\n\n"
_BREAK = "&#8203;"  # a character without width: nothing that GitHub looks for in text goes on behind it


def publish(report: Report, path: str) -> int:
    """Add the report to the summary of this step, the file ``path``; return the number of findings that are left out.

    Raises ``OSError`` if it cannot be written.
    """
    taken = os.path.getsize(path) if os.path.exists(path) else 0
    text, left_out = markdown(report, MOST_BYTES - taken)
    with open(path, "ab") as stream:
        stream.write(text.encode("utf-8", "replace"))
    return left_out


def markdown(report: Report, room: int = MOST_BYTES) -> tuple[str, int]:
    """Return the summary in at most ``room`` bytes, and the number of findings that are left out, as it also says."""
    text = _Growing(room - _RESERVE)
    left = len(report.findings)
    if text.add(_head(report)) and report.findings:
        repository = Repository.of(report)
        for path, group in groupby(report.findings, key=lambda finding: finding.path):
            findings = list(group)
            if not text.add(_opening(repository.path(path), findings), ahead=len(_CLOSING)):
                break
            left -= sum(text.add(_row(repository, finding)) for finding in findings)
            text.parts.append(_CLOSING)
    if left and room >= _RESERVE:
        text.parts.append(f"{left} finding{'s' * (left > 1)} left out: a job summary holds 1 MiB at most.\n\n")
    return "".join(text.parts), left


class _Growing:
    """A text that takes pieces while they fit; after the first that does not, it takes none."""

    def __init__(self, room: int):
        self.parts: list[str] = []
        self._left = room

    def add(self, piece: str, ahead: int = 0) -> bool:
        """Add a piece and tell whether it had room, with so many bytes kept for what is to follow it."""
        size = len(piece.encode("utf-8", "replace")) + ahead
        self._left = self._left - size if size <= self._left else -1
        if self._left >= 0:
            self.parts.append(piece)
        return self._left >= 0


def _head(report: Report) -> str:
    told = plain(click.unstyle(summary(report)), line_end="<br>\n")
    lines = ["## automodel-lint", "", told, "", *_probed(report)]
    if report.findings:
        lines += ["| Rule | Severity | Findings | What it checks |", "|---|---|--:|---|", *_rules(report), ""]
    return "\n".join(lines) + "\n"


def _probed(report: Report) -> list[str]:
    """One line on what the probe looked at: what it could not look at is not passed."""
    if report.probe is None:
        return []
    counts = Counter(check["status"] for row in report.probe for check in row["checks"].values())
    told = f"passed: {counts['passed']}, found something: {counts['finding']}, not probed: {counts['not-probed']}"
    return [f"Classes probed: {len(report.probe)}. Checks {told}.", ""]


def _rules(report: Report) -> Iterator[str]:
    counts = Counter((_severity(finding), finding.code) for finding in report.findings)
    for (severity, code), count in sorted(counts.items(), key=lambda item: (-item[0][0], -item[1], item[0][1])):
        page = pages()[code]
        yield f"| [{code}]({page.url}) {page.name} | {severity} | {count} | {plain(page.summary)} |"


def _opening(path: str, findings: list[Finding]) -> str:
    counts = Counter(_severity(finding) for finding in findings)
    told = ", ".join(
        f"{counts[severity]} {severity}{'s' * (counts[severity] > 1 and severity > Severity.INFO)}"
        for severity in sorted(counts, reverse=True)
    )
    head = "| Line | Rule | Finding |\n|--:|---|---|\n"
    return f"<details>\n<summary>{_code(path)}: {told}</summary>\n\n{head}"


def _row(repository: Repository, finding: Finding) -> str:
    page, line = pages()[finding.code], str(finding.span.line)
    address = _address(repository, finding)
    shown = f"[{line}]({address})" if address else line
    rule = f"{_severity(finding)} [{finding.code}]({page.url})"
    return f"| {shown} | {rule} | {plain(finding.message)} |\n"


def _address(repository: Repository, finding: Finding) -> str | None:
    """Where GitHub shows the line, if the report is on the repository of this workflow."""
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA")
    server, name, commit = (os.environ.get(variable) for variable in names)
    path = repository.path(finding.path)
    if not (server and name and commit and repository.known) or os.path.isabs(path):
        return None
    return f"{server}/{name}/blob/{commit}/{quote(os.fsencode(path))}#L{finding.span.line}"


def _severity(finding: Finding) -> Severity:
    return Severity.ERROR if finding.severity is None else finding.severity


def plain(text: str, line_end: str = " ") -> str:
    """Return Markdown that shows a text as it is, what stands in backquotes as code, line ends as told."""
    parts = re.split(r"`([^`]*)`", text)
    shown = [_code(part) if number % 2 else _literal(part) for number, part in enumerate(parts)]
    return line_end.join("".join(shown).splitlines())


def _code(text: str) -> str:
    return f"<code>{_entities(' '.join(text.split()))}</code>"


def _literal(text: str) -> str:
    """Plain text in which GitHub finds no mention, reference, address or picture."""
    parts = re.split(r"(?<=[@#])|(?<=:)(?=\S)|(?<=www)(?=\.)", text, flags=re.I)
    return _BREAK.join(_entities(part) for part in parts)


def _entities(text: str) -> str:
    """Text without any character that means something in Markdown or HTML."""
    return "".join(c if c.isalnum() or c in " \n,.;'\"?()/=+-" else _entity(c) for c in text)


def _entity(character: str) -> str:
    return f"&#{ord(character)};" if character.isprintable() else "\ufffd"
