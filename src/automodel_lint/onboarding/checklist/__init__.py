"""The checklist of the onboarding skill, box by box: one plain function each, over a registered class.

A box says of one model whether what it asks for is done, where, and what to write if not. Nothing is registered by
hand: every module of ``boxes`` is loaded, every decorated function found.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from automodel_lint.onboarding.checklist.answers import Evidence
    from automodel_lint.onboarding.checklist.subject import Subject

PHASES = {
    1: "Discovery",
    2: "Implementation",
    3: "Example",
    4: "Tests",
    5: "Documentation",
    6: "Parity",
}
Question = Callable[["Subject"], "Iterator[Evidence]"]
_FOUND: list[Box] = []


@dataclass(frozen=True)
class Box:
    """One box of the checklist.

    Attributes:
        name: what it is called in data and documentation.
        order: where it stands among the others.
        text: what is done where it is ticked.
        section: the section of the onboarding skill that it belongs to, ``2.3``; the first number is the phase.
        rules: the rules whose findings say that it is missing, those of the probe included.
        question: yields the places that fulfil it.
    """

    name: str
    order: int
    text: str
    section: str
    rules: tuple[str, ...]
    question: Question

    @property
    def phase(self) -> int:
        """The number of the phase."""
        return int(self.section.partition(".")[0])

    @property
    def decided_by(self) -> str:
        """The rules in few words: ``NAM201–NAM207, NAM903``; empty if there are none."""
        runs: list[list[str]] = []
        for code in self.rules:
            if runs and int(code[3:]) == int(runs[-1][-1][3:]) + 1:
                runs[-1].append(code)
            else:
                runs.append([code])
        return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs)


def box(name: str, order: int, text: str, section: str, rules: tuple[str, ...] = ()) -> Callable[[Question], Question]:
    """Make a function a box of the checklist.

    It takes the :class:`Subject` that is audited and yields evidence: of what is there, or of what is not that no rule
    looks for. What the findings of ``rules`` say is added to it. It may raise :class:`NotApplicable` and
    :class:`NotDecidable`; so does one that yields nothing.
    """

    def register(function: Question) -> Question:
        _FOUND.append(Box(name, order, text, section, rules, function))
        return function

    return register


@cache
def checklist() -> tuple[Box, ...]:
    """Return the boxes in their order."""
    from automodel_lint.onboarding.checklist import boxes

    for module in pkgutil.iter_modules(boxes.__path__):
        importlib.import_module(f"{boxes.__name__}.{module.name}")
    return tuple(sorted(_FOUND, key=lambda b: b.order))
