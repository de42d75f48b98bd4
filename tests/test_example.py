"""The example checkout: every planted fault is found where it was planted, and the clean models are clean."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from automodel_lint.pages import pages
from automodel_lint.session import Report, Request, Session

from .conftest import EXAMPLE

CLEAN = ("fir", "spruce", "cedar", "willow", "larch", "juniper", "hawthorn", "hornbeam")
CLEAN_RECIPES = ("fir", "spruce")


def _report() -> Report:
    request = Request(paths=[str(EXAMPLE)], select=["NAM"], extend_select=["NAM804"], ignore=["NAM803"], cache=False)
    return Session(request).run()


def test_every_planted_fault_is_found_and_nothing_else():
    planted = json.loads((EXAMPLE / "expected.json").read_text())
    expected = [p for p in planted if p["code"] in pages()]  # the table also holds faults of rules yet to come
    report = _report()
    found = Counter((f.code, f.path, f.symbol) for f in report.findings)
    assert found == Counter((p["code"], p["path"], p["symbol"]) for p in expected)
    assert len(expected) >= 40


def test_findings_point_at_the_line_to_change():
    report = _report()
    for planted in json.loads((EXAMPLE / "expected.json").read_text()):
        if planted["code"] not in pages():
            continue
        text = (EXAMPLE / planted["path"]).read_text().split("\n")
        lines = [
            text[f.span.line - 1]
            for f in report.findings
            if (f.code, f.path, f.symbol) == (planted["code"], planted["path"], planted["symbol"])
        ]
        assert any(planted["line_contains"] in line for line in lines), planted


def test_clean_models_have_no_findings():
    folders = [f"acme_automodel/components/models/{name}/" for name in CLEAN]
    folders += [f"examples/lm_train/{name}/" for name in CLEAN_RECIPES]
    assert all((EXAMPLE / folder).is_dir() for folder in folders)
    assert not [f for f in _report().findings if f.path.startswith(tuple(folders))]


def test_spans_cover_the_text_they_underline():
    for finding in _report().findings:
        line = Path(EXAMPLE / finding.path).read_text().split("\n")[finding.span.line - 1]
        span = finding.span
        assert 1 <= span.column <= len(line) + 1, finding
        assert (span.end_line, span.end_column) >= (span.line, span.column), finding


def test_every_model_without_a_recipe_is_named():
    report = Session(Request(paths=[str(EXAMPLE)], select=["NAM803"], cache=False)).run()
    with_one = {folder.name for folder in (EXAMPLE / "examples" / "lm_train").iterdir()}
    assert {f.path.split("/")[3] for f in report.findings}.isdisjoint(with_one)
    without = {f.symbol for f in report.findings}
    assert {"CedarForConditionalGeneration", "WillowBidirectionalModel", "YewForCausalLM"} <= without
    assert len(without) == 17
