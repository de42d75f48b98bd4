"""A checkout repaired: rounds of repairs and linting until nothing changes, before anything is written.

Repairs that touch each other wait for the next round. What a repair brings about is judged on the repaired text: one
that does not mend its finding, or brings a finding that was not there, is left out, and all is done again without it.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from automodel_lint.baseline import unnumbered
from automodel_lint.findings import Finding, Severity
from automodel_lint.fixes.draft import Draft, NotEditable
from automodel_lint.fixes.edits import Proposal, applied, combined, edits_of, proposed
from automodel_lint.fixes.shapes import safety
from automodel_lint.report import Report
from automodel_lint.request import Request
from automodel_lint.session import Session

ROUNDS = 10
REGISTERING = "NAM102"  # whose repairs make the registry lead to a class, which is looked at only then
_ATTEMPTS = 20
_NOT_GONE = "it would not be gone"
_COMES_BACK = f"it would come back after {ROUNDS} rounds"

Key = tuple[str, str, str, str]  # code, path, symbol, message without line numbers: a finding whatever its line
Known = dict[str, Any]  # a snapshot of a session
Kind = tuple[str, str, str]  # code, path, symbol


@dataclass
class Outcome:
    """What repairing came to; nothing is written.

    ``files`` holds the bytes before and after by absolute path, ``rounds`` the findings repaired with their edits, each
    round's in the text that the round before left, ``dropped`` those whose repair was left out, with the reason.
    """

    report: Report
    files: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    rounds: list[list[Finding]] = field(default_factory=list)
    dropped: list[tuple[Finding, str]] = field(default_factory=list)

    @property
    def fixed(self) -> list[Finding]:
        """Every finding that was repaired."""
        return [finding for findings in self.rounds for finding in findings]


def repaired(request: Request, unsafe: bool = False) -> Outcome:
    """Repair what a request's report shows: safe repairs, or with ``unsafe`` all.

    Raises:
        UsageError, ConfigError, CheckoutNotFound: as :class:`Session` does.
    """
    left_out: dict[Key, str] = {}
    attempt = _Attempt(request, unsafe, left_out, None)
    for _ in range(_ATTEMPTS):
        attempt.run()
        faulty = attempt.faulty()
        if not faulty:
            return _readmitted(attempt, left_out).outcome()
        left_out = {**left_out, **faulty}
        attempt = _Attempt(request, unsafe, left_out, attempt.at_first)
    attempt.unsafe = None  # repairs that bring ever new findings: none is made
    attempt.run()
    return attempt.outcome()


def _readmitted(attempt: _Attempt, left_out: dict[Key, str]) -> _Attempt:
    """Take back in what was left out together with a culprit, one by one."""
    blamed = [key for key, why in left_out.items() if why not in (_NOT_GONE, _COMES_BACK)]
    for key in blamed[:_ATTEMPTS] if len(blamed) > 1 else ():
        fewer = {known: why for known, why in left_out.items() if known != key}
        other = _Attempt(attempt.request, attempt.unsafe, fewer, attempt.at_first)
        other.run()
        if not other.faulty():
            attempt, left_out = other, fewer
    return attempt


class _Attempt:
    """One go from the files as they are.

    ``left_out`` are findings not to repair; with ``unsafe`` as ``None``, none is. ``known`` is what a session on the
    same files has found.
    """

    def __init__(self, request: Request, unsafe: bool | None, left_out: dict[Key, str], known: Known | None):
        self.request, self.unsafe, self.left_out = request, unsafe, left_out
        self.overlay = dict(request.overlay)
        self.known = known
        self.before: dict[str, bytes] = {}
        self.rounds: list[list[Proposal]] = []
        self.edited: list[list[Finding]] = []
        self.refused: dict[Key, tuple[Finding, str]] = {}
        self.unmended: dict[Key, str] = {}
        self.came: dict[Kind, int] = {}  # what was not there at first, and the round that brought it

    def run(self) -> None:
        """Repair until nothing changes."""
        first = self._lint()
        self.at_first = self.known
        for number in range(ROUNDS):
            taken = self._round()
            if not taken:
                break
            self.rounds.append(taken)
            counts = Counter(map(key_of, self.report.findings))
            present = self._lint()
            after = Counter(map(key_of, self.report.findings))
            for proposal in taken:
                key = key_of(proposal.finding)
                if after[key] >= counts[key]:
                    self.unmended[key] = _NOT_GONE
            self.came = {k: self.came.get(k, number) for k in present if present[k] > first[k]}
        else:
            self.unmended = self._endless() | self.unmended

    def _endless(self) -> dict[Key, str]:
        """What the last round still repaired, under all the messages that it has had."""
        repaired = [p.finding for proposals in self.rounds for p in proposals]
        last = {kind_of(p.finding) for p in self.rounds[-1]}
        return {key_of(f): _COMES_BACK for f in repaired if kind_of(f) in last}

    def _lint(self) -> Counter[Kind]:
        """Return what there is, selected or not; what is only worth a look is no reason against a repair."""
        session = Session(replace(self.request, overlay=dict(self.overlay)), self.known)
        self.report = session.run()
        self.known = session.snapshot()
        counted = (f for f in session.verdict.findings if f.severity != Severity.INFO)
        return Counter(map(kind_of, counted))

    def _wanted(self) -> dict[str, list[Finding]]:
        """The findings to repair, by file."""
        by_path: dict[str, list[Finding]] = {}
        kinds = () if self.unsafe is None else ("safe", "unsafe") if self.unsafe else ("safe",)
        for finding in self.report.findings:
            known = key_of(finding) in self.left_out or key_of(finding) in self.refused
            if safety(finding) in kinds and not known:
                by_path.setdefault(finding.path, []).append(finding)
        return by_path

    def _round(self) -> list[Proposal]:
        taken: list[Proposal] = []
        edited: list[Finding] = []
        for path, findings in self._wanted().items():
            absolute = self.report.tree.absolute(path)
            data = self.report.tree.read(absolute)
            try:
                draft = Draft(data or b"")
            except NotEditable as error:
                self.refused |= {key_of(f): (f, str(error)) for f in findings}
                continue
            made, refused = proposed(draft, findings)
            chosen, unfit = combined(draft, made)
            self.refused |= {key_of(f): (f, why) for f, why in [*refused, *unfit]}
            changes = {change for proposal in chosen for change in proposal.changes}
            if changes:
                self.before.setdefault(absolute, draft.data)
                self.overlay[absolute] = draft.encoded(applied(draft.text, changes))
                taken += chosen
                edited += [replace(p.finding, edits=edits_of(draft, p.changes)) for p in chosen]
        self.edited += [edited] if edited else []
        return taken

    # -- judging --------------------------------------------------------------------------------------------------

    def faulty(self) -> dict[Key, str]:
        """Return the findings whose repair has to be left out, with the reason."""
        if self.unmended:
            return dict(self.unmended)
        found: dict[Key, str] = {}
        for (code, path, symbol), number in self.came.items():
            made = [p.finding for p in self.rounds[number]]
            here = [f for f in made if f.path == path]
            same = [f for f in here if (f.symbol or "").partition(".")[0] == symbol.partition(".")[0]]
            beside = [f for f in made if os.path.dirname(f.path) == os.path.dirname(path)]
            blamed = same or here or beside or self._in_round(number)
            found |= {key_of(f): f"it would bring {code} in {path}" for f in blamed}
        return found

    def _in_round(self, number: int) -> list[Finding]:
        """All that a round repaired; nothing, where that made a class known: what it lacks, it lacked before."""
        findings = [p.finding for p in self.rounds[number]]
        return [] if any(f.code == REGISTERING for f in findings) else findings

    def outcome(self) -> Outcome:
        """Return what this attempt came to."""
        files = {path: (data, self.overlay[path]) for path, data in self.before.items() if self.overlay[path] != data}
        dropped = list(self.refused.values())
        for finding in self.report.findings:
            reason = self.left_out.get(key_of(finding))
            if reason is not None:
                dropped.append((finding, reason))
        return Outcome(self.report, files, self.edited, dropped)


def key_of(finding: Finding) -> Key:
    """Return what a finding is known by from round to round."""
    return finding.code, finding.path, finding.symbol or "", unnumbered(finding)


def kind_of(finding: Finding) -> Kind:
    """Return what a finding has in common with those that say the same of the same thing in other words."""
    return finding.code, finding.path, finding.symbol or ""
