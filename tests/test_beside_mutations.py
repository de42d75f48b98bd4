"""Faults in tests, pages and recipes of the example, in many spellings, and look-alikes: found, and nothing besides."""

from __future__ import annotations

from pathlib import Path

import pytest

from automodel_lint.findings import Finding

from .clean_example import CLEAN, complete, edited, lay, lint
from .mutations import Fault, Harmless, Place
from .mutations.beside import FAULTS, HARMLESS


def _problem(expected: tuple[Place, ...], findings: list[Finding], files: dict[str, str]) -> str:
    """What is missing and what nobody expected, a line each."""
    left, missing = list(findings), []
    for place in expected:
        fitting = [f for f in left if (f.code, f.path) == (place.code, place.path)]
        fitting = [f for f in fitting if place.line in files[f.path].split("\n")[f.span.line - 1]]
        if fitting:
            left.remove(fitting[0])
        else:
            missing.append(f"missing     {place}")
    return "\n".join([*missing, *(f"unexpected  {f.path}:{f.span.line} {f.code} {f.message}" for f in left)])


def _found(case: Fault | Harmless, root: Path) -> tuple[list[Finding], dict[str, str]]:
    files = edited(complete(), case.edits)
    ignore = () if case.code == "NAM803" else ("NAM803",)
    return lint(lay(root, files), ignore=ignore).findings, files


def test_the_clean_example_is_clean(tmp_path: Path) -> None:
    assert not lint(lay(tmp_path, complete())).findings


@pytest.mark.parametrize("fault", FAULTS, ids=lambda case: case.id)
def test_fault_is_found(fault: Fault, tmp_path: Path) -> None:
    findings, files = _found(fault, tmp_path)
    if fault.code == "NAM803":  # most of the models have no recipe at all
        findings = [f for f in findings if f.code != "NAM803" or f.path == fault.path]
    problem = _problem(fault.expected, findings, files)
    assert not problem, problem


@pytest.mark.parametrize("case", HARMLESS, ids=lambda case: case.id)
def test_lookalike_is_left_alone(case: Harmless, tmp_path: Path) -> None:
    findings, files = _found(case, tmp_path)
    if case.code == "NAM803":
        assert not [f for f in findings if "Fir" in (f.symbol or "")], case.why
        return
    problem = _problem((), findings, files)
    assert not problem, f"{case.why}\n{problem}"


def test_no_two_cases_are_the_same() -> None:
    cases = (*FAULTS, *HARMLESS)
    assert len({case.id for case in cases}) == len({case.edits for case in cases}) == len(cases)
    assert set(CLEAN) >= {"fir", "spruce", "hornbeam"}
