"""Mutations: faults in many spellings, each of which must be found, and look-alikes, none of which may be.

Each is put into a copy of the example's clean models. What is judged is the whole report: the fault's code at the
place where the author has to change something, and nothing besides.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from automodel_lint import rules
from automodel_lint.findings import Finding, Severity
from automodel_lint.pages import pages

from .clean_example import clean, edited, lay, lay_library, lint
from .mutations import (
    Fault,
    Harmless,
    Place,
    adapters,
    arguments,
    beside,
    blocks,
    capabilities,
    casts,
    config_fields,
    construction,
    engine,
    experts,
    exports,
    forward,
    guard,
    loading,
    lookalikes_casts,
    lookalikes_classes,
    lookalikes_construction,
    lookalikes_experts,
    lookalikes_forward,
    lookalikes_guard,
    lookalikes_methods,
    lookalikes_pins,
    lookalikes_registry,
    lookalikes_routing,
    lookalikes_tree,
    lookalikes_tying,
    methods,
    pinned,
    pins,
    pipelines,
    policy,
    recipes,
    registry,
    routing,
    tree_ties,
    tying,
    weights,
)

FAULTS: list[Fault] = [
    *engine.FAULTS,
    *registry.FAULTS,
    *exports.FAULTS,
    *policy.FAULTS,
    *tying.FAULTS,
    *guard.FAULTS,
    *loading.FAULTS,
    *capabilities.FAULTS,
    *tree_ties.FAULTS,
    *methods.FAULTS,
    *pins.FAULTS,
    *pinned.FAULTS,
    *casts.FAULTS,
    *routing.FAULTS,
    *experts.FAULTS,
    *blocks.FAULTS,
    *forward.FAULTS,
    *arguments.FAULTS,
    *config_fields.FAULTS,
    *construction.FAULTS,
    *pipelines.FAULTS,
    *weights.FAULTS,
    *adapters.FAULTS,
]
LOOKALIKES: list[Harmless] = [
    *lookalikes_registry.HARMLESS,
    *lookalikes_classes.HARMLESS,
    *lookalikes_guard.HARMLESS,
    *lookalikes_tying.HARMLESS,
    *lookalikes_tree.HARMLESS,
    *lookalikes_methods.HARMLESS,
    *lookalikes_pins.HARMLESS,
    *lookalikes_casts.HARMLESS,
    *lookalikes_routing.HARMLESS,
    *lookalikes_experts.HARMLESS,
    *lookalikes_forward.HARMLESS,
    *arguments.HARMLESS,
    *config_fields.HARMLESS,
    *lookalikes_construction.HARMLESS,
    *pipelines.HARMLESS,
    *weights.HARMLESS,
    *adapters.HARMLESS,
]
NEEDS_LIBRARY = {"NAM108"}  # can only be told with the library's source at hand

with_and_without_library = pytest.mark.parametrize("with_library", [True, False], ids=["library", "no-library"])


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay_library(tmp_path_factory.mktemp("library"))


def _needs_library(case: Fault | Harmless) -> bool:
    return case.code in NEEDS_LIBRARY or any("transformers" in (edit.new or "") for edit in case.edits)


def _line(files: dict[str, str], finding: Finding) -> str:
    lines = files.get(finding.path, "").split("\n")
    return lines[finding.span.line - 1] if finding.span.line <= len(lines) else ""


def _difference(expected: list[Place], findings: list[Finding], files: dict[str, str]) -> str:
    """Return what is missing and what nobody expected, a line each; empty if the report is as it must be."""
    left, missing = list(findings), []
    for place in expected:
        fitting = [f for f in left if (f.code, f.path) == (place.code, place.path) and place.line in _line(files, f)]
        if fitting:
            left.remove(fitting[0])
        else:
            missing.append(f"missing     {place.code} in {place.path} at: {place.line}")
    return "\n".join([*missing, *(f"unexpected  {f.code} in {f.path}:{f.span.line} {f.message}" for f in left)])


def _ignored(case: Fault | Harmless) -> tuple[str, ...]:
    """A first test makes a checkout one with tests, which most models then lack: see `test_beside_mutations`."""
    return ("NAM80",) if any(edit.path.startswith("tests/") for edit in case.edits) else ("NAM803",)


@with_and_without_library
def test_the_clean_example_is_clean(with_library: bool, library: Path, tmp_path: Path) -> None:
    report = lint(lay(tmp_path, clean()), library if with_library else None)
    assert not _difference([], report.findings, clean())
    assert report.classes == 9


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_fault_is_found(fault: Fault, library: Path, tmp_path: Path) -> None:
    files = edited(clean(), fault.edits)
    found = lint(lay(tmp_path, files), library, _ignored(fault)).findings
    problem = _difference(list(fault.expected), found, files)
    assert not problem, f"{fault.id}\n{problem}"


@pytest.mark.parametrize("fault", [f for f in FAULTS if _needs_library(f)], ids=lambda fault: fault.id)
def test_fault_is_found_without_the_library(fault: Fault, tmp_path: Path) -> None:
    """The verdict does not depend on what is installed, but where the contracts say so."""
    files = edited(clean(), fault.edits)
    expected = [place for place in fault.expected if place.code not in NEEDS_LIBRARY]
    problem = _difference(expected, lint(lay(tmp_path, files)).findings, files)
    assert not problem, f"{fault.id}\n{problem}"


@pytest.mark.parametrize("case", LOOKALIKES, ids=lambda case: case.id)
def test_lookalike_is_left_alone(case: Harmless, library: Path, tmp_path: Path) -> None:
    files = edited(clean(), case.edits)
    for at_hand in (library, None) if _needs_library(case) else (library,):
        problem = _difference([], lint(lay(tmp_path, files), at_hand, _ignored(case)).findings, files)
        assert not problem, f"{case.id}: {case.why}\n{problem}"


def test_every_rule_has_three_spellings() -> None:
    spellings = Counter(fault.code for fault in (*FAULTS, *recipes.FAULTS, *beside.FAULTS))  # those have their own test
    own = {"NAM001", "NAM002", "NAM003"}
    implemented = {code for found in rules.checks().values() for code, _ in found} | own
    assert implemented <= set(pages())
    assert not {code: spellings[code] for code in implemented if spellings[code] < 3}


def test_there_are_enough_lookalikes() -> None:
    assert len(LOOKALIKES) >= 30


def test_no_two_cases_are_the_same() -> None:
    ids = Counter(case.id for case in (*FAULTS, *LOOKALIKES))
    assert not [name for name, count in ids.items() if count > 1]
    changes = Counter(case.edits for case in (*FAULTS, *LOOKALIKES))
    assert not [edits for edits, count in changes.items() if count > 1]


def test_edited_files_are_python() -> None:
    """A slip in a table must not pass for a fault."""
    for case in (*FAULTS, *LOOKALIKES):
        files = edited(clean(), case.edits)
        for edit in case.edits:
            if edit.path.endswith(".py") and edit.path in files and case.code != "NAM002":
                compile(files[edit.path], f"{case.id}: {edit.path}", "exec")


@pytest.mark.parametrize("code", ["NAM106", "NAM203", "NAM216"])
def test_a_rule_that_raises_is_reported_and_the_rest_goes_on(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NAM000: the fault beside the broken rule is still found."""

    def broken(thing: object) -> None:
        raise RuntimeError("this rule is broken")

    checks = {
        thing: [(c, broken if c == code else check) for c, check in found] for thing, found in rules.checks().items()
    }
    monkeypatch.setattr(rules, "checks", lambda: checks)
    fault = next(f for f in FAULTS if f.code == "NAM301")
    files = edited(clean(), fault.edits)
    found = lint(lay(tmp_path, files)).findings
    internal = [f for f in found if f.code == "NAM000"]
    assert internal and all(f.severity is Severity.ERROR and code in f.message for f in internal)
    assert not _difference(list(fault.expected), [f for f in found if f.code != "NAM000"], files)
