"""For a person at a terminal: grouped by class, the offending line underlined, errors first."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import groupby

import click

from automodel_lint.findings import Finding, Severity
from automodel_lint.fixes.shapes import safety
from automodel_lint.frames import frame
from automodel_lint.pages import pages
from automodel_lint.report import Report

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def render(report: Report, verbose: bool = False, quiet: bool = False) -> str:
    """Return the report with colours; whoever writes it to something other than a terminal strips them.

    Errors have a code frame; warnings are one line each, with a frame if ``verbose``.
    """
    prefix = shown_root(report.root)
    parts: list[str] = []
    errors = [f for f in report.findings if f.severity == Severity.ERROR]
    others = [f for f in report.findings if f.severity != Severity.ERROR]
    for block, framed in ((errors, True), (others, verbose)):
        for heading, findings in _grouped(block):
            parts.append(click.style(heading, bold=True) + "\n")
            for finding in findings:
                parts += _finding(report, finding, prefix, framed)
            if not framed:
                parts.append("\n")
    if not quiet:
        parts.append(summary(report) + "\n")
    return "".join(parts)


def shown_root(root: str) -> str:
    """Return what to put before a path so that a terminal can open it: nothing where the root is the current folder."""
    relative = os.path.relpath(root)
    if relative == ".":
        return ""
    return (root if relative.startswith("..") else relative).replace(os.sep, "/") + "/"


def _grouped(findings: list[Finding]) -> Iterator[tuple[str, list[Finding]]]:
    """Put what concerns one class together, wherever it stands; the rest goes by its folder."""

    def owner(finding: Finding) -> str:
        return (finding.symbol or "").partition(".")[0] or finding.path.rpartition("/")[0].rpartition("/")[2]

    order = {owner(f): number for number, f in reversed(list(enumerate(findings)))}
    for name, group in groupby(sorted(findings, key=lambda f: order[owner(f)]), key=owner):
        members = list(group)
        others = dict.fromkeys(a for f in members for a in f.architectures if a != name)
        known_as = f" (architecture{'s' * (len(others) > 1)} {', '.join(others)})" if others else ""
        yield (name or "settings") + known_as, members


def _finding(report: Report, finding: Finding, prefix: str, framed: bool) -> Iterator[str]:
    severity = finding.severity if finding.severity is not None else Severity.ERROR
    mark = click.style(f"{severity!s:7}", fg=_COLOURS[severity])
    code = click.style(finding.code, bold=True)
    place = click.style(f"{prefix}{finding.path}:{finding.span.line}:{finding.span.column}", fg="blue")
    if not framed:
        yield f"  {mark} {code} {place} {finding.message}\n"
        return
    yield f"  {mark} {code} {pages()[finding.code].name}  {place}\n"
    yield f"    {finding.message}\n"
    yield from _frame(report, finding, _COLOURS[severity])
    yield "\n"


def _frame(report: Report, finding: Finding, colour: str) -> Iterator[str]:
    """The offending line between its neighbours, with the place underlined."""
    lines = frame(report.tree, finding)
    width = len(str(lines[-1].number)) if lines else 0
    for number, text, start, end in lines:
        yield click.style(f"    {number:{width}} | ", dim=True) + text + "\n"
        if end:
            marks = "^" * (end - start)
            yield (click.style(f"    {'':{width}} | ", dim=True) + " " * start + click.style(marks, fg=colour) + "\n")


def summary(report: Report) -> str:
    """Return the last line: how many findings, in how much, and how many can be repaired."""
    counts = report.counts()
    where = f"{_plural(report.classes, 'registered class', 'es')}, {_plural(len(report.files), 'file')}"
    time = f"{report.seconds:.1f} s"
    hidden = [
        _plural(report.suppressed, "finding") + " suppressed" if report.suppressed else "",
        f"{report.baselined} known to the baseline" if report.baselined else "",
    ]
    aside = "".join(f"; {text}" for text in hidden if text)
    if not report.findings:
        return click.style("No findings", fg="green", bold=True) + f" in {where} ({time}){aside}.{_repairs(report)}"
    found = ", ".join(_plural(n, severity) for severity, n in counts.items() if n)
    return f"{click.style(f'Found {found}', bold=True)} in {where} ({time}){aside}.{_repairs(report)}"


def _repairs(report: Report) -> str:
    """What can be repaired and how, and what was; empty if nothing can and nothing was."""
    kinds = [safety(f) for f in report.findings]
    safe, unsafe = kinds.count("safe"), kinds.count("unsafe")
    done = (
        f"\nRepaired {_plural(report.fixed, 'finding')} in {_plural(report.changes, 'file')}." if report.fixed else ""
    )
    if safe and unsafe:
        return f"{done}\n{safe} can be repaired with `--fix`, {unsafe} more with `--fix --unsafe-fixes`."
    if safe:
        return f"{done}\n{safe} can be repaired with `--fix`."
    return f"{done}\n{unsafe} can be repaired with `--fix --unsafe-fixes`." if unsafe else done


def _plural(count: int, word: str, ending: str = "s") -> str:
    return f"{count} {word}{'' if count == 1 or word == 'info' else ending}"
