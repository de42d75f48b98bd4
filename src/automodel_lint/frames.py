"""The lines of source around a finding, with the place in them."""

from __future__ import annotations

from typing import NamedTuple

from automodel_lint.findings import Finding
from automodel_lint.source import SourceTree

WIDEST = 160


class FrameLine(NamedTuple):
    """A line of source, tabs as spaces. The place is ``text[start:end]`` in the line that holds it, else empty."""

    number: int
    text: str
    start: int = 0
    end: int = 0


def frame(tree: SourceTree, finding: Finding, around: int = 1) -> list[FrameLine]:
    """Return the line of a finding between ``around`` neighbours on each side; empty if its file has no such line."""
    lines = tree.lines(tree.absolute(finding.path))
    span = finding.span
    if not 0 < span.line <= len(lines) or not any(lines):
        return []
    found = []
    for number in range(max(1, span.line - around), min(len(lines), span.line + around) + 1):
        line = lines[number - 1]
        text = line.expandtabs(4)[:WIDEST].rstrip()
        if number != span.line:
            found.append(FrameLine(number, text))
            continue
        start = len(line[: span.column - 1].expandtabs(4))
        end = len(line.expandtabs(4).rstrip())
        if span.end_line == span.line:
            end = len(line[: span.end_column - 1].expandtabs(4))
        found.append(FrameLine(number, text, start, max(min(end, WIDEST), start + 1)))
    return found
