"""What a rule says: a finding, its place and its severity. Known to all rooms, knows none of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from automodel_lint.repairs import Repair


class Severity(IntEnum):
    """How much a finding weighs; ordered, so that ``ERROR > WARNING > INFO``."""

    INFO = 0
    WARNING = 1
    ERROR = 2

    @classmethod
    def parse(cls, text: str) -> Severity:
        """Return the severity called ``text`` (any case); raises ``KeyError`` for another word."""
        return cls[text.upper()]

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, order=True)
class Span:
    """A stretch of text: lines and columns from 1, columns in characters, the end column exclusive."""

    line: int = 1
    column: int = 1
    end_line: int = 1
    end_column: int = 1


@dataclass(frozen=True)
class Edit:
    """One change of a file: ``text`` takes the place of what ``span`` covers (of nothing, where that is empty)."""

    span: Span
    text: str


@dataclass(frozen=True)
class Finding:
    """One broken contract.

    ``code`` and ``message`` are empty while a rule yields it: the engine fills them in from the rule's page
    and ``fields``. ``path`` is relative to the checkout's root, with forward slashes, where it lies below it.
    ``severity`` is ``None`` while the page's own severity applies. ``related`` are other files whose edit can bring
    this finding: whoever lints only those wants to see it too. ``repair`` says what would mend it, ``None`` where
    nothing mechanical does; ``edits`` are filled in for who shows or applies it.
    """

    path: str
    span: Span
    symbol: str | None = None
    architectures: tuple[str, ...] = ()
    fields: tuple[tuple[str, Any], ...] = ()
    severity: Severity | None = None
    related: tuple[str, ...] = ()
    code: str = ""
    message: str = ""
    fingerprint: str = ""
    repair: Repair | None = None
    edits: tuple[Edit, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what the verdict cache keeps: everything but ``fields``, which the message has absorbed."""
        return {
            "path": self.path,
            "span": [self.span.line, self.span.column, self.span.end_line, self.span.end_column],
            "symbol": self.symbol,
            "architectures": list(self.architectures),
            "related": list(self.related),
            "severity": int(self.severity if self.severity is not None else Severity.ERROR),
            "code": self.code,
            "message": self.message,
            **({} if self.repair is None else {"repair": self.repair.to_json()}),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Finding:
        """Inverse of :meth:`to_json`; raises ``KeyError``, ``TypeError`` or ``ValueError`` on damage."""
        from automodel_lint.repairs import Repair

        return cls(
            path=data["path"],
            span=Span(*data["span"]),
            symbol=data["symbol"],
            architectures=tuple(data["architectures"]),
            related=tuple(data["related"]),
            severity=Severity(data["severity"]),
            code=data["code"],
            message=data["message"],
            repair=Repair.from_json(data.get("repair")),
        )

    @property
    def sort_key(self) -> tuple[Any, ...]:
        """Order of a report: by file, then by place, then by code."""
        return (self.path, self.span, self.code, self.message)


@dataclass(frozen=True)
class Silenced:
    """A finding that is not shown, and who says so.

    ``by`` is ``exemption``, ``comment``, ``baseline``, or ``path`` (a per-path ignore); ``reason`` is what an
    exemption or a comment gives, empty where nobody gave one.
    """

    finding: Finding
    by: str
    reason: str = ""


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Fold findings that say the same of the same place into one that lists every architecture.

    A fault in an inherited definition is found through each heir; its place and its owner are the same.
    """
    unique: dict[tuple[Any, ...], Finding] = {}
    for finding in findings:
        key = (finding.code, finding.path, finding.span, finding.symbol)
        known = unique.get(key)
        if known is None:
            unique[key] = finding
        else:
            archs = dict.fromkeys(known.architectures + finding.architectures)
            related = dict.fromkeys(known.related + finding.related)
            severity = max(known.severity or Severity.INFO, finding.severity or Severity.INFO)
            unique[key] = replace(known, architectures=tuple(archs), related=tuple(related), severity=severity)
    return sorted(unique.values(), key=lambda f: f.sort_key)
