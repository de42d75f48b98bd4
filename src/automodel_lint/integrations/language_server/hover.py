"""What is shown where the mouse rests: the page of a rule, shortened."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from automodel_lint.findings import Finding
from automodel_lint.pages import Page, pages

_CODE = re.compile(r"\bNAM[0-9]{3}\b")
_EXAMPLE = re.compile(r"^### (?P<heading>[^\n]+)\n+```python[^\n]*\n(?P<code>.*?)^```$", re.M | re.S)
_FIRST = re.compile(r"^```python[^\n]*\n(?P<code>.*?)^```$", re.M | re.S)
_MOST_LINES = 14


def codes_at(line: str, place: tuple[int, int], findings: Iterable[Finding]) -> list[str]:
    """Return the codes of rules that a place is about: those written there, else those of the findings there."""
    column = place[1] - 1
    written = [m[0] for m in _CODE.finditer(line) if m.start() <= column <= m.end()]
    found = [f.code for f in findings if (f.span.line, f.span.column) <= place <= (f.span.end_line, f.span.end_column)]
    return [code for code in dict.fromkeys(written or found) if code in pages()]


def text_of(codes: Iterable[str]) -> str:
    """Return the pages of rules, shortened, as Markdown."""
    return "\n\n---\n\n".join(_shortened(pages()[code]) for code in codes)


def _shortened(page: Page) -> str:
    parts = [f"**{page.code}** `{page.name}` ({page.severity})", page.sections["What it checks"].strip()]
    parts.append(f"**Why it matters.** {page.sections['Why it matters'].strip()}")
    parts += _example(page)
    if page.fix != "none":
        parts.append(f"**Repair: {page.fix}.** {page.sections['Fix safety'].strip()}")
    parts.append(f"[The whole page]({page.url})")
    return "\n\n".join(parts)


def _example(page: Page) -> list[str]:
    """The first bad example against the good one of the same heading: the lines that differ."""
    bad = _EXAMPLE.search(page.sections["Bad"])
    good = {m["heading"]: m["code"] for m in _EXAMPLE.finditer(page.sections["Good"])}
    if bad is not None and bad["heading"] in good:
        old, new = (_uncommented(text).splitlines() for text in (bad["code"], good[bad["heading"]]))
        lines = [line for line in list(difflib.unified_diff(old, new, n=2, lineterm=""))[2:] if line[:2] != "@@"]
        return [_fenced("diff", lines)]
    first = bad or _FIRST.search(page.sections["Bad"])
    if first is None:
        return []
    lines = first["code"].splitlines()
    at = next((number for number, line in enumerate(lines) if page.code in line), 0)
    return [_fenced("python", lines[max(at - 3, 0) : at + 4])]


def _uncommented(code: str) -> str:
    return re.sub(r"  # NAM[0-9]{3}.*$", "", code, flags=re.M)


def _fenced(language: str, lines: list[str]) -> str:
    shown = lines if len(lines) <= _MOST_LINES else [*lines[:_MOST_LINES], "…"]
    return "\n".join((f"```{language}", *shown, "```"))
