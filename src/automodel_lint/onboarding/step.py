"""One step of a plan."""

from __future__ import annotations

from dataclasses import dataclass

FILES, REGISTRATION, DECLARATIONS, PRECISION, TESTS, DOCS, RECIPE = SECTIONS = (
    "files",
    "registration",
    "declarations",
    "precision",
    "tests",
    "docs",
    "recipe",
)
TO_DO, IF, DONE = "to-do", "if", "done"


@dataclass(frozen=True)
class Step:
    """Something to do.

    Attributes:
        section: the part of the plan (one of :data:`SECTIONS`).
        state: ``to-do``, ``if`` (the config does not decide whether it applies) or ``done``.
        what: what to do, in the imperative; names in backquotes.
        why: the reason that the config gives.
        path: the file or folder to write, relative to the root of the checkout.
        rule: the rule that finds it missing.
    """

    section: str
    state: str
    what: str
    why: str
    path: str | None = None
    rule: str | None = None


def several(words: list[str]) -> str:
    """Return words as a person lists them."""
    return ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + words[-1] if words else ""
