"""Which contracts are about a class: what is said must never contradict a finding."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from automodel_lint.domain import class_facts, subjects
from automodel_lint.pages import pages
from automodel_lint.request import Request
from automodel_lint.session import Session

from .conftest import EXAMPLE


@cache
def known() -> tuple[list[Any], dict[str, dict[str, str]]]:
    """Everything that is found in the example, and the facts about each class by architecture."""
    session = Session(Request(paths=[str(EXAMPLE)], select=["NAM"], cache=False))
    found = session.run().findings
    models = [session.engine.about_class(place) for place in session.engine.classes]
    return found, {name: class_facts.facts(model) for model in models for name in model.architectures}


def test_a_finding_is_about_a_subject():
    found, facts = known()
    denied = {
        (finding.code, name, why)
        for finding in found
        for name in finding.architectures
        for answer, why in [subjects.standing(finding.code, facts.get(name, {}))]
        if answer == subjects.NO
    }
    assert not denied
    judged = {f.code for f in found if subjects.standing(f.code, facts.get((f.architectures or ("",))[0], {}))[0]}
    assert len(judged) > 30


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("FirForCausalLM", {"head": "yes", "ties": "yes", "experts": "no", "adapter": "no", "nested": "yes"}),
        ("SpruceForCausalLM", {"head": "yes", "ties": "no", "experts": "yes", "adapter": "yes", "dynamic": "no"}),
        ("LarchForCausalLM", {"dynamic": "yes", "nested": "no", "guard": "yes", "package": "yes"}),
        ("HawthornForCausalLM", {"fp32": "yes", "holder": "yes", "own pins": "yes", "whole tree": "yes"}),
    ],
)
def test_facts_about_the_clean_models(name: str, expected: dict[str, str]):
    _, facts = known()
    assert {fact: facts[name][fact] for fact in expected} == expected


def test_every_fact_has_words_and_a_question_and_every_code_a_page():
    _, facts = known()
    assert facts["FirForCausalLM"].keys() == subjects.WORDS.keys()
    named = {name for needed in (*subjects.PRESUPPOSED.values(), *subjects.AT_LEAST.values()) for name in needed}
    assert named == subjects.WORDS.keys()
    assert {*subjects.PRESUPPOSED, *subjects.AT_LEAST} <= pages().keys()
    assert not subjects.PRESUPPOSED.keys() & subjects.AT_LEAST.keys()


def test_standing_says_why():
    everything = dict.fromkeys(subjects.WORDS, subjects.YES)
    assert subjects.standing("NAM209", everything) == (subjects.YES, "")
    assert subjects.standing("NAM209", {**everything, "meant to tie": subjects.NO}) == (
        subjects.NO,
        "nothing in it says that its head is tied",
    )
    assert subjects.standing("NAM209", {**everything, "meant to tie": subjects.OPEN})[0] == subjects.OPEN
    assert subjects.standing("NAM502", everything) == (None, "")
    assert subjects.standing("NAM502", {**everything, "adapter": subjects.NO})[0] == subjects.NO
    assert subjects.standing("NAM209", {})[0] == subjects.OPEN, "nothing is known"
