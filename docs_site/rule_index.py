"""The table of all rules, with what the filter in ``theme/assets/rules.js`` looks at."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from automodel_lint.pages import FAMILIES, FIXES, Page

_COLUMNS = ("Code", "Name", "Severity", "Repair", "What it checks")
_SEVERITIES = ("error", "warning", "info")
_LABELS = {"none": "no repair", "safe": "safe repair", "unsafe": "unsafe repair"}

_HEAD = """\
# Rules

A rule is a contract of the framework. An *error* is a broken contract: the model can misbehave without a word. A
*warning* is one that is not met to the letter. An *info* is off until it is selected. `--fix` makes the *safe*
[repairs](../docs/repairs.md), `--fix --unsafe-fixes` the *unsafe* ones too.

"""


def render(rules: Iterable[Page]) -> str:
    """Return the page as Markdown."""
    families = by_family(rules)
    columns = "".join(f'<th scope="col">{name}</th>' for name in _COLUMNS)
    lines = [_form(families), "", '<table class="rules">', f"<thead><tr>{columns}</tr></thead>"]
    for title, family in families.items():
        anchor = family_of(family[0])[0].lower()
        head = f'<th colspan="{len(_COLUMNS)}" scope="rowgroup" id="{anchor}">{escape(title)}</th>'
        lines += [f'<tbody><tr class="family">{head}</tr>', *map(_row, family), "</tbody>"]
    return _HEAD + "\n".join([*lines, "</table>\n"])


def by_family(rules: Iterable[Page]) -> dict[str, list[Page]]:
    """Return the rules by the title of their family."""
    found: dict[str, list[Page]] = {}
    for rule in rules:
        found.setdefault(family_of(rule)[1], []).append(rule)
    return found


def family_of(rule: Page) -> tuple[str, str]:
    """Return the prefix of a rule's family, such as ``NAM2``, and its title."""
    prefix = rule.code[:4]
    return prefix, FAMILIES[prefix]


def chip(kind: str, value: str) -> str:
    """Return a severity (kind ``severity``) or a repair (kind ``fix``) as a coloured word."""
    return f'<span class="chip {kind}-{value}">{_LABELS.get(value, value) if kind == "fix" else value}</span>'


def inline(text: str) -> str:
    """Return plain text with code in backquotes, as rule pages have it, as HTML."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))


def _row(rule: Page) -> str:
    name = f"{rule.code}-{rule.name}"
    return (
        f'<tr data-code="{rule.code}" data-family="{family_of(rule)[0]}" data-severity="{rule.severity}" '
        f'data-fix="{rule.fix}"><td class="code"><a href="{name}/">{rule.code}</a></td>'
        f'<td class="name"><a href="{name}/">{rule.name}</a></td><td>{chip("severity", str(rule.severity))}</td>'
        f'<td>{chip("fix", rule.fix)}</td><td class="summary">{inline(rule.summary)}</td></tr>'
    )


def _form(families: dict[str, list[Page]]) -> str:
    """The filter. It is hidden until the script that serves it has run."""
    fields = [
        _select("family", "Family", {family_of(rules[0])[0]: title for title, rules in families.items()}),
        _select("severity", "Severity", {name: name for name in _SEVERITIES}),
        _select("fix", "Repair", {name: _LABELS[name] for name in FIXES}),
        '<label>Words <input type="search" name="text" placeholder="tied keys" autocomplete="off"></label>',
        '<button type="reset">Show all</button>',
    ]
    return (
        '<form class="rule-filter" role="search" aria-label="Filter the rules" hidden>'
        + "".join(fields)
        + '<p role="status" aria-live="polite"></p></form>'
    )


def _select(name: str, label: str, values: dict[str, str]) -> str:
    options = "".join(f'<option value="{value}">{escape(text)}</option>' for value, text in values.items())
    return f'<label>{label} <select name="{name}"><option value="">all</option>{options}</select></label>'
