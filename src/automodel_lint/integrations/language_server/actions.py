"""Code actions: the repair of a finding, all safe repairs of a file, and comments that silence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types

from automodel_lint.findings import Finding
from automodel_lint.fixes.draft import Change, Draft, NotEditable
from automodel_lint.fixes.edits import Proposal, combined, proposed
from automodel_lint.fixes.shapes import safety
from automodel_lint.fixes.suppressing import can_be_ignored, ignoring, with_noqa
from automodel_lint.integrations.language_server.diagnostics import diagnostic
from automodel_lint.integrations.language_server.positions import Positions
from automodel_lint.source import encoded

FIX_ALL = "source.fixAll.automodel-lint"
KINDS = (types.CodeActionKind.QuickFix.value, FIX_ALL)
REASON = "TODO: why this is right"


@dataclass(frozen=True)
class Text:
    """A buffer in the state that its findings were found in."""

    uri: str
    version: int | None
    text: str
    positions: Positions
    with_version: bool = True  # whether the client takes edits that name the version they are for


def actions(
    text: Text,
    findings: Sequence[Finding],
    span: tuple[tuple[int, int], tuple[int, int]],
    only: Iterable[str] | None,
    unsafe: bool,
) -> list[types.CodeAction]:
    """Return what can be done about the findings that ``span`` touches (two places), of the kinds asked for."""
    try:
        draft = Draft(encoded(text.text))
    except NotEditable:
        return []
    if draft.text != text.text:  # a byte order mark: offsets would not be those of the buffer
        return []
    wanted = [kind for kind in KINDS if _is_wanted(kind, only)]
    found: list[types.CodeAction] = []
    if types.CodeActionKind.QuickFix.value in wanted:
        here = [f for f in findings if _touches(f, span)]
        for finding in here:
            found += _repairs(text, draft, finding, unsafe)
        for finding in here:
            found += _comments(text, draft, finding)
    if FIX_ALL in wanted and (only is not None or any(safety(f) == "safe" for f in findings if _touches(f, span))):
        found += _all_repairs(text, draft, findings)
    return found


def _is_wanted(kind: str, only: Iterable[str] | None) -> bool:
    return only is None or any(f"{kind}.".startswith(f"{asked}.") or not asked for asked in only)


def _touches(finding: Finding, span: tuple[tuple[int, int], tuple[int, int]]) -> bool:
    start, end = (finding.span.line, finding.span.column), (finding.span.end_line, finding.span.end_column)
    return start <= span[1] and span[0] <= end


def _repairs(text: Text, draft: Draft, finding: Finding, unsafe: bool) -> Iterator[types.CodeAction]:
    is_safe = safety(finding) == "safe"
    if finding.repair is None or not (is_safe or unsafe):
        return
    for proposal in _made(draft, [finding]):
        title = finding.repair.title if is_safe else f"{finding.repair.title} (unsafe: look at the result)"
        yield types.CodeAction(
            title=f"{finding.code}: {title}",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic(finding, text.positions)],
            is_preferred=True if is_safe else None,
            edit=_edit(text, draft, proposal.changes),
        )


def _made(draft: Draft, findings: Sequence[Finding]) -> list[Proposal]:
    """The repairs of findings that can be made, and made together; none where the text does not parse."""
    try:
        return combined(draft, proposed(draft, findings)[0])[0]
    except NotEditable:
        return []


def _all_repairs(text: Text, draft: Draft, findings: Sequence[Finding]) -> Iterator[types.CodeAction]:
    proposals = _made(draft, [f for f in findings if safety(f) == "safe"])
    if proposals:
        yield types.CodeAction(
            title="automodel-lint: make all safe repairs of this file",
            kind=FIX_ALL,
            edit=_edit(text, draft, {change for proposal in proposals for change in proposal.changes}),
        )


def _comments(text: Text, draft: Draft, finding: Finding) -> Iterator[types.CodeAction]:
    if not can_be_ignored(finding):
        return
    try:
        ways = (
            (f"Ignore {finding.code} here, with a reason", ignoring(draft, [finding], REASON)),
            (f"Ignore {finding.code} on this line (# noqa)", [with_noqa(draft, finding)]),
        )
    except NotEditable:
        return
    for title, changes in ways:
        yield types.CodeAction(
            title=title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic(finding, text.positions)],
            edit=_edit(text, draft, changes),
        )


def _edit(text: Text, draft: Draft, changes: Iterable[Change]) -> types.WorkspaceEdit:
    edits = [types.TextEdit(text.positions.range(draft.span(c)), c.text) for c in sorted(changes)]
    if not text.with_version:
        return types.WorkspaceEdit(changes={text.uri: edits})
    document = types.OptionalVersionedTextDocumentIdentifier(uri=text.uri, version=text.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, [*edits])])
