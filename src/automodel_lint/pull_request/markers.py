"""Marks in our own comments, invisible to a reader: what a comment is about, and what a summary has told.

They hold nothing but codes, fingerprints and digests, which have been checked, and stand at the very beginning, where a
quotation cannot put them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_COMMENT = re.compile(r"<!-- automodel-lint:v1 (gone )?(NAM[0-9]{3}) ([0-9a-f]{16}) -->")
_SUMMARY = re.compile(r"<!-- automodel-lint:v1 summary ([0-9a-f]{16})((?: (?:inline|off|rest|[0-9a-f]{16}))*) -->")
KINDS = ("inline", "off", "rest")


@dataclass(frozen=True)
class CommentMark:
    """What a comment of ours is about; ``gone`` once it says that the finding is not there any more."""

    code: str
    fingerprint: str
    gone: bool = False

    def __str__(self) -> str:
        return f"<!-- automodel-lint:v1 {'gone ' * self.gone}{self.code} {self.fingerprint} -->"

    @classmethod
    def of(cls, body: str) -> CommentMark | None:
        """Return the mark at the beginning of a comment, if it has one."""
        match = _COMMENT.match(body)
        return cls(match[2], match[3], bool(match[1])) if match else None


@dataclass(frozen=True)
class SummaryMark:
    """Which result a summary is of, and where each finding was told, by kind.

    ``inline`` has a comment of its own, ``off`` lies on lines that the pull request leaves alone, ``rest`` could have a
    comment and got none.
    """

    digest: str
    told: Mapping[str, frozenset[str]]

    @classmethod
    def made(cls, digest: str, told: Mapping[str, Iterable[str]]) -> SummaryMark:
        """Return a mark with the fingerprints of each kind."""
        return cls(digest, {kind: frozenset(told.get(kind, ())) for kind in KINDS})

    def __str__(self) -> str:
        words = [word for kind in KINDS if self.told[kind] for word in (kind, *sorted(self.told[kind]))]
        return f"<!-- automodel-lint:v1 summary {' '.join([self.digest, *words])} -->"

    @classmethod
    def of(cls, body: str) -> SummaryMark | None:
        """Return the mark at the beginning of a summary, if it has one."""
        match = _SUMMARY.match(body)
        if match is None:
            return None
        told: dict[str, set[str]] = {kind: set() for kind in KINDS}
        kind = "rest"
        for word in match[2].split():
            if word in told:
                kind = word
            else:
                told[kind].add(word)
        return cls.made(match[1], told)
