"""The rules on the documentation site: a page each at its address, nothing lost, and the table with its filter."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import dukpy
import pytest

from automodel_lint.pages import FIXES, HEADINGS, SITE, Page, pages

from .built_site import Element, article, site
from .conftest import ROOT

RULES = list(pages().values())
BLOCK = re.compile(r"^```\w+(?: title=\"([^\"]+)\")?[ ]*\n(.*?)^```", re.M | re.S)
ANNOUNCED = re.compile(r"#(?: NAM\d{3}(?: \(\w+\))?)+[ ]*$", re.M)
SCRIPT = (ROOT / "docs_site" / "theme" / "assets" / "rules.js").read_text(encoding="utf-8")

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)


def shown(rule: Page) -> Element:
    return article(f"rules/{rule.code}-{rule.name}/index.html")


def blocks(element: Element) -> list[tuple[str, str]]:
    """The blocks of code below an element, each with its title."""
    found = []
    for block in element.all("div", "highlight"):
        titles = [title.text for title in block.all("span", "filename")]
        found.append((titles[0] if titles else "", block.one("code").text))
    return found


def written(rule: Page) -> list[tuple[str, str]]:
    return [(title, text) for section in ("Bad", "Good") for title, text in BLOCK.findall(rule.sections[section])]


def words(text: str) -> str:
    """A text without its markup and line ends, to compare what is said."""
    return " ".join(re.sub(r"[`*>]|^- |^\d+\. |\[(.*?)\]\(.*?\)", r"\1", text, flags=re.M).split())


# -- pages ----------------------------------------------------------------------------------------------------------


@each_rule
def test_a_rule_has_its_page_where_findings_say(rule: Page) -> None:
    assert (site() / rule.url.removeprefix(f"{SITE}/") / "index.html").is_file()
    title = shown(rule).one("h1").children[0]
    assert title == f"{rule.code} {rule.name}"


@each_rule
def test_nothing_of_a_page_is_lost(rule: Page) -> None:
    said = words(shown(rule).text)
    for heading in HEADINGS:
        if heading in ("Bad", "Good"):
            continue
        prose = re.sub(r"^```.*?^```$", "", rule.sections[heading], flags=re.M | re.S)
        for paragraph in re.split(r"\n\n+|\n(?=- )", prose.strip()):
            assert words(paragraph) in said
    assert not Counter(written(rule)) - Counter(blocks(shown(rule)))


@each_rule
def test_the_table_of_a_page_is_shown_as_its_head(rule: Page) -> None:
    assert f'code = "{rule.code}"' not in shown(rule).text
    head = shown(rule).one("div", "rule-head")
    names = [name.text for name in head.all("dt")]
    facts = dict(zip(names, [value.text for value in head.all("dd")], strict=True))
    assert facts["Severity"] == str(rule.severity)
    assert facts["Repair"] == {"none": "no repair"}.get(rule.fix, f"{rule.fix} repair")
    assert (facts["Since"], facts["Source"]) == (rule.since, rule.source)
    fields = re.findall(r"(?<!\{)\{(\w+)", rule.message)
    message = head.one("p", "rule-message")
    assert [field.text for field in message.all("var")] == fields
    literal = re.sub(r"\{(\w+)[^}]*\}", r"\1", rule.message.replace("{{", "\0").replace("}}", "\1"))
    assert literal.replace("`", "").replace("\0", "{").replace("\1", "}") in message.text


@each_rule
def test_what_announces_a_finding_is_lit(rule: Page) -> None:
    announced = [comment.strip() for _, text in written(rule) for comment in ANNOUNCED.findall(text)]
    lit = [mark.text for line in shown(rule).all("span", "hll") for mark in line.all("mark", "announced")]
    assert Counter(lit) == Counter(announced)


def test_bad_and_good_of_one_heading_stand_beside_each_other() -> None:
    page = shown(pages()["NAM206"])
    sets = page.all("div", "tabbed-set")
    assert [[label.text for label in one.all("label")] for one in sets] == [["Bad", "Good"]] * 3
    for one in sets:
        bad, good = (block.one("code") for block in one.all("div", "tabbed-block"))
        assert "# NAM206" in bad.text and "# NAM206" not in good.text
        for line in good.all("span", "hll"):
            assert line.text not in bad.text.splitlines()
    (changed,) = sets[0].all("div", "tabbed-block")[1].all("span", "hll")
    assert changed.text.strip() == "reject_unsupported_tie_word_embeddings(type(self), config)"
    headings = [heading.children[0] for heading in page.all("h3")]
    assert headings.count("A sub-config") == 1 and "The config parameter has another name" in headings


# -- the table ------------------------------------------------------------------------------------------------------


def rows() -> list[Element]:
    return [row for row in article("rules/index.html").one("table").all("tr") if "data-code" in row.attributes]


def test_the_table_has_every_rule_once_in_the_order_of_the_codes() -> None:
    assert [row.attributes["data-code"] for row in rows()] == [rule.code for rule in RULES]


def test_a_row_says_and_filters_what_its_page_says() -> None:
    for row, rule in zip(rows(), RULES, strict=True):
        given = {key: row.attributes[f"data-{key}"] for key in ("family", "severity", "fix")}
        assert given == {"family": rule.code[:4], "severity": str(rule.severity), "fix": rule.fix}
        assert {link.attributes["href"] for link in row.all("a")} == {f"{rule.code}-{rule.name}/"}
        code, name, severity, fix, summary = (cell.text for cell in row.all("td"))
        assert (code, name, severity) == (rule.code, rule.name, str(rule.severity))
        assert fix == ("no repair" if rule.fix == "none" else f"{rule.fix} repair")
        assert summary == rule.summary.replace("`", "")


def test_rows_stand_under_the_name_of_their_family() -> None:
    for body in article("rules/index.html").all("tbody"):
        family = {row.attributes["data-family"] for row in body.all("tr") if "data-code" in row.attributes}
        assert family == {body.one("th").attributes["id"].upper()}


def test_the_filter_offers_every_value_that_a_rule_has() -> None:
    form = article("rules/index.html").one("form")
    assert "hidden" in form.attributes  # without a script there is only the whole table
    offered = {
        select.attributes["name"]: [option.attributes["value"] for option in select.all("option")]
        for select in form.all("select")
    }
    assert offered["family"] == ["", *sorted({rule.code[:4] for rule in RULES})]
    assert set(offered["severity"]) == {"", "error", "warning", "info"}
    assert set(offered["fix"]) == {"", *FIXES}
    for control in form.all("select") + form.all("input"):
        assert control.parent is not None and control.parent.tag == "label"
    assert form.one("p").attributes["aria-live"] == "polite"


def fitting(**wanted: str) -> list[str]:
    """The codes that the script of the page leaves in the table."""
    asked: list[dict[str, Any]] = [
        {key.removeprefix("data-"): value for key, value in row.attributes.items()} | {"text": row.text}
        for row in rows()
    ]
    script = "dukpy.rules.filter(function (rule) { return fits(rule, dukpy.wanted); })"
    return [rule["code"] for rule in dukpy.evaljs([SCRIPT, script], rules=asked, wanted=wanted)]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, lambda rule: True),
        ({"family": "", "severity": "", "fix": "", "text": ""}, lambda rule: True),
        ({"family": "NAM4"}, lambda rule: rule.code.startswith("NAM4")),
        ({"severity": "warning"}, lambda rule: str(rule.severity) == "warning"),
        ({"fix": "unsafe"}, lambda rule: rule.fix == "unsafe"),
        (
            {"family": "NAM2", "severity": "error", "fix": "safe"},
            lambda rule: (rule.code[:4], str(rule.severity), rule.fix) == ("NAM2", "error", "safe"),
        ),
        ({"text": "nam206"}, lambda rule: rule.code == "NAM206"),
        ({"text": "nothing-has-this"}, lambda rule: False),
    ],
    ids=str,
)
def test_the_filter_leaves_what_is_asked_for(wanted: dict[str, str], expected: Any) -> None:
    assert fitting(**wanted) == [rule.code for rule in RULES if expected(rule)]


def test_all_words_must_fit_in_any_order() -> None:
    assert set(fitting(text="guard TIE-")) == {r.code for r in RULES if "tie-" in r.name and "guard" in r.name}
