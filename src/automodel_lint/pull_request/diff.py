"""What a pull request changes: the lines that a comment can stand on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True)
class Hunk:
    """A stretch of a file's new text, from line ``start``: what it reads, and which of its lines are new."""

    start: int
    lines: tuple[str, ...]
    changed: frozenset[int]

    def holds(self, first: int, last: int) -> bool:
        """Tell whether the lines from ``first`` to ``last`` are all part of it."""
        return self.start <= first <= last < self.start + len(self.lines)

    def text(self, first: int, last: int) -> list[str]:
        """Return lines that it holds."""
        return list(self.lines[first - self.start : last - self.start + 1])


@dataclass
class Diff:
    """The hunks of each file by its path at the head of the pull request."""

    hunks: dict[str, list[Hunk]] = field(default_factory=dict)

    @classmethod
    def of(cls, files: Iterable[dict[str, Any]]) -> Diff:
        """Read the files of a pull request as the API lists them; one without a patch (binary, huge) has no hunks."""
        found = cls()
        for file in files:
            if isinstance(file.get("patch"), str) and file.get("status") != "removed":
                found.hunks[file["filename"]] = hunks_of(file["patch"])
        return found

    def around(self, path: str, line: int) -> Hunk | None:
        """Return the hunk that a line of a file lies in."""
        return next((hunk for hunk in self.hunks.get(path, ()) if hunk.holds(line, line)), None)

    def changes(self, path: str, first: int, last: int) -> bool:
        """Tell whether the pull request adds or changes a line of a stretch of a file."""
        return any(not hunk.changed.isdisjoint(range(first, last + 1)) for hunk in self.hunks.get(path, ()))


def hunks_of(patch: str) -> list[Hunk]:
    """Return the hunks of a unified diff of one file; what does not fit its own header is left out."""
    found: list[Hunk] = []
    lines = patch.split("\n")
    at = 0
    while at < len(lines):
        header = _HUNK.match(lines[at])
        at += 1
        if header:
            old, start, new = int(header[1] or 1), int(header[2]), int(header[3] or 1)
            hunk, at = _hunk(lines, at, old, start, new)
            if hunk:
                found.append(hunk)
    return found


def _hunk(lines: list[str], at: int, old: int, start: int, new: int) -> tuple[Hunk | None, int]:
    """Read as many lines as the header promises, so that one that looks like a header is not taken for one."""
    texts: list[str] = []
    changed = set()
    while at < len(lines) and (old > 0 or len(texts) < new):
        mark, text = lines[at][:1], lines[at][1:]
        at += 1
        if mark == "\\":  # no newline at the end of the file
            continue
        if mark not in (" ", "+", "-", ""):
            return None, at
        if mark == "+":
            changed.add(start + len(texts))
        if mark != "-":
            texts.append(text)
        if mark != "+":
            old -= 1
    if old or len(texts) != new or not new:
        return None, at
    return Hunk(start, tuple(texts), frozenset(changed)), at
