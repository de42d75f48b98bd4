"""What remains, silenced by comments that give a reason."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from automodel_lint.findings import Finding
from automodel_lint.fixes.draft import Change, Draft, NotEditable
from automodel_lint.fixes.edits import applied
from automodel_lint.report import Report
from automodel_lint.request import Request
from automodel_lint.session import Session

_NEVER = ("NAM000", "NAM001", "NAM002", "NAM003")  # about the run, a comment or the settings: no comment silences them
_UNREADABLE = ("NAM814",)  # of a file whose text may be anything at that place
_NOQA = re.compile(r"# noqa:\s?[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*", re.I)


def suppressed(request: Request, reason: str) -> tuple[Report, dict[str, tuple[bytes, bytes]]]:
    """Return the report with every finding silenced that a comment can silence, and the files before and after.

    A comment stands on a line of its own above the line of the finding. Nothing is written.

    Raises:
        UsageError, ConfigError, CheckoutNotFound: as :class:`Session` does.
    """
    report = Session(request).run()
    files: dict[str, tuple[bytes, bytes]] = {}
    for path in dict.fromkeys(f.path for f in report.findings):
        here = [f for f in report.findings if f.path == path and can_be_ignored(f)]
        absolute = report.tree.absolute(path)
        if here:
            old = report.tree.read(absolute) or b""
            try:
                files[absolute] = (old, _commented(old, here, reason))
            except NotEditable:
                continue  # the finding remains, and is shown
    overlay = {**request.overlay, **{path: new for path, (_, new) in files.items()}}
    return Session(replace(request, overlay=overlay)).run(), files


def _commented(data: bytes, findings: list[Finding], reason: str) -> bytes:
    draft = Draft(data)
    return draft.encoded(applied(draft.text, ignoring(draft, findings, reason)))


def can_be_ignored(finding: Finding) -> bool:
    """Tell whether a comment can silence a finding."""
    if _is_python(finding):
        return finding.code not in _NEVER
    return finding.path.endswith((".yaml", ".yml")) and finding.code not in (*_NEVER, *_UNREADABLE)


def _is_python(finding: Finding) -> bool:
    return finding.path.endswith(".py")


def ignoring(draft: Draft, findings: Iterable[Finding], reason: str) -> list[Change]:
    """Return the comment lines, each above a line with findings, that silence these for a reason.

    In a file that is no Python, what stands on the line must begin there, as every key of a recipe does.

    Raises:
        NotEditable: if the file cannot be tokenized.
    """
    codes: dict[int, list[str]] = {}
    for finding in findings:
        line = finding.span.line
        offset = _above(draft, line) if _is_python(finding) else draft.starts[line - 1]
        codes.setdefault(offset, []).append(finding.code)
    changes = []
    for offset, found in codes.items():
        names = ", ".join(dict.fromkeys(sorted(found)))
        comment = f"{draft.indent_at(offset)}# automodel-lint: ignore[{names}] {reason}{draft.newline}"
        changes.append(Change(offset, offset, comment))
    return changes


def with_noqa(draft: Draft, finding: Finding) -> Change:
    """Return the ``# noqa`` that silences a finding, at the end of its line or joined to one that is there.

    Raises:
        NotEditable: if the file cannot be tokenized.
    """
    end = draft.line_end(draft.starts[finding.span.line - 1])
    end = _end_of_line(draft, end) if _is_python(finding) else end
    there = _NOQA.search(draft.text, draft.line_start(end), end)
    if there is not None:
        return Change(there.end(), there.end(), f",{finding.code}")
    comment = f"# noqa: {finding.code}"
    return Change(end, end, comment if draft.line_start(end) == end else f"  {comment}")


def _end_of_line(draft: Draft, end: int) -> int:
    """Return where flake8 looks for the comment of a line: behind a text over several lines, or a backslash."""
    inside = next((t for t in draft.tokens if t.start < end < t.end), None)
    if inside is not None:
        return _end_of_line(draft, draft.line_end(inside.end))
    below = draft.next_line(end)
    if draft.text[draft.line_start(end) : end].endswith("\\") and below > end and below < len(draft.text):
        return _end_of_line(draft, draft.line_end(below))
    return end


def _above(draft: Draft, line: int) -> int:
    """Return where a comment line can stand above a line: not inside a text, nor behind a backslash."""
    start = draft.starts[line - 1]
    inside = next((t for t in draft.tokens if t.start < start < t.end), None)
    if inside is not None and "\n" in inside.string:
        return _above(draft, draft.line_of(inside.start))
    before = draft.text[:start].rstrip("\r\n")
    return _above(draft, line - 1) if line > 1 and before.endswith("\\") else start
