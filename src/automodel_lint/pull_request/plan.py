"""What is to be done: which findings get a comment, which comments go. Decides, and writes nothing.

A comment that somebody answered stays the place of its finding for as long as that is found. One that nobody answered
and that GitHub does not show at a line any more (the line was edited, or the branch rewritten) is replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from automodel_lint.pages import pages
from automodel_lint.pull_request.markers import SummaryMark
from automodel_lint.pull_request.result import Found
from automodel_lint.pull_request.state import Comment, State

MOST_COMMENTS = 50


@dataclass
class Plan:
    """What becomes of each finding, the most severe first, and of our comments.

    ``post`` get a comment now and ``standing`` have one, ``off`` lie on lines that the pull request leaves alone,
    ``rest`` could have a comment and get none. ``news`` counts what nobody was told before.
    """

    post: list[Found] = field(default_factory=list)
    standing: list[Found] = field(default_factory=list)
    off: list[Found] = field(default_factory=list)
    rest: list[Found] = field(default_factory=list)
    news: int = 0
    delete: list[Comment] = field(default_factory=list)
    resolve: list[Comment] = field(default_factory=list)

    @property
    def findings(self) -> list[Found]:
        """All that was found, in order."""
        return sorted([*self.post, *self.standing, *self.off, *self.rest])

    def without_anchors(self) -> Plan:
        """Return the plan for a server that refuses the lines of the comments: the summary tells everything."""
        refused = [*self.rest, *self.post]
        return Plan([], self.standing, self.off, sorted(refused), self.news, self.delete, self.resolve)


def planned(
    findings: Iterable[Found], unknown: Iterable[Found], state: State, on_changed: Callable[[Found], bool]
) -> Plan:
    """Return what is to be done about findings; ``unknown`` are those that are found and cannot be told about.

    ``on_changed`` tells whether a comment on a finding would stand on lines that the pull request changes.
    """
    plan = Plan()
    findings = sorted(findings, key=lambda found: (-pages()[found.code].severity, found))
    told = state.newest.mark.told if state.newest else SummaryMark.made("", {}).told
    before = {fingerprint for kind in told.values() for fingerprint in kind}
    ours: dict[tuple[str, str, str], list[Comment]] = {}
    for comment in state.comments:
        ours.setdefault(comment.key, []).append(comment)
    for found in findings:
        comments = ours.get(found.key, [])
        kept = _kept(comments)
        plan.delete += [c for c in comments if c is not kept and not c.answered]
        if kept:
            plan.standing.append(found)
        elif not on_changed(found):
            plan.off.append(found)
            plan.news += not comments and found.fingerprint not in before
        elif not comments and found.fingerprint in before - told["off"]:
            plan.rest.append(found)  # told before without a comment, or its comment was taken away by a person
        elif len(plan.post) < MOST_COMMENTS:
            plan.post.append(found)
            plan.news += found.fingerprint not in before
        else:
            plan.rest.append(found)
            plan.news += found.fingerprint not in before
    still = {found.key for found in (*findings, *unknown)}
    for key, comments in ours.items():
        if key not in still:
            plan.resolve += [c for c in comments if c.answered]
            plan.delete += [c for c in comments if not c.answered]
    return plan


def _kept(comments: list[Comment]) -> Comment | None:
    """The comment that stands for a finding: one that was answered, else one that is shown at a line."""
    return next((c for c in comments if c.answered), None) or next((c for c in comments if c.live), None)
