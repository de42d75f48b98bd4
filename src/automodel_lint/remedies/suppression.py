"""Repair of an unused suppression (NAM001): the stale codes, or the whole comment, taken out."""

from __future__ import annotations

import re

from automodel_lint.findings import Span
from automodel_lint.repairs import Repair, remove_comment, repair, replace_text

_SEPARATOR = r"[,\s]+"


def without_codes(span: Span, text: str, match: re.Match[str], stale: list[str]) -> Repair | None:
    """Take ``stale`` codes out of a comment; with the last one its suppressing part goes, reason and all.

    ``span`` is where the comment stands, ``text`` the whole of it, ``match`` the suppressing part with its ``codes``.
    What is written before that part or behind a further ``#`` stays.
    """
    first, last = match.span("codes")
    codes = match["codes"]
    kept = [code for code in re.split(_SEPARATOR, codes.strip()) if code and code.upper() not in stale]
    title = f"Remove {' and '.join(stale)}"
    if kept:
        new = text[:first] + _less(codes, stale) + text[last:]
        return repair(title, replace_text(span, new))
    behind = text.find("#", match.end())
    rest = (text[: match.start()].rstrip(), text[behind:] if behind >= 0 else "")
    new = "  ".join(part for part in rest if part)
    return repair(title, replace_text(span, new) if new else remove_comment(span))


def _less(codes: str, stale: list[str]) -> str:
    """Take codes out of a list of them, each with one separator; the others stay as they are written."""
    for code in stale:
        word = re.escape(code)
        fewer = re.sub(rf"\b{word}\b{_SEPARATOR}(?=\S)", "", codes, count=1, flags=re.I)
        if fewer == codes:
            fewer = re.sub(rf"(?:{_SEPARATOR})?\b{word}\b", "", codes, count=1, flags=re.I)
        codes = fewer
    return codes
