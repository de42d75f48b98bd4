"""From a result and a target to what is done on the pull request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from automodel_lint.findings import Severity
from automodel_lint.pull_request import own_lint, plan, state
from automodel_lint.pull_request.check_run import CheckRun
from automodel_lint.pull_request.diff import Diff
from automodel_lint.pull_request.event import NotOurs, Target
from automodel_lint.pull_request.github import GitHub, Refused
from automodel_lint.pull_request.posting import Done, Posting
from automodel_lint.pull_request.result import Found, Result
from automodel_lint.pull_request.wording import Setting, counted
from automodel_lint.request import UsageError
from automodel_lint.source import digest


@dataclass(frozen=True)
class Options:
    """How somebody wants it: the web address of GitHub, a checkout of the head, who we are, what makes a failure."""

    server: str
    checkout: str | None = None
    login: str | None = None
    fail_on: Severity = Severity.WARNING


def annotate(found: Result, target: Target, api: GitHub, options: Options, done: Done) -> None:
    """Bring the pull request in line with a result; ``done`` learns what was done, also if we do not come to the end.

    Raises:
        UsageError: if the result is not of this pull request, or GitHub does not let us.
    """
    linted = _linted(found, target)
    try:
        pull = _pull(api, target, linted)
    except NotOurs as reason:
        done.notes.append(f"{reason}: nothing is posted")
        return
    path = f"/repos/{target.repository}/pulls/{pull['number']}"
    diff = Diff.of(api.all(f"{path}/files"))
    findings, remedies, left_out = _believed(found, linted, options.checkout, diff)
    setting = Setting(options.server.rstrip("/"), target.repository, linted, remedies, left_out)
    done.lines.append(f"pull request {pull['number']} of {target.repository} at {linted[:7]}: {counted(findings)}")
    done.notes += left_out
    _check_run(CheckRun(api, setting, findings, options.fail_on, _digest(linted, findings, options.fail_on)), done)
    login = state.own_login(api, options.login)
    present = state.read(api, path, login)

    def on_changed(finding: Found) -> bool:
        suggestion = remedies.get(finding)
        first, last = (suggestion.first, suggestion.last) if suggestion else (finding.line, finding.line)
        return diff.changes(finding.path, first, last)

    intended = plan.planned(findings, found.unknown, present, on_changed)
    if not findings and present.newest is None and not present.comments:
        return  # who never heard of us need not hear that all is well; the check run says it

    def moved() -> bool:
        return api.get(path)["head"]["sha"] != linted

    Posting(api, setting, pull["number"], login, _digest(linted, findings), moved, done).carry_out(intended, present)


def _linted(found: Result, target: Target) -> str:
    """Return the commit that the result is of."""
    if found.commit is None and target.head is None:
        raise UsageError(
            "the result does not say which commit was linted: lint inside of a git work tree, or give --event"
        )
    if None not in (found.commit, target.head) and found.commit != target.head:
        raise UsageError(
            f"the result is not of {target.head}, the head of the pull request: let the linting step check out "
            "github.event.pull_request.head.sha"
        )
    return found.commit or target.head or ""


def _pull(api: GitHub, target: Target, linted: str) -> dict[str, Any]:
    """Return the open pull request that is meant, if what was linted is still its head."""
    name = target.repository
    if target.number is not None:
        pull = api.get(f"/repos/{name}/pulls/{target.number}")
        if pull.get("number") != target.number:
            raise UsageError(f"what is asked about pull request {target.number} is not GitHub's API")
        if pull.get("state") != "open":
            raise NotOurs(f"pull request {target.number} is not open")
        if pull["head"]["sha"] != linted:
            raise NotOurs(f"pull request {target.number} has another head by now than what was linted")
        return pull
    pulls = api.all(f"/repos/{name}/pulls", state="open", head=f"{target.owner}:{target.branch}")
    for pull in sorted(pulls, key=lambda pull: pull["number"]):
        base = pull["base"]["repo"]["full_name"]
        if pull["head"]["sha"] == linted and base.casefold() == name.casefold() and pull["state"] == "open":
            return pull
    raise NotOurs("no open pull request has what was linted as its head")


def _believed(
    found: Result, head: str, checkout: str | None, diff: Diff
) -> tuple[list[Found], dict[Found, Any], tuple[str, ...]]:
    """Return the findings to tell about, what mends them, and in words what was left out."""
    left_out = []
    if found.unknown:
        left_out.append(f"{_findings(len(found.unknown))} of rules that this version does not know: left out")
    if found.outside:
        left_out.append(f"{_findings(found.outside)} in files outside of what was linted: left out")
    if checkout is None:
        return list(found.findings), {}, tuple(left_out)
    own = own_lint.confirmed(checkout, head, found, diff)
    seen = {finding.key for finding in own.findings}
    others = [finding for finding in found.findings if finding.key not in seen]
    return sorted([*own.findings, *others]), own.remedies, tuple(left_out)


def _check_run(run: CheckRun, done: Done) -> None:
    try:
        done.lines.append(f"check run: {run.post()}")
    except Refused as refused:
        if refused.status not in (403, 404, 422):
            raise
        may_not = "the token may not write checks (permission `checks: write`)"
        done.notes.append(f"no check run: {'GitHub refuses its content' if refused.status == 422 else may_not}")


def _digest(head: str, findings: Iterable[Found], threshold: Severity | None = None) -> str:
    """Return what tells one result from another."""
    lines = [f"{f.path}\0{f.line}\0{f.code}\0{f.fingerprint}" for f in sorted(findings)]
    return digest("\n".join([head, str(threshold), *lines]).encode())[:16]


def _findings(count: int) -> str:
    return f"{count} finding{'s' * (count != 1)}"
