"""The checks: one function each, over one class under the probe.

A check yields a :class:`Fault` for each broken contract it saw, raises :class:`NotProbed` where it could not look, and
may tell what it measured through ``subject.figure``. The order in which they run is that of their ``order``: what
others build on first, what may hang last.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from automodel_lint.probe.protocol import Fault

if TYPE_CHECKING:
    from automodel_lint.probe.worker.subject import Subject

Look = Callable[["Subject"], Iterator[Fault]]


class NotProbed(Exception):
    """A check could not look; the text says why, for a person."""


@dataclass(frozen=True)
class Check:
    """A check as it was declared.

    ``fatal`` says that an end of the process that the class's own code brings about is what the check is about.
    """

    code: str
    look: Look
    order: int
    fatal: bool


_FOUND: list[Check] = []


def check(code: str, order: int = 50, fatal: bool = False) -> Callable[[Look], Look]:
    """Make a function the check of ``code``."""

    def register(function: Look) -> Look:
        _FOUND.append(Check(code, function, order, fatal))
        return function

    return register


@cache
def checks() -> tuple[Check, ...]:
    """Return every check, in the order in which they run."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return tuple(sorted(_FOUND, key=lambda c: (c.order, c.code)))
