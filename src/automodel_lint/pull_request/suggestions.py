"""A repair as a suggestion that is taken with one click: whole lines in place of whole lines of one hunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from automodel_lint.findings import Edit
from automodel_lint.pull_request.diff import Hunk
from automodel_lint.source import split_lines

WIDEST_GAP = 3  # unchanged lines between two edits of one suggestion
MOST_LINES = 30
FARTHEST = 10  # lines between the finding and what mends it


@dataclass(frozen=True)
class Suggestion:
    """``text`` in place of the lines from ``first`` to ``last``."""

    first: int
    last: int
    text: str


def suggested(line: int, edits: Sequence[Edit], text: str, hunk: Hunk) -> Suggestion | None:
    """Return edits of a file's ``text`` as a suggestion near ``line``.

    ``None`` if they lie apart, are not wholly in the hunk, or GitHub shows other lines there than the text has.
    """
    edits = sorted(edits, key=lambda edit: edit.span)
    if "\r" in text or any(after.span.line - before.span.end_line > WIDEST_GAP for before, after in pairwise(edits)):
        return None
    lines = split_lines(text)
    first, last = edits[0].span.line, edits[-1].span.end_line
    new = _applied(lines, first, last, edits)
    count = len(lines) - (lines[-1] == "")
    if last > count:  # behind the last line: what is written there comes below that one
        if first > count:
            first, new = count, f"{lines[count - 1]}\n{new}"
        last, new = count, new.removesuffix("\n")
    first, old, replacement = _trimmed(first, lines[first - 1 : last], new.split("\n"))
    last = first + len(old) - 1
    near = first - FARTHEST <= line <= last + FARTHEST
    small = len(old) <= MOST_LINES and len(replacement) <= 2 * MOST_LINES
    if not near or not small or not hunk.holds(first, last) or hunk.text(first, last) != old:
        return None
    return Suggestion(first, last, "\n".join(replacement)) if replacement != old else None


def _trimmed(first: int, old: list[str], new: list[str]) -> tuple[int, list[str], list[str]]:
    """Leave out lines that stay as they are at both ends; one line remains to be replaced."""
    while len(old) > 1 and len(new) > 1 and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    while len(old) > 1 and len(new) > 1 and old[0] == new[0]:
        first, old, new = first + 1, old[1:], new[1:]
    return first, old, new


def _applied(lines: list[str], first: int, last: int, edits: Sequence[Edit]) -> str:
    """Return the lines from ``first`` to ``last`` with edits made in them."""
    starts, position = {}, 0
    for number in range(first, last + 1):
        starts[number] = position
        position += len(lines[number - 1]) + 1
    text = "\n".join(lines[first - 1 : last])
    for edit in reversed(edits):
        span = edit.span
        start, end = starts[span.line] + span.column - 1, starts[span.end_line] + span.end_column - 1
        text = text[:start] + edit.text + text[end:]
    return text
