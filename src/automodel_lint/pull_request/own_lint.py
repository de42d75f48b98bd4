"""Our own look at a checkout of the pull request's head: which findings are really there, and what mends them.

Nothing of the checkout is run, and nothing outside of it is read but what we would read for anybody: the checkout may
come from somebody hostile. So the interpreter that its settings name is not asked, and a link that leads out of it
leads nowhere.
"""

from __future__ import annotations

import os
import posixpath
import sys
from dataclasses import dataclass, replace

from automodel_lint.findings import Finding
from automodel_lint.fixes.edits import with_edits
from automodel_lint.fixes.shapes import safety
from automodel_lint.pull_request.diff import Diff
from automodel_lint.pull_request.result import Found, Result
from automodel_lint.pull_request.suggestions import Suggestion, suggested
from automodel_lint.request import Request, UsageError
from automodel_lint.session import Session
from automodel_lint.source import SourceTree, decoded
from automodel_lint.work_tree import work_tree


@dataclass(frozen=True)
class Confirmed:
    """The findings that are really there, at the lines where we find them, and what of them a safe repair mends.

    ``remedies`` has the suggestion for a finding, ``None`` where its repair does not fit into one.
    """

    findings: tuple[Found, ...]
    remedies: dict[Found, Suggestion | None]


def confirmed(folder: str, head: str, result: Result, diff: Diff) -> Confirmed:
    """Lint the checkout in ``folder`` and return what of a result is confirmed.

    Raises:
        UsageError: if it is no checkout of the commit ``head``, or cannot be linted.
    """
    top = os.path.realpath(folder)
    place = work_tree(top) if os.path.exists(os.path.join(top, ".git")) else None
    if place is None or place.prefix:
        raise UsageError(f"{folder}: no work tree of git with a commit")
    if place.commit != head:
        raise UsageError(f"{folder}: not a checkout of {head}, the head of the pull request")
    if not result.findings:
        return Confirmed((), {})
    try:
        return _matched(top, result, diff)
    except Exception:  # whatever a hostile checkout brings about; the text may quote what was read
        raise UsageError(f"{folder}: cannot be linted; `automodel-lint check` there says why") from None


def _matched(top: str, result: Result, diff: Diff) -> Confirmed:
    asked = sorted({found.code for found in result.findings})
    request = Request(
        paths=[os.path.join(top, *result.prefix.split("/")) if result.prefix else top],
        python=sys.executable,
        extend_select=asked,
        cache=False,
    )
    session = _Session(top, request)
    report = session.run()
    prefix = os.path.relpath(session.checkout.root, top).replace(os.sep, "/")
    there = {}
    for finding in report.findings:
        path = posixpath.normpath(posixpath.join(prefix, finding.path))
        there[finding.code, path, finding.fingerprint] = finding
    pairs = [(found, there.get((found.code, found.path, found.fingerprint))) for found in result.findings]
    held = [(replace(found, line=own.span.line), own) for found, own in pairs if own]
    mended = with_edits([own for _, own in held], lambda path: report.tree.read(report.tree.absolute(path)))
    remedies = {}
    for (found, _), own in zip(held, mended, strict=True):
        if own.edits and safety(own) == "safe":
            remedies[found] = _suggestion(found, own, report.tree, diff)
    return Confirmed(tuple(found for found, _ in held), remedies)


def _suggestion(found: Found, own: Finding, tree: SourceTree, diff: Diff) -> Suggestion | None:
    text = decoded(tree.read(tree.absolute(own.path)) or b"")
    hunk = diff.around(found.path, found.line)
    return suggested(found.line, own.edits or (), text, hunk) if hunk else None


class _Session(Session):
    """A session that stays in one folder, whatever the settings in it say."""

    def __init__(self, top: str, request: Request):
        self.top = top
        super().__init__(request)
        if not all(_inside(folder, [top]) for folder in (self.checkout.root, self.checkout.package_dir)):
            raise UsageError("the package lies outside of the checkout")
        baseline = self.config.baseline
        if baseline and not _inside(self.config.absolute(baseline), [top]):
            raise UsageError("the baseline lies outside of the checkout")

    def _tree(self) -> SourceTree:
        return _Confined(self.checkout.root, [self.top, *self._outside()])


class _Confined(SourceTree):
    """Files of some folders; a path that leads anywhere else leads nowhere."""

    def __init__(self, root: str, folders: list[str]):
        super().__init__(root)
        self._folders = [os.path.realpath(folder) for folder in folders]

    def read(self, path: str) -> bytes | None:
        return super().read(path) if _inside(path, self._folders) else None

    def entries(self, path: str) -> list[str] | None:
        return super().entries(path) if _inside(path, self._folders) else None


def _inside(path: str, folders: list[str]) -> bool:
    real = os.path.realpath(path)
    return any(real == folder or real.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)
