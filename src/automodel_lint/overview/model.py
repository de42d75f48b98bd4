"""The data of an overview: classes, contracts, and how each class stands to each contract."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from automodel_lint.findings import Finding, Severity, Silenced
from automodel_lint.frames import FrameLine

# How a class stands to a contract. Where several hold, the first in this order is the one that is said.
ERROR, WARNING, INFO, SILENCED = "error", "warning", "info", "silenced"
UNDECIDED, MET, NOTHING, NOT_ABOUT, NOT_ASKED = "undecided", "met", "no-finding", "not-applicable", "not-asked"
STATES = (ERROR, WARNING, INFO, SILENCED, UNDECIDED, MET, NOTHING, NOT_ABOUT, NOT_ASKED)


@dataclass(frozen=True)
class Contract:
    """A rule as a column. ``asked`` is whether it was selected, or for a check of the probe, whether that ran."""

    code: str
    name: str
    severity: Severity
    fix: str
    summary: str
    url: str
    asked: bool


@dataclass(frozen=True)
class Family:
    """Contracts about one subject. ``prefix`` is what their codes begin with."""

    prefix: str
    title: str
    contracts: tuple[Contract, ...]


@dataclass(frozen=True)
class Cell:
    """How a class stands to a contract: why, where that needs words, and the numbers of the findings about both."""

    state: str
    reason: str = ""
    findings: tuple[int, ...] = ()


@dataclass(frozen=True)
class Told:
    """A finding as the overview tells it.

    ``models`` are the numbers of the classes that it is about, ``frame`` the lines of source around it.
    """

    number: int
    finding: Finding
    models: tuple[int, ...]
    frame: tuple[FrameLine, ...]
    silenced: Silenced | None = None
    probed: bool = False

    @property
    def severity(self) -> str:
        """Its severity in words."""
        return str(Severity.ERROR if self.finding.severity is None else self.finding.severity)

    @property
    def state(self) -> str:
        """What it makes of a cell."""
        return SILENCED if self.silenced else self.severity


@dataclass(frozen=True)
class Evidence:
    """Something in the checkout that speaks of a class; ``path`` is relative to the root."""

    path: str
    line: int


@dataclass(frozen=True)
class AxisUse:
    """How recipes use an axis of parallelism: the largest size above 1, and which recipes set one."""

    largest: int
    recipes: tuple[Evidence, ...]


@dataclass(frozen=True)
class Coverage:
    """Which tests, pages of the documentation and recipes a class has; ``None`` where there is nothing to look in.

    ``recipes`` surely train the class, ``possible`` may as well. ``axes`` is what recipes set of ``tp``, ``cp``, …
    """

    tests: tuple[Evidence, ...] | None = None
    docs: tuple[Evidence, ...] | None = None
    recipes: tuple[Evidence, ...] | None = None
    possible: tuple[Evidence, ...] = ()
    axes: dict[str, AxisUse] = field(default_factory=dict)


@dataclass(frozen=True)
class Probed:
    """What the probe tells of a class beside its findings."""

    seconds: float
    figures: dict[str, str]


@dataclass(frozen=True)
class Model:
    """A registered class as a row.

    ``family`` groups the packages that are versions of one model. ``flags`` is what it declares of its capabilities
    (see :mod:`automodel_lint.domain.declared_axes`), ``declared`` how. ``untraced`` are the modules that its tree could
    not follow.
    """

    number: int
    name: str
    module: str
    path: str
    line: int
    package: str
    family: str
    architectures: tuple[str, ...]
    tags: tuple[str, ...]
    flags: dict[str, str]
    declared: str
    untraced: tuple[str, ...]
    cells: dict[str, Cell]
    coverage: Coverage
    probed: Probed | None = None

    def states(self, contracts: Iterable[Contract]) -> Counter[str]:
        """Count the contracts by how the class stands to them."""
        return Counter(self.cells[contract.code].state for contract in contracts)

    def state(self, contracts: Iterable[Contract]) -> str:
        """Return how the class stands to some contracts as a whole."""
        counts = self.states(contracts)
        return next((state for state in STATES if counts[state]), NOT_ASKED)


@dataclass(frozen=True)
class ProbeRun:
    """A result of the probe that was taken in: the commit it is about, and how many of its classes are not here."""

    commit: str | None
    classes: int
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class Overview:
    """Everything that a report shows.

    ``counts`` are the findings of the linter by severity, as ``check`` counts them; ``made`` is when, in UTC.
    """

    package: str
    made: str
    commit: str | None
    committed: str | None
    prefix: str
    version: str
    files: int
    counts: dict[str, int]
    suppressed: int
    baselined: int
    families: tuple[Family, ...]
    models: tuple[Model, ...]
    findings: tuple[Told, ...]
    probe: ProbeRun | None = None

    @property
    def contracts(self) -> list[Contract]:
        """All columns, in order."""
        return [contract for family in self.families for contract in family.contracts]

    @property
    def elsewhere(self) -> list[Told]:
        """The findings that are about no registered class that is shown."""
        return [told for told in self.findings if not told.models]
