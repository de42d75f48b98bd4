"""Steps put together: the changes of one repair, and of many in one text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from automodel_lint.findings import Edit, Finding
from automodel_lint.fixes import brackets, imports, listing, statements, text
from automodel_lint.fixes.draft import Change, Draft, NotEditable
from automodel_lint.repairs import Repair, Step

ROOMS = (text, brackets, listing, statements, imports)
SUPPRESSION = "NAM001"  # whose repairs take comments away


def changes_of(draft: Draft, repair: Repair) -> list[Change]:
    """Return the changes that a repair makes in a text, in order, none touching another.

    Raises:
        NotEditable: if a step cannot be made.
    """
    found: list[Change] = []
    for step in repair.steps:
        found += _maker(step)(draft, *step.arguments)
    found = sorted(dict.fromkeys(found))
    if any(_collide(a, b) for a, b in pairwise(found)):
        raise NotEditable("its steps want the same place")
    if not found or applied(draft.text, found) == draft.text:
        raise NotEditable("it changes nothing")
    return _joined(found)


def _joined(changes: list[Change]) -> list[Change]:
    """Make one of changes in order where the next begins at the end of the last."""
    joined: list[Change] = []
    for change in changes:
        if joined and joined[-1].end == change.start:
            change = Change(joined[-1].start, change.end, joined.pop().text + change.text)
        joined.append(change)
    return joined


def _maker(step: Step) -> Callable[..., list[Change]]:
    for room in ROOMS:
        if hasattr(room, step.kind):
            return getattr(room, step.kind)
    raise NotEditable(f"no step is called {step.kind}")


def _collide(first: Change, second: Change) -> bool:
    """Whether two changes in order overlap, or write at the same point."""
    return second.start < first.end or second.start == first.start


def applied(text: str, changes: Iterable[Change]) -> str:
    """Return a text with changes made that do not touch each other."""
    parts, position = [], 0
    for change in sorted(changes):
        parts += [text[position : change.start], change.text]
        position = change.end
    return "".join((*parts, text[position:]))


@dataclass(frozen=True)
class Proposal:
    """A finding and the changes that mend it."""

    finding: Finding
    changes: tuple[Change, ...]


def proposed(draft: Draft, findings: Sequence[Finding]) -> tuple[list[Proposal], list[tuple[Finding, str]]]:
    """Return what mends the findings of one file, and those that nothing can mend here, with the reason."""
    made, refused = [], []
    for finding in findings:
        if finding.repair is None:
            continue
        try:
            made.append(Proposal(finding, tuple(changes_of(draft, finding.repair))))
        except NotEditable as error:
            refused.append((finding, str(error)))
    return made, refused


def combined(draft: Draft, proposals: Iterable[Proposal]) -> tuple[list[Proposal], list[tuple[Finding, str]]]:
    """Return the proposals, in order, that can be made together, and those that cannot be made at all, with the reason.

    A change that several want alike is no obstacle. What waits for the others is in neither list.
    """
    taken: list[Proposal] = []
    unfit: list[tuple[Finding, str]] = []
    for proposal in proposals:
        reason = _unfit(draft, proposal)
        if reason:
            unfit.append((proposal.finding, reason))
        elif _fit_together(draft, [*taken, proposal]):
            taken.append(proposal)
    return taken, unfit


def _unfit(draft: Draft, proposal: Proposal) -> str:
    """Why a repair must not be made: its result is none, or it loses a comment that it is not about."""
    new = applied(draft.text, proposal.changes)
    try:
        after = Draft(draft.encoded(new))
        after.check_like(draft)
        touched = any("#" in draft.text[c.start : c.end] for c in proposal.changes)
        if touched and proposal.finding.code != SUPPRESSION and Counter(draft.comments()) - Counter(after.comments()):
            return "it would lose a comment"
    except NotEditable as error:
        return f"its result cannot be used: {error}"
    return ""


def _fit_together(draft: Draft, proposals: list[Proposal]) -> bool:
    """Whether changes keep apart from each other, and are Python together."""
    changes = sorted({change for proposal in proposals for change in proposal.changes})
    if any(_touch(a, b) for a, b in pairwise(changes)):
        return False
    try:
        if len(proposals) > 1:
            Draft(draft.encoded(applied(draft.text, changes))).check_like(draft)
    except NotEditable:
        return False
    return True


def _touch(first: Change, second: Change) -> bool:
    """Whether two changes of different repairs come too near each other to be made blindly."""
    return second.start <= first.end


def edits_of(draft: Draft, changes: Iterable[Change]) -> tuple[Edit, ...]:
    """Return changes as edits of lines and columns."""
    return tuple(Edit(draft.span(change), change.text) for change in sorted(changes))


def with_edits(findings: Iterable[Finding], read: Callable[[str], bytes | None]) -> list[Finding]:
    """Return findings with the edits of their repairs filled in; ``read`` gives the bytes of a finding's file.

    A repair that cannot be made there, or must not be, is none: the finding comes back without it.
    """
    drafts: dict[str, Draft | None] = {}
    done = []
    for finding in findings:
        if finding.repair is not None:
            if finding.path not in drafts:
                drafts[finding.path] = _draft(read(finding.path))
            draft = drafts[finding.path]
            fit = combined(draft, proposed(draft, [finding])[0])[0] if draft else []
            edits = edits_of(draft, fit[0].changes) if draft and fit else None
            finding = replace(finding, edits=edits, repair=finding.repair if fit else None)
        done.append(finding)
    return done


def _draft(data: bytes | None) -> Draft | None:
    try:
        return Draft(data or b"")
    except NotEditable:
        return None
