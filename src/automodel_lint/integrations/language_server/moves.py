"""Where places of one text lie in a later one: lines in front of an edit stay, lines behind it move along."""

from __future__ import annotations

from dataclasses import replace

from automodel_lint.findings import Span
from automodel_lint.source import split_lines


class Move:
    """From the lines of a text to those of a later one, which may differ in one stretch."""

    def __init__(self, old: str, new: str):
        before, after = split_lines(old), split_lines(new)
        most = min(len(before), len(after))
        head = next((i for i in range(most) if before[i] != after[i]), most)
        tail = next((i for i in range(most - head) if before[-1 - i] != after[-1 - i]), most - head)
        self.first, self.last = head + 1, len(before) - tail  # the lines of the old text that are no more
        self.by = len(after) - len(before)

    def line(self, line: int) -> int | None:
        """Return where a line is now; ``None`` if it was edited."""
        if line < self.first:
            return line
        return line + self.by if line > self.last else None

    def span(self, span: Span) -> Span | None:
        """Return where a stretch is now; ``None`` if an edit goes through it."""
        line, end = self.line(span.line), self.line(span.end_line)
        return None if line is None or end is None else replace(span, line=line, end_line=end)
