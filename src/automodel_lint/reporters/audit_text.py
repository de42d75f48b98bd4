"""An audit for a terminal: the boxes by phase, each with the places that decide it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import click

from automodel_lint.onboarding.checklist import PHASES
from automodel_lint.onboarding.checklist.answers import Answer, Audit, Evidence, Kind, Status

_SIGNS = {Status.DONE: "✓", Status.MISSING: "✗", Status.NOT_APPLICABLE: "–", Status.NOT_DECIDABLE: "?"}
_COLOURS = {Status.DONE: "green", Status.MISSING: "red", Status.NOT_APPLICABLE: "white", Status.NOT_DECIDABLE: "yellow"}
_MARKS = {Kind.DONE: "", Kind.MISSING: "", Kind.SILENCED: "silenced: ", Kind.NOTE: "note: "}
_PLAIN: dict[str, Any] = {}
_DIM: dict[str, Any] = {"dim": True}
_PLACE: dict[str, Any] = {"fg": "blue"}
_SHOWN = 4  # places of one kind that speak for a box
Piece = tuple[str, dict[str, Any]]


def render(audits: list[Audit], root: str = "", verbose: bool = False, width: int | None = None) -> str:
    """Return the checklists as text with colours.

    ``root`` is put before paths so that a terminal can open them; ``verbose`` shows every place. Lines are broken at
    ``width`` where that is known.
    """
    return "\n\n\n".join("\n".join(_Lines(root, verbose, width).of(audit)) for audit in audits) + "\n"


def plain(text: str) -> str:
    """Return a rendered checklist in ASCII signs."""
    return text.translate(str.maketrans({"✓": "+", "✗": "x", "–": "-"}))


class _Lines:
    """The lines of one audit."""

    def __init__(self, root: str, verbose: bool, width: int | None):
        self.root, self.verbose, self.width = root, verbose, width

    def of(self, audit: Audit) -> Iterator[str]:
        others = [name for name in audit.architectures if name != audit.name]
        known_as = f" (architecture{'s' * (len(others) > 1)} {', '.join(others)})" if others else ""
        yield click.style(audit.name, bold=True) + known_as
        yield click.style(self._place(audit.path, audit.line), **_PLACE)
        for phase, answers in audit.by_phase():
            yield ""
            yield click.style(PHASES[phase], bold=True)
            for answer in answers:
                yield from self._box(answer)
        yield ""
        if audit.others:
            yield click.style("Findings of `check` that no box is about", bold=True)
            for finding in audit.others:
                place = f"{self._place(finding.path, finding.span.line)} "
                yield from self._filled([(place, _PLACE), (f"{finding.code} {finding.message}", _PLAIN)], "    ")
            yield ""
        counts = audit.counts()
        told = ", ".join(f"{count} {status.value}" for status, count in counts.items() if count)
        yield click.style(f"{len(audit.answers)} boxes: {told}", bold=True)

    def _place(self, path: str, line: int | None) -> str:
        """A place as a terminal can open it; a file of a library may lie elsewhere."""
        return f"{'' if os.path.isabs(path) else self.root}{path}:{line}"

    def _box(self, answer: Answer) -> Iterator[str]:
        status = answer.status
        sign = (_SIGNS[status], {"fg": _COLOURS[status]})
        text = (answer.box.text, _DIM if status is Status.NOT_APPLICABLE else _PLAIN)
        rules = [(f"({answer.box.decided_by})", _DIM)] if answer.box.rules else []
        yield from self._filled([sign, text, *rules], "  ")
        if answer.reason:
            yield from self._filled([(f"{status.value}: {answer.reason}", _DIM)], "      ")
        shown = answer.evidence if self.verbose else _most(answer)
        for evidence in shown:
            yield from self._filled(self._evidence(evidence), "      ")
        left = len(answer.evidence) - len(shown)
        if left:
            yield click.style(f"      and {left} more (--verbose)", **_DIM)

    def _evidence(self, evidence: Evidence) -> list[Piece]:
        code = f"{evidence.code} " if evidence.code else ""
        style = _DIM if evidence.kind in (Kind.NOTE, Kind.SILENCED) else _PLAIN
        text = (f"{_MARKS[evidence.kind]}{code}{evidence.text}", style)
        return [(f"{self._place(evidence.path, evidence.line)} ", _PLACE), text] if evidence.path else [text]

    def _filled(self, pieces: list[Piece], indent: str) -> Iterator[str]:
        """Pieces of text in lines that fit; what goes on stands a little further in."""
        if self.width is None:
            yield indent + " ".join(click.style(text, **style) if style else text for text, style in pieces)
            return
        line: list[Piece] = []
        room = self.width - len(indent)
        for text, style in pieces:
            for word in text.split(" "):
                if line and len(word) > room:
                    yield indent + _joined(line)
                    indent = indent if len(indent) > 6 else f"{indent}  "
                    line, room = [], self.width - len(indent)
                line.append((word, style))
                room -= len(word) + 1
        yield indent + _joined(line)


def _joined(words: list[Piece]) -> str:
    """The words of a line, those of one style under one."""
    parts = []
    for _, group in groupby(words, key=lambda piece: id(piece[1])):
        members = list(group)
        text, style = " ".join(word for word, _ in members), members[0][1]
        parts.append(click.style(text, **style) if style else text)
    return " ".join(parts).rstrip()


def _most(answer: Answer) -> list[Evidence]:
    """What is missing is told in full; of what is not, the first places."""
    missing = [e for e in answer.evidence if e.kind is Kind.MISSING]
    rest = [e for e in answer.evidence if e.kind is not Kind.MISSING]
    return missing + rest[: 0 if missing else _SHOWN]
