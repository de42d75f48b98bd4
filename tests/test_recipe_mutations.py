"""Faults in recipes, in many spellings, and look-alikes: each put into a copy of a clean recipe of the example.

Those that touch one recipe only lie side by side in one checkout, which is linted once.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from automodel_lint.findings import Finding

from .clean_example import clean, edited, lay, lint
from .mutations import Fault, Harmless, Place
from .mutations.recipes import FAULTS, HARMLESS

Case = Fault | Harmless


def _is_alone(case: Case) -> bool:
    """Whether a case is one recipe among the examples, and nothing else."""
    paths = {edit.path for edit in case.edits}
    return len(paths) == 1 and next(iter(paths)).startswith("examples/lm_train/") and _text(case) is not None


def _text(case: Case) -> str | None:
    return edited(clean(), case.edits).get(case.edits[0].path)


def _place(case: Case) -> str:
    """Where a case lies beside the others."""
    return f"examples/lm_train/{case.id}/recipe{PurePosixPath(case.edits[0].path).suffix}"


def _expected(case: Case) -> list[Place]:
    return list(case.expected) if isinstance(case, Fault) else []


def _problem(expected: list[tuple[str, str]], findings: list[Finding], text: str) -> str:
    """What is missing and what nobody expected, a line each; ``expected`` are codes with a text in their line."""
    lines, left, missing = text.split("\n"), list(findings), []
    for code, words in expected:
        fitting = [f for f in left if f.code == code and words in lines[f.span.line - 1]]
        if fitting:
            left.remove(fitting[0])
        else:
            missing.append(f"missing     {code} at: {words}")
    return "\n".join([*missing, *(f"unexpected  {f.path}:{f.span.line} {f.code} {f.message}" for f in left)])


ALONE = [case for case in (*FAULTS, *HARMLESS) if _is_alone(case)]
OTHERS = [case for case in (*FAULTS, *HARMLESS) if not _is_alone(case)]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Finding]:
    files = {**clean(), **{_place(case): _text(case) or "" for case in ALONE}}
    return lint(lay(tmp_path_factory.mktemp("recipes"), files)).findings


def test_the_clean_recipes_are_clean(found: list[Finding]) -> None:
    ours = {_place(case) for case in ALONE}
    assert not [f for f in found if f.path not in ours]


@pytest.mark.parametrize("case", ALONE, ids=lambda case: case.id)
def test_one_recipe(case: Case, found: list[Finding]) -> None:
    here = [f for f in found if f.path == _place(case)]
    problem = _problem([(p.code, p.line) for p in _expected(case)], here, _text(case) or "")
    assert not problem, problem


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case.id)
def test_recipe_and_code(case: Case, tmp_path: Path) -> None:
    files = edited(clean(), case.edits)
    expected, findings = _expected(case), lint(lay(tmp_path, files)).findings
    path = expected[0].path if expected else ""
    problem = _problem([(p.code, p.line) for p in expected], findings, files.get(path, ""))
    assert not problem, problem


def test_no_two_cases_are_the_same() -> None:
    assert len({case.id for case in (*FAULTS, *HARMLESS)}) == len(FAULTS) + len(HARMLESS)
    assert len({case.edits for case in (*FAULTS, *HARMLESS)}) == len(FAULTS) + len(HARMLESS)
