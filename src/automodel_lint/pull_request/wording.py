"""What is written on a pull request. All prose comes from the rule pages that are installed here."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from automodel_lint.findings import Severity
from automodel_lint.pages import Page, pages
from automodel_lint.pull_request.markdown import code_block, code_span, folded, link_to, prose
from automodel_lint.pull_request.markers import CommentMark, SummaryMark
from automodel_lint.pull_request.plan import Plan
from automodel_lint.pull_request.result import Found
from automodel_lint.pull_request.suggestions import Suggestion

LONGEST = 65_000  # bytes; GitHub takes 65,536 characters
MOST_LISTED = 200
MOST_FOLDS = 8
NO_ADVICE = ("NAM000", "NAM002", "NAM920")  # their messages end with something else
OUTDATED = "_Outdated: a {newer} tells what is found now._"
GONE = "No longer found."


@dataclass
class Setting:
    """What texts need to know beside the plan: where the code is shown, which commit it is, what was left out."""

    server: str
    repository: str
    head: str
    remedies: dict[Found, Suggestion | None] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    def place(self, found: Found) -> str:
        """Return a link to the line of a finding."""
        url = f"{self.server}/{self.repository}/blob/{self.head}/{link_to(found.path)}#L{found.line}"
        return f"[{code_span(f'{found.path}:{found.line}')}]({url})"

    @property
    def commit(self) -> str:
        """A link to the commit that was linted."""
        return f"[`{self.head[:7]}`]({self.server}/{self.repository}/commit/{self.head})"


def how_to(page: Page) -> str | None:
    """Return what a rule's message says is to be written, ``None`` where only the finding's own message would."""
    parts = re.split(r"[:;] (?=[^`]*(?:`[^`]*`[^`]*)*$)", page.message)
    advice = parts[-1] if len(parts) > 1 else ""
    blank = re.sub(r"\{[a-z_]+(?:![rs])?\}", "…", advice.replace("{{", "\0").replace("}}", "\1"))
    text = blank.replace("\0", "{").replace("\1", "}")
    outside = re.sub(r"`[^`]*`", "", text)
    return text if text and "…" not in outside and text != "write `…`" and page.code not in NO_ADVICE else None


def headline(page: Page) -> str:
    """Return severity, code and name of a rule, with a link to its page."""
    return f"**{page.severity}** [{page.code} {page.name}]({page.url})"


# -- one comment ----------------------------------------------------------------------------------------------------


def comment(found: Found, setting: Setting) -> dict[str, Any]:
    """Return an inline comment as the API takes it."""
    page = pages()[found.code]
    suggestion = setting.remedies.get(found)
    parts = [str(CommentMark(found.code, found.fingerprint)), headline(page), prose(page.summary)]
    advice = how_to(page)
    if advice:
        parts.append(f"**What to do:** {prose(advice)}.")
    if suggestion:
        parts.append(code_block(suggestion.text, "suggestion"))
    elif found in setting.remedies:
        parts.append(f"`automodel-lint check --fix --select {page.code}` repairs it; that takes more than these lines.")
    parts.append(folded("Why it matters", prose(page.sections["Why it matters"])))
    if not advice and not suggestion:
        parts += [folded("What is right, for example", example) for example in right(page)]
    anchor: dict[str, Any] = {
        "path": found.path,
        "line": suggestion.last if suggestion else found.line,
        "side": "RIGHT",
    }
    if suggestion and suggestion.first < suggestion.last:
        anchor |= {"start_line": suggestion.first, "start_side": "RIGHT"}
    return {**anchor, "body": "\n\n".join(parts)}


def gone(mark: CommentMark, body: str, commit: str) -> str:
    """Return the text of a comment whose finding is not there any more; what was answered stays to be read."""
    old = body.partition("-->")[2].strip()
    return "\n\n".join([str(CommentMark(mark.code, mark.fingerprint, gone=True)), f"{GONE} ({commit})", old])


# -- the summary ----------------------------------------------------------------------------------------------------


def summary(plan: Plan, setting: Setting, digest: str) -> str:
    """Return the body of a review: what is found in all, by rule, what has no comment, and what the rules are about."""
    told = {
        "inline": [f.fingerprint for f in (*plan.post, *plan.standing)],
        "off": [f.fingerprint for f in plan.off],
        "rest": [f.fingerprint for f in plan.rest],
    }
    parts = [str(SummaryMark.made(digest, told)), _opening(plan, setting)]
    if plan.findings:
        parts.append(table(plan.findings))
    parts += [f"_{text}_" for text in setting.left_out]
    room = LONGEST - len("\n\n".join(parts).encode())
    for heading, found in (
        ("On changed lines, without a comment", plan.rest),
        ("On lines that this pull request does not change", plan.off),
    ):
        if found:
            text = _listed(heading, found, setting, room * 2 // 3)
            room -= len(text.encode()) + 2
            parts.append(text)
    return "\n\n".join([*parts, *_details(plan.findings, room)])


def _opening(plan: Plan, setting: Setting) -> str:
    findings = plan.findings
    if not findings:
        return f"**automodel-lint** finds nothing any more in {setting.commit}."
    text = f"**automodel-lint** finds {counted(findings)} in {setting.commit}"
    inline = len(plan.post) + len(plan.standing)
    return f"{text}: {inline} commented on the lines, {len(findings) - inline} listed here."


def counted(findings: Iterable[Found]) -> str:
    """Return ``2 errors and 1 warning``."""
    counts = Counter(pages()[found.code].severity for found in findings)
    words = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
    parts = [f"{counts[s]} {words[s]}{'s' * (counts[s] != 1)}" for s in words if counts[s]]
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1] if parts else "nothing"


def table(findings: Sequence[Found]) -> str:
    """Return the number of findings by rule, the most severe first, as a table."""
    counts = Counter(found.code for found in findings)
    rows = ["| Rule | | Severity | Findings |", "| --- | --- | --- | ---: |"]
    for page in _by_weight(counts):
        rows.append(f"| [{page.code}]({page.url}) | {page.name} | {page.severity} | {counts[page.code]} |")
    return "\n".join(rows)


def _by_weight(codes: Iterable[str]) -> list[Page]:
    return sorted((pages()[code] for code in set(codes)), key=lambda page: (-page.severity, page.code))


def _listed(heading: str, findings: Sequence[Found], setting: Setting, room: int) -> str:
    lines: list[str] = []
    for found in findings[:MOST_LISTED]:
        page = pages()[found.code]
        line = f"- {setting.place(found)} {page.severity} [{page.code}]({page.url}) {page.name}"
        room -= len(line.encode()) + 1
        if room < 200:
            break
        lines.append(line)
    if len(lines) < len(findings):
        lines.append(f"- … and {len(findings) - len(lines)} more, which the check run and `automodel-lint check` show")
    title = f"{heading} ({len(findings)})"
    return folded(title, "\n".join(lines)) if len(findings) > 10 else f"**{title}**\n\n" + "\n".join(lines)


def _details(findings: Sequence[Found], room: int) -> list[str]:
    """What the rules are about, for as many as there is room for."""
    told: list[str] = []
    ordered = _by_weight(found.code for found in findings)
    for page in ordered:
        text = folded(f"{page.code} {page.name}: why, and what is right", explained(page))
        room -= len(text.encode()) + 2
        if room < 1000:  # the names of all that is left out fit into that
            break
        told.append(text)
    if len(told) < len(ordered):
        left = ", ".join(f"`{page.code}`" for page in ordered[len(told) :])
        told.append(f"`automodel-lint explain CODE` tells of {left}.")
    if len(told) > MOST_FOLDS:
        return [folded(f"What the {len(ordered)} rules are about", "\n\n".join(told))]
    return told


def explained(page: Page) -> str:
    """Return what a page says of its rule, with its first example of how it is right."""
    parts = [prose(page.sections["What it checks"]), prose(page.sections["Why it matters"])]
    parts += [f"Right is, for example:\n\n{example}" for example in right(page)]
    return "\n\n".join(parts)


def right(page: Page) -> list[str]:
    """Return a page's first example of how it is right as a block of code, if it has one."""
    bad, good = (_blocks(page.sections[section]) for section in ("Bad", "Good"))
    return [code_block(essence(code), "python") for code in good if code not in bad][:1]


def _blocks(section: str) -> list[str]:
    return re.findall(r"^```python[^\n]*\n(.*?)^```$", section, re.M | re.S)


def essence(code: str) -> str:
    """Return code without the imports in front of its first class or function."""
    body = ast.parse(code).body
    first = next((node for node in body if not isinstance(node, (ast.Import, ast.ImportFrom))), None)
    if not isinstance(first, (ast.ClassDef, ast.FunctionDef)):
        return code.strip()
    start = min([first.lineno, *(decorator.lineno for decorator in first.decorator_list)])
    return "\n".join(code.split("\n")[start - 1 :]).strip()


def outdated(url: str | None) -> str:
    """Return what a summary says once there is a newer one; without a mark, so that it is not looked at again."""
    return OUTDATED.format(newer=f"[newer summary]({url})" if url else "newer summary")
