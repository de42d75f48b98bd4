"""Comments that silence findings: ``# noqa`` as flake8 reads it, and our own form with a reason.

``# noqa: NAM206`` works on its line (on every line of a string or a backslash-continued line that it ends), as in
flake8. ``# automodel-lint: ignore[NAM206] reason`` works on its line, or alone on the line above a statement or an
entry. Only NAM codes are ever judged.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass, field

from automodel_lint.findings import Finding, Span
from automodel_lint.remedies.suppression import without_codes
from automodel_lint.repairs import Repair
from automodel_lint.source import SourceTree, decoded, split_lines

_NOQA = re.compile(r"# noqa(?::[\s]?(?P<codes>(?:[A-Z]+[0-9]+(?:[,\s]+)?)+))?", re.I)  # flake8's own
_OWN = re.compile(r"#\s*automodel-lint:\s*ignore(?:\[(?P<codes>[^\]]*)\])?")
_FILE = re.compile(r"# flake8[:=]\s*noqa(?::\s?(?P<codes>(?:[A-Z]+[0-9]+(?:[,\s]+)?)+))?\s*$", re.I)


@dataclass
class Comment:
    """One suppressing comment: the codes it names (none means all), the lines it works on, where it stands, and why."""

    codes: tuple[str, ...]
    first: int
    last: int
    span: Span
    own: bool = False
    reason: str = ""
    used: set[str] = field(default_factory=set)

    def covers(self, finding: Finding) -> bool:
        """Tell whether the comment silences a finding, and remember which of its codes did."""
        if not self.first <= finding.span.line <= self.last:
            return False
        if not self.codes:
            return not self.own
        fitting = [c for c in self.codes if finding.code.startswith(c)]
        self.used.update(fitting)
        return bool(fitting)


@dataclass
class Suppressions:
    """The suppressing comments of one file; ``everything`` where the whole file is out (``# flake8: noqa``)."""

    comments: list[Comment]
    everything: bool = False

    def covers(self, finding: Finding) -> bool:
        """Tell whether some comment silences a finding (every one that does is marked as used)."""
        return any([comment.covers(finding) for comment in self.comments]) or self.everything

    def reason(self, finding: Finding) -> str:
        """Return the reason that a comment which silences a finding gives; empty if none does."""
        return next((c.reason for c in self.comments if c.reason and c.covers(finding)), "")


_OURS = re.compile(rb"noqa[^\n]*NAM[0-9]", re.I)
_BLANKET = re.compile(rb"# noqa(?!:\s?[A-Z]+[0-9])|# flake8[:=]\s*noqa", re.I)


def may_suppress(data: bytes, has_findings: bool) -> bool:
    """Tell without tokenizing whether source text can hold a comment of interest.

    One that names our codes always is (it may be stale); one without codes only where there is something to silence.
    """
    if b"automodel-lint:" in data:
        return True
    if has_findings:
        return bool(_OURS.search(data) or _BLANKET.search(data))
    return any(word in data for word in (b"noqa", b"NOQA", b"NoQA")) and bool(_OURS.search(data))


def read(data: bytes, path: str = "") -> Suppressions:
    """Find the suppressing comments in a file's text. Python that cannot be tokenized has those up to the fault."""
    if path.endswith((".yaml", ".yml")):
        return _in_yaml(decoded(data))
    reader = _Reader(decoded(data))
    try:
        for token in tokenize.generate_tokens(io.StringIO(reader.text).readline):
            reader.token(token)
    except (tokenize.TokenError, SyntaxError):
        pass
    return Suppressions(reader.found, reader.everything)


def _in_yaml(text: str) -> Suppressions:
    """Find the suppressing comments of a YAML file; one alone on its line is about the next line that is none."""
    from automodel_lint.inference.yaml_document import comments

    found, everything, waiting = [], False, []
    lines = split_lines(text)
    by_line = {span.line: (comment, span) for comment, span in comments(text)}
    for number, line in enumerate(lines, 1):
        comment, span = by_line.get(number, ("", Span()))
        alone = bool(comment) and not line[: span.column - 1].strip()
        if line.strip() and not alone and not line.lstrip().startswith("#"):
            for one in waiting:
                one.last = number
            waiting = []
        whole, own, noqa = (pattern.search(comment) for pattern in (_FILE, _OWN, _NOQA))
        if whole and alone:
            everything = everything or not whole["codes"]
            found += [Comment(_split(whole["codes"]), 1, len(lines), span)] if whole["codes"] else []
        elif own or noqa:
            one = Comment(_split((own or noqa)["codes"] or ""), number, number, span, own=bool(own))  # type: ignore[index]
            found.append(one)
            waiting += [one] if own and alone else []
    return Suppressions(found, everything)


class _Reader:
    """Collects comments while tokens go by, a physical line (as flake8 groups them) at a time."""

    def __init__(self, text: str):
        self.text = text
        self._lines = text.splitlines()
        self.found: list[Comment] = []
        self.everything = False
        self._line: list[tokenize.TokenInfo] = []
        self._statement_start = 0
        self._alone: list[Comment] = []  # own comments on lines of their own, waiting for what they are about

    def token(self, token: tokenize.TokenInfo) -> None:
        """Take the next token."""
        if token.type in (tokenize.DEDENT, tokenize.INDENT, tokenize.ENDMARKER):
            return
        self._line.append(token)
        if token.type in (tokenize.NL, tokenize.NEWLINE):
            self._end_of_line(token.type == tokenize.NEWLINE)
            self._line = []

    def _end_of_line(self, ends_statement: bool) -> None:
        first = self._line[0].start[0]
        last = max((t.end[0] for t in self._line if t.string.strip("\r\n")), default=first)
        comment = next((t for t in self._line if t.type == tokenize.COMMENT), None)
        code = [t for t in self._line if t.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE)]
        if code:
            self._settle(code[0], first, last, ends_statement)
        if comment is not None:
            self._comment(comment, first, last, alone=not code)

    def _settle(self, head: tokenize.TokenInfo, first: int, last: int, ends_statement: bool) -> None:
        """Tell waiting comments how far the statement or entry that they stand above reaches."""
        if not self._statement_start:
            self._statement_start = first
        for comment in self._alone:
            comment.first, comment.last = min(comment.first, first), max(comment.last, last)
        inside_entry = self._alone and self._alone[0].span.line >= self._statement_start
        if inside_entry or (ends_statement and head.string != "@" and not self._decorates()):
            self._alone = []
        if ends_statement:
            self._statement_start = 0

    def _decorates(self) -> bool:
        start = self._statement_start
        return bool(start) and start <= len(self._lines) and self._lines[start - 1].lstrip().startswith("@")

    def _comment(self, token: tokenize.TokenInfo, first: int, last: int, alone: bool) -> None:
        span = Span(token.start[0], token.start[1] + 1, token.end[0], token.end[1] + 1)
        whole = _FILE.search(token.string) if alone else None
        if whole:
            if whole["codes"]:
                self.found.append(Comment(_split(whole["codes"]), 1, self.text.count("\n") + 1, span))
            else:
                self.everything = True
            return
        own = _OWN.search(token.string)
        if own:
            reason = token.string[own.end() :].partition("#")[0].strip()
            comment = Comment(_split(own["codes"] or ""), first, last, span, own=True, reason=reason)
            self.found.append(comment)
            if alone:
                comment.first, comment.last = first, first
                self._alone.append(comment)
            return
        noqa = _NOQA.search(token.string)
        if noqa:
            reason = token.string[noqa.end() :].strip(" \t-:–—")
            self.found.append(Comment(_split(noqa["codes"] or ""), first, last, span, reason=reason))


def _split(text: str) -> tuple[str, ...]:
    return tuple(code.upper() for code in re.split(r"[,\s]+", text.strip()) if code)


def unused(
    tree: SourceTree, path: str, suppressions: Suppressions, known: Iterable[str], judged: Iterable[str]
) -> list[Finding]:
    """Return NAM001 for every NAM code that silenced nothing.

    ``known`` are all rule codes (any other NAM code never fires), ``judged`` those that ran: a code that was not asked
    about is not judged.
    """
    known, judged = set(known), set(judged)
    findings = []
    for comment in suppressions.comments:
        if comment.own and not comment.codes:
            why = (("why", "it names no code"), ("advice", "write `ignore[NAM…] reason`"))
            findings.append(Finding(tree.relative(path), comment.span, fields=why, code="NAM001"))
            continue
        stale = [
            code
            for code in comment.codes
            if code.startswith("NAM")
            and code not in comment.used
            and (not any(k.startswith(code) for k in known) or any(j.startswith(code) for j in judged))
        ]
        if stale:
            it = "the comment" if len(stale) == len(comment.codes) else "the code" if len(stale) == 1 else "these codes"
            fields = (("why", f"{' and '.join(stale)} would not fire here"), ("advice", f"remove {it}"))
            mended = _without(tree.text_at(path, comment.span), comment, stale)
            findings.append(Finding(tree.relative(path), comment.span, fields=fields, code="NAM001", repair=mended))
    return findings


def _without(text: str, comment: Comment, stale: list[str]) -> Repair | None:
    """What takes stale codes out of a comment of this text."""
    match = next((m for pattern in (_FILE, _OWN, _NOQA) if (m := pattern.search(text)) and m["codes"]), None)
    return None if match is None else without_codes(comment.span, text, match, stale)
