"""What an audit says: of each box whether it is done, and where one sees that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from automodel_lint.findings import Finding

if TYPE_CHECKING:
    from automodel_lint.onboarding.checklist import Box


class Status(Enum):
    """How a box stands."""

    DONE = "done"
    MISSING = "missing"
    NOT_APPLICABLE = "not applicable"
    NOT_DECIDABLE = "not decidable here"


class Kind(Enum):
    """What evidence says: this fulfils the box, is missing, is missing but silenced, or is worth a look."""

    DONE = "done"
    MISSING = "missing"
    SILENCED = "silenced"
    NOTE = "note"


class NotApplicable(Exception):
    """A box asks for something that this model does not need; the text says why."""


class NotDecidable(Exception):
    """Neither source nor what was given can tell; the text says what could."""


@dataclass(frozen=True)
class Evidence:
    """One place that speaks for or against a box.

    ``path`` is relative to the checkout, ``line`` counts from 1; both are ``None`` where there is no place. ``code`` is
    the rule that says it, ``None`` where the place does so itself.
    """

    kind: Kind
    text: str
    path: str | None = None
    line: int | None = None
    code: str | None = None


@dataclass(frozen=True)
class Answer:
    """How one box stands, why (empty where the evidence says it), and the evidence: what is missing first."""

    box: Box
    status: Status
    reason: str
    evidence: tuple[Evidence, ...]


@dataclass
class Audit:
    """The checklist of one registered class.

    ``package`` is the name of its model package, ``None`` if it lies in none. ``others`` are the findings of ``check``
    that no box is about, ``probe`` what the probe tells of the class (``None`` if it did not run).
    """

    name: str
    architectures: tuple[str, ...]
    package: str | None
    path: str
    line: int
    answers: list[Answer]
    others: list[Finding] = field(default_factory=list)
    probe: dict[str, Any] | None = None

    @property
    def fails(self) -> bool:
        """Whether a box that applies is missing."""
        return any(answer.status is Status.MISSING for answer in self.answers)

    def counts(self) -> dict[Status, int]:
        """Return the number of boxes by status."""
        return {status: sum(a.status is status for a in self.answers) for status in Status}

    def by_phase(self) -> Iterator[tuple[int, list[Answer]]]:
        """Yield the answers of each phase, in order."""
        for phase in sorted({answer.box.phase for answer in self.answers}):
            yield phase, [answer for answer in self.answers if answer.box.phase == phase]


_ORDER = (Kind.MISSING, Kind.DONE, Kind.SILENCED, Kind.NOTE)


def sorted_evidence(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Return evidence with what is missing first, each piece once."""
    return tuple(sorted(dict.fromkeys(evidence), key=lambda e: _ORDER.index(e.kind)))
