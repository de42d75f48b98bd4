"""What the two halves of the probe tell each other: a job in, events out. Plain data, and nothing but the library."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

PASSED, FINDING, NOT_PROBED = "passed", "finding", "not-probed"


@dataclass(frozen=True)
class Target:
    """A class to probe, as its registrations name it."""

    module: str
    name: str
    architectures: tuple[str, ...]
    tags: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """``module:Class``."""
        return f"{self.module}:{self.name}"


@dataclass(frozen=True)
class Job:
    """What to probe and how.

    ``package`` is what is probed, ``framework`` the package with the shared code (the same, but for a plug-in).
    ``path`` is put in front of the module search path. ``registry`` is the module that is imported once, before the
    classes. ``timeout`` is in seconds for one class, ``memory`` in bytes for one process. ``tiny`` holds what authors
    say about tiny configurations, by architecture.
    """

    package: str
    framework: str
    targets: tuple[Target, ...]
    checks: tuple[str, ...]
    path: tuple[str, ...] = ()
    registry: str = ""
    timeout: float = 120.0
    memory: int = 8 << 30
    jobs: int = 2
    seed: int = 0
    tiny: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return what :meth:`from_json` takes."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Job:
        """Inverse of :meth:`to_json`."""
        targets = tuple(
            Target(t["module"], t["name"], tuple(t["architectures"]), tuple(t["tags"])) for t in data["targets"]
        )
        lists = {name: tuple(data[name]) for name in ("checks", "path")}
        return cls(**{**data, **lists, "targets": targets})


@dataclass(frozen=True)
class Fault:
    """One broken contract that a check saw.

    ``fields`` fill the message of the rule's page. ``at`` says where the author edits, the first that is known:
    ``tensor`` (the FQN of a parameter or buffer: the line that creates it), ``module`` (the FQN of a submodule: the
    line that creates it), ``method`` (of the class: its ``def``), ``pattern`` (of a keep list), or ``file`` with
    ``line``; nothing: the class.
    """

    fields: dict[str, Any] = field(default_factory=dict)
    at: dict[str, Any] = field(default_factory=dict)
    severity: str | None = None


@dataclass
class CheckResult:
    """How one check of one class ended. ``figure`` is what was measured, in words."""

    code: str
    status: str
    reason: str | None = None
    figure: str | None = None
    faults: list[Fault] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return what :meth:`from_json` takes."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> CheckResult:
        """Inverse of :meth:`to_json`."""
        return cls(**{**data, "faults": [Fault(**f) for f in data["faults"]]})


@dataclass
class ClassResult:
    """Everything about one class: its tiny configuration and its checks in the order in which they ran."""

    target: Target
    seconds: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)
    checks: dict[str, CheckResult] = field(default_factory=dict)
