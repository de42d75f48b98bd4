"""What the probe looked at, for a terminal: a line for each class, a column for each check, then why some were not."""

from __future__ import annotations

import shutil
from typing import Any

import click

from automodel_lint.pages import pages
from automodel_lint.report import Report
from automodel_lint.reporters.text import summary

_MARKS = {"passed": ("✓", "green"), "finding": ("✗", "red"), "not-probed": ("–", "yellow")}
_WIDEST_NAME = 46


def render(report: Report, verbose: bool = False) -> str:
    """Return the table, the reasons and the summary; ``verbose`` names every class that a reason holds for."""
    rows = report.probe or []
    codes = sorted({code for row in rows for code in row["checks"]})
    width = min(
        max(len(_name(row)) for row in rows),
        _WIDEST_NAME,
        max(shutil.get_terminal_size().columns - 3 * len(codes) - 8, 16),
    )
    head = "".join(f"{code[-2:]:>3}" for code in codes)
    lines = [click.style(f"{'':{width}}{head}", bold=True)]
    for row in rows:
        marks = "".join(_mark(row["checks"][code]["status"]) for code in codes)
        lines.append(f"{_shortened(_name(row), width):{width}}{marks} {row['seconds']:5.1f} s")
    lines += ["", *_legend(codes), "", *_reasons(rows, codes, verbose)]
    return "\n".join([*lines, summary(report)]) + "\n"


def _name(row: dict[str, Any]) -> str:
    return row["class"].rpartition(":")[2]


def _shortened(name: str, width: int) -> str:
    return name if len(name) <= width else f"{name[: width - 1]}…"


def _mark(status: str) -> str:
    text, colour = _MARKS[status]
    return click.style(f"{text:>3}", fg=colour)


def _legend(codes: list[str]) -> list[str]:
    marks = ", ".join(f"{click.style(text, fg=colour)} {status}" for status, (text, colour) in _MARKS.items())
    names = [f"{code[-2:]} {pages()[code].name}" for code in codes]
    lines, line = [f"NAM9…  {marks}"], ""
    for name in names:
        if len(line) + len(name) > 110:
            lines, line = [*lines, line.rstrip(", ")], ""
        line += f"{name}, "
    return [*lines, line.rstrip(", ")]


def _reasons(rows: list[dict[str, Any]], codes: list[str], verbose: bool) -> list[str]:
    """Why checks could not look: the checks, the reason, and for whom it holds."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for code in codes:
            check = row["checks"][code]
            if check["status"] == "not-probed":
                found.setdefault((_name(row), check["reason"] or "no reason given"), []).append(code)
    together: dict[tuple[str, str], list[str]] = {}
    for (name, reason), those in found.items():
        together.setdefault((_ranges(those, codes), reason), []).append(name)
    lines = ["Not probed:"] if together else []
    for (those, reason), names in sorted(together.items()):
        shown = names if verbose or len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"]
        lines.append(f"  {click.style(those, bold=True)} {reason}: {', '.join(shown)}")
    return [*lines, ""] if lines else []


def _ranges(some: list[str], codes: list[str]) -> str:
    """Return codes as text, three or more that follow each other in the table as the first and the last."""
    parts: list[str] = []
    rest = some
    while rest:
        start = codes.index(rest[0])
        length = next(
            (n for n, code in enumerate(rest) if code != "".join(codes[start + n : start + n + 1])), len(rest)
        )
        parts += [f"{rest[0]} to {rest[length - 1]}"] if length > 2 else rest[:length]
        rest = rest[length:]
    return ", ".join(parts)
