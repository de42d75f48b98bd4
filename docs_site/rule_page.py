"""A rule's page as the site shows it: its table as a head, each *Bad* beside its *Good*, how to silence it."""

from __future__ import annotations

import difflib
import re
from html import escape

from rule_index import chip, family_of, inline

from automodel_lint.findings import Severity
from automodel_lint.pages import Page

_FENCE = re.compile(r"^```(?P<head>[^\n]*)\n(?P<text>.*?)^```[ ]*$", re.M | re.S)
_COMMENT = re.compile(r'(<span class="c1">[^<]*?)(#(?: NAM\d{3}(?: \(\w+\))?)+)</span>')
_ANNOUNCED = re.compile(r"#(?: NAM\d{3}(?: \(\w+\))?)+[ ]*$", re.M)
_ALSO = "Also fine: "
_WEIGHED = {
    Severity.ERROR: '{} = "warning"    # "info" switches it off',
    Severity.WARNING: '{} = "error"    # "info" switches it off',
    Severity.INFO: '{} = "warning"    # switches it on',
}


def render(rule: Page) -> str:
    """Return the page as Markdown for the site."""
    parts = [f"# {rule.code} {rule.name}\n", _head(rule)]
    sections = dict(rule.sections)
    bad, good = _examples(sections.pop("Bad")), _examples(sections.pop("Good"))
    for heading, body in sections.items():
        if heading == "Fix safety":
            parts += _paired(bad, good) if _pairs(bad, good) else [_plain("Bad", bad), _plain("Good", good)]
        parts.append(f"## {heading}\n{body}")
    parts.append(_silencing(rule))
    return "\n".join(parts)


def finished(html: str) -> str:
    """Mark the comments that announce a finding, and keep code, which is alike everywhere, out of the search."""
    html = html.replace('<div class="highlight', '<div data-search-exclude class="highlight')
    return _COMMENT.sub(r'\1<mark class="announced">\2</mark></span>', html)


# -- the head -------------------------------------------------------------------------------------------------------


def _head(rule: Page) -> str:
    family, title = family_of(rule)
    facts = {
        "Severity": chip("severity", str(rule.severity)),
        "Repair": chip("fix", rule.fix),
        "Family": f'<a href="../?family={family}">{escape(title)}</a>',
        "Since": escape(rule.since),
        "Source": escape(rule.source),
    }
    cells = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts.items())
    message = f'<p class="rule-message"><span>Says</span> {_message(rule.message)}</p>'
    return f'<div class="rule-head">\n<dl data-search-exclude>{cells}</dl>\n{message}\n</div>\n'


def _message(template: str) -> str:
    """The message with its fields marked."""
    text = inline(template.replace("{{", "\0").replace("}}", "\1"))
    text = re.sub(r"\{(\w+)[^}]*\}", r"<var>\1</var>", text)
    return text.replace("\0", "{").replace("\1", "}")


# -- examples -------------------------------------------------------------------------------------------------------


def _examples(section: str) -> dict[str, str]:
    """The examples of a section by their headings; what stands before the first heading has none."""
    parts = re.split(r"^### (.+)$", section, flags=re.M)
    found = {"": parts[0]} if parts[0].strip() else {}
    return found | {heading.strip(): body for heading, body in zip(parts[1::2], parts[2::2], strict=True)}


def _pairs(bad: dict[str, str], good: dict[str, str]) -> list[str]:
    return [heading for heading in bad if all(_FENCE.search(side.get(heading, "")) for side in (bad, good))]


def _paired(bad: dict[str, str], good: dict[str, str]) -> list[str]:
    """Each *Bad* with the *Good* of the same heading in tabs, then the rest of *Good*."""
    parts = ["## Bad and good\n"]
    both = _pairs(bad, good)
    for heading, body in bad.items():
        parts.append(f"### {heading}\n" if heading else "")
        parts.append(_tab("Bad", _lit(body)))
        if heading in both:
            parts.append(_tab("Good", _lit(good[heading], body)))
    rest = {heading: body for heading, body in good.items() if heading not in both}
    if rest:
        parts.append(_plain("Also fine", {heading.removeprefix(_ALSO): body for heading, body in rest.items()}))
    return parts


def _tab(title: str, body: str) -> str:
    lines = [f"    {line}" if line.strip() else "" for line in body.strip().splitlines()]
    return "\n".join([f'=== "{title}"', "", *lines, ""])


def _plain(title: str, examples: dict[str, str]) -> str:
    """A section with its examples one after the other; a heading begins with a capital letter."""
    parts = [f'## {title}\n\n<div class="{"bad" if title == "Bad" else "good"}" markdown>\n']
    for heading, body in examples.items():
        parts.append(f"### {heading[0].upper()}{heading[1:]}\n" if heading else "")
        parts.append(_lit(body))
    return "\n".join([*parts, "</div>\n"])


def _lit(body: str, before: str | None = None) -> str:
    """Light up, in every block, the lines that announce a finding, or those that differ from the block ``before``."""
    others = {block["head"]: block["text"] for block in _FENCE.finditer(before or "")}

    def block(match: re.Match[str]) -> str:
        lines = match["text"].splitlines()
        if before is None:
            numbers = [number for number, line in enumerate(lines, 1) if _ANNOUNCED.search(line)]
        else:
            numbers = _changed(others.get(match["head"], ""), lines)
        lit = f' hl_lines="{" ".join(map(str, numbers))}"' if numbers else ""
        return f"```{match['head'].strip()}{lit}\n{match['text']}```"

    return _FENCE.sub(block, body)


def _changed(before: str, lines: list[str]) -> list[int]:
    """The numbers of the lines that are new; none where there is nothing to compare with."""
    old = _ANNOUNCED.sub("", before).splitlines()
    matcher = difflib.SequenceMatcher(None, [line.rstrip() for line in old], lines, autojunk=False)
    changes = [number for tag, _, _, start, end in matcher.get_opcodes() if tag != "equal"
               for number in range(start + 1, end + 1) if lines[number - 1].strip()]  # fmt: skip
    return changes if before else []


# -- silencing ------------------------------------------------------------------------------------------------------


def _silencing(rule: Page) -> str:
    command = "probe" if rule.is_probed else "check"
    lines = [
        "## Run, weigh or silence it\n",
        "```console",
        f"$ automodel-lint {command} --select {rule.code}    # this rule alone",
        f"$ automodel-lint explain {rule.code}           # this page, at the terminal",
        "```\n",
        "```toml",
        "[tool.automodel-lint.severity]",
        _WEIGHED[rule.severity].format(rule.code),
        "```\n",
    ]
    if not rule.code.startswith("NAM0"):
        lines += [
            "```python",
            f"# automodel-lint: ignore[{rule.code}] why it is right as it is",
            "```\n",
        ]
    links = "[Suppressing findings](../docs/suppressing.md) has exemptions for a class, and the baseline; "
    return "\n".join([*lines, links + "[configuration](../docs/configuration.md) all keys.\n"])
