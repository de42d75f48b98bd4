"""The rule pages: their form, and their examples, which are the first tests of the rules."""

from __future__ import annotations

import json
import os
import re
import string
from pathlib import Path

import pytest

from automodel_lint import rules
from automodel_lint.engine import completed
from automodel_lint.findings import Finding, Severity, Span
from automodel_lint.pages import HEADINGS, Page, pages, pages_folder
from automodel_lint.probe import worker

from . import page_checkout as checkout

# The families that are complete; a code of them without a page or a check is a mistake, not work to come.
DEMANDED = frozenset(
    [
        *(f"NAM{number:03}" for number in range(4)),
        *(f"NAM{number}" for number in range(101, 111)),
        *(f"NAM{number}" for number in range(201, 217)),
        *(f"NAM{number}" for number in range(301, 309)),
        *(f"NAM{number}" for number in (*range(401, 411), 413)),
        *(f"NAM{number}" for number in range(601, 606)),
        "NAM113",
        *(f"NAM{number}" for number in (*range(801, 807), *range(811, 817))),
        *(f"NAM{number}" for number in (*range(701, 706), 707, 709, 714)),
        *(f"NAM{number}" for number in range(901, 921) if number != 919),
    ]
)
OWN = frozenset(f"NAM{number:03}" for number in range(4))  # the engine's own: no check function
NO_EXAMPLE = frozenset({"NAM000", "NAM920"})  # a fault of the linter, which is mended when code shows it
NEEDS_LIBRARY = frozenset({"NAM108"})  # can only be told with the library's source at hand

ALL_PAGES = list(pages().values())
BAD = [example for page in ALL_PAGES for example in checkout.examples(page, "Bad")]
GOOD = [example for page in ALL_PAGES for example in checkout.examples(page, "Good")]
LINTED_BAD, LINTED_GOOD = ([e for e in section if not e.page.is_probed] for section in (BAD, GOOD))


def _name(page: Page) -> str:
    return f"{page.code}-{page.name}"


each_page = pytest.mark.parametrize("page", ALL_PAGES, ids=_name)
with_and_without_library = pytest.mark.parametrize("library", [True, False], ids=["library", "no-library"])


# -- form -----------------------------------------------------------------------------------------------------------


def test_every_demanded_rule_has_a_page() -> None:
    assert not DEMANDED - set(pages())


def test_every_demanded_rule_has_a_check() -> None:
    assert not DEMANDED - OWN - _checked() - _checked_by_the_probe()


def test_every_check_has_a_page() -> None:
    assert not (_checked() | _checked_by_the_probe()) - set(pages())


def test_no_rule_has_two_names() -> None:
    names = [page.name for page in ALL_PAGES]
    assert len(names) == len(set(names))


@each_page
def test_file_is_called_after_the_rule(page: Page) -> None:
    assert os.path.isfile(os.path.join(pages_folder(), f"{_name(page)}.md"))
    assert page.text.startswith(f"# {page.name}\n\n```toml\n")


@each_page
def test_no_section_is_empty(page: Page) -> None:
    assert not [heading for heading in HEADINGS if not page.sections[heading].strip()]


@each_page
def test_summary_is_one_plain_sentence(page: Page) -> None:
    assert page.summary.endswith(".")
    assert page.name not in page.summary and page.code not in page.summary
    assert 20 <= len(page.summary) <= 160, page.summary


@each_page
def test_message_is_a_format_string(page: Page) -> None:
    fields = {name for _, name, _, _ in string.Formatter().parse(page.message) if name is not None}
    assert all(name.isidentifier() for name in fields)
    assert page.message.format(**{name: "x" for name in fields})
    assert not page.message.endswith(".") and "\n" not in page.message


@each_page
def test_examples_show_the_rule(page: Page) -> None:
    if page.code in NO_EXAMPLE:
        assert "no example" in page.sections["Bad"] and "no example" in page.sections["Good"]
        return
    bad = [example for example in BAD if example.page is page]
    assert bad and all(page.code in {a.code for a in example.announced} for example in bad)
    assert any(example.page is page for example in GOOD)


@each_page
def test_examples_have_names_of_their_own(page: Page) -> None:
    for section in (BAD, GOOD):
        headings = [example.heading for example in section if example.page is page]
        assert len(headings) == len(set(headings))
        assert len(headings) < 2 or all(headings)


@each_page
def test_good_is_bad_repaired(page: Page) -> None:
    """Where the rule fixes, every Bad example has its Good one; the two differ in files that they both show."""
    if page.fix == "none":
        return
    bad = [example for example in BAD if example.page is page]
    good = [e for e in GOOD if e.page is page and not e.heading.startswith(checkout.EXTRA)]
    assert [e.heading for e in bad] == [e.heading for e in good]
    for before, after in zip(bad, good, strict=True):
        assert before.files.keys() == after.files.keys(), before.heading
        assert before.files != after.files, before.heading


@pytest.mark.parametrize("example", [*BAD, *GOOD], ids=lambda e: e.id)
def test_example_is_python(example: checkout.Example) -> None:
    if "NAM002" in {a.code for a in example.announced}:
        return
    for path, text in example.files.items():
        if path.endswith(".py"):
            compile(text, path, "exec")


# -- examples -------------------------------------------------------------------------------------------------------


@with_and_without_library
def test_checkout_is_clean(tmp_path: Path, library: bool) -> None:
    report = checkout.lint(checkout.lay(tmp_path, {}), library)
    assert not checkout.difference((), checkout.seen(report.findings))
    assert report.classes == 1


@with_and_without_library
@pytest.mark.parametrize("example", LINTED_BAD, ids=lambda e: e.id)
def test_bad(example: checkout.Example, library: bool, tmp_path: Path) -> None:
    expected = tuple(a for a in example.announced if library or a.code not in NEEDS_LIBRARY)
    report = checkout.lint(checkout.lay(tmp_path, example.files), library)
    problem = checkout.difference(expected, checkout.seen(report.findings))
    assert not problem, f"{example.id}\n{problem}"


@with_and_without_library
@pytest.mark.parametrize("example", LINTED_GOOD, ids=lambda e: e.id)
def test_good(example: checkout.Example, library: bool, tmp_path: Path) -> None:
    assert not example.announced, "a Good example announces nothing"
    report = checkout.lint(checkout.lay(tmp_path, example.files), library)
    problem = checkout.difference((), checkout.seen(report.findings))
    assert not problem, f"{example.id}\n{problem}"


@pytest.mark.parametrize("example", LINTED_BAD, ids=lambda e: e.id)
def test_message_names_what_it_is_about(example: checkout.Example, tmp_path: Path) -> None:
    """The message names the class that the finding belongs to, or else something on the line that it points at."""
    root = checkout.lay(tmp_path, example.files)
    for finding in [f for f in checkout.lint(root).findings if f.code not in OWN]:
        line = (root / finding.path).read_text(encoding="utf-8").splitlines()[finding.span.line - 1]
        words = {(finding.symbol or "").partition(".")[0], *re.findall(r"\w{3,}|^---", line)} - {""}
        assert any(word in finding.message for word in words), finding.message
        assert "``" not in finding.message, finding.message


# -- what no example can show ---------------------------------------------------------------------------------------


def test_a_rule_that_fails_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NAM000 names the rule, the class and the line; every other rule is asked all the same."""
    real = rules.checks()

    def broken(thing):
        raise ZeroDivisionError("division by zero")

    def replaced():
        return {
            thing: [(code, broken if code == "NAM209" else check) for code, check in found]
            for thing, found in real.items()
        }

    monkeypatch.setattr(rules, "checks", replaced)
    example = next(e for e in BAD if e.page.code == "NAM208")
    report = checkout.lint(checkout.lay(tmp_path, example.files))
    assert {f.code for f in report.findings} == {"NAM000", "NAM208"}
    finding = next(f for f in report.findings if f.code == "NAM000")
    assert finding.severity is Severity.ERROR
    assert finding.path == checkout.MODEL
    for word in ("NAM209", "AcmeForCausalLM", "ZeroDivisionError", "division by zero", "report"):
        assert word in finding.message, finding.message
    assert str(broken.__code__.co_firstlineno + 1) in finding.message


def test_a_failing_rule_shows_the_message_of_its_page() -> None:
    fields = (
        ("rule", "NAM209"),
        ("thing", "AcmeForCausalLM"),
        ("error", "ValueError: x"),
        ("where", "rules/a.py:3"),
    )
    (finding,) = completed([Finding("a.py", Span(), fields=fields, code="NAM000")])
    assert finding.message in pages()["NAM000"].text


def test_a_package_without_init(tmp_path: Path) -> None:
    """NAM106 where the folder of the model has no ``__init__.py`` at all."""
    root = checkout.lay(tmp_path, {})
    init = "nemo_automodel/components/models/acme/__init__.py"
    (root / init).unlink()
    expected = (checkout.Announced(init, 1, "NAM106", "warning"),)
    assert not checkout.difference(expected, checkout.seen(checkout.lint(root).findings))


def test_a_file_that_cannot_be_decoded(tmp_path: Path) -> None:
    """NAM002 for bytes that are no text."""
    root = checkout.lay(tmp_path, {})
    (root / checkout.MODEL).write_bytes(b'"""caf\xe9"""\nModelClass = None\n')
    found = checkout.seen(checkout.lint(root).findings)
    assert [(f.path, f.code) for f in found] == [(checkout.MODEL, "NAM002")]


def test_a_baseline_entry_that_is_gone(tmp_path: Path) -> None:
    """NAM003 at the line of the baseline that names a finding which no longer exists."""
    settings = '[tool.automodel-lint]\nbaseline = "baseline.json"\n'
    entry = {"code": "NAM209", "path": checkout.MODEL, "symbol": "AcmeForCausalLM", "message": "gone"}
    known = json.dumps({"version": 1, "findings": {"0123456789abcdef": entry}}, indent=1)
    root = checkout.lay(tmp_path, {"pyproject.toml": settings, "baseline.json": known})
    line = next(n for n, text in enumerate(known.splitlines(), 1) if "0123456789abcdef" in text)
    expected = (checkout.Announced("baseline.json", line, "NAM003", "warning"),)
    assert not checkout.difference(expected, checkout.seen(checkout.lint(root).findings))


def _checked() -> set[str]:
    return {code for found in rules.checks().values() for code, _ in found}


def _checked_by_the_probe() -> set[str]:
    """By the text of its worker, which needs torch to be imported."""
    folder = Path(worker.__file__).parent / "checks"
    return {
        code for path in folder.glob("*.py") for code in re.findall(r'^@check\("(NAM\d{3})"', path.read_text(), re.M)
    }
