"""Every fault of the mutation tables that has a repair: repaired, the clean example is clean again.

Where the repair is the exact inverse of what was edited, every byte is that of the clean example.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from automodel_lint.fixes.repairing import repaired
from automodel_lint.pages import pages
from automodel_lint.request import Request

from .clean_example import clean, edited, lay, lay_library
from .conftest import Find
from .mutations import Fault
from .test_mutations import FAULTS

REPAIRED = [fault for fault in FAULTS if pages()[fault.code].fix != "none"]
UNTOLD = "it cannot be told what to write"
HOLDER = "the holder that the info finding asks for is no mechanical repair"
# What is left of a fault, and why.
LEFT = {
    "NAM102-package-that-does-not-re-export-it": ("NAM102", UNTOLD),
    "NAM102-merged-in-place": ("NAM102", UNTOLD),
    "NAM102-class-inside-a-function": ("NAM102", UNTOLD),
    "NAM102-updated-by-keyword": ("NAM602 NAM603 NAM702 NAM707", "what the class that is now registered lacks"),
    "NAM106-for-type-checkers-only": ("NAM106", "the author imports it for type checkers on purpose"),
    "NAM209-on-the-instance": ("NAM209", "the attribute of the instance would hide the method"),
    "NAM303-named-tuple": ("NAM303", UNTOLD),
    "NAM304-unknown-field": ("NAM304", "the name is near to none that is meant"),
    "NAM304-unknown-field-beside-the-shared-class": ("NAM304", "the name is near to none that is meant"),
    "NAM305-returns-nothing-on-one-path": ("NAM305", UNTOLD),
    "NAM305-falls-off-one-path": ("NAM305", UNTOLD),
    "NAM305-another-class": ("NAM305", UNTOLD),
    "NAM401-by-a-helper-that-gets-the-model": ("NAM401", "a helper fills the list"),
    "NAM401-sinks-in-the-dtype-of-the-model": ("NAM407", HOLDER),
    "NAM401-named-and-in-the-dtype-of-the-model": ("NAM407", HOLDER),
    "NAM401-glob": ("NAM402", "the pattern that matches nothing stays"),
    "NAM404-in-a-helper-of-another-file": ("NAM404", "the cast stands in another file"),
    "NAM408-pinned-by-the-other-list": ("NAM407", HOLDER),
    "NAM408-shared-layer": ("NAM408", "models share the layer"),
    "NAM408-shared-gate": ("NAM408", "models share the layer"),
}
# Faults whose repair gives every byte back.
INVERSE = frozenset(
    """
    NAM001-noqa-on-a-clean-guard
    NAM001-own-form-alone-above-the-class
    NAM001-in-the-registry-and-upper-case
    NAM001-a-code-that-no-rule-has
    NAM102-typo-in-a-literal
    NAM105-no-export
    NAM105-list-of-others
    NAM105-sum-of-others
    NAM106-import-is-gone
    NAM110-no-mixin
    NAM201-misspelled
    NAM201-annotation-without-a-value
    NAM208-no-keys
    NAM208-tied-only
    NAM208-misspelled
    NAM209-misspelled
    NAM204-builds-the-decoder
    NAM204-builds-by-a-factory
    NAM205-after-super
    NAM206-sub-config
    NAM206-sub-config-by-getattr
    NAM206-sub-config-by-method
    NAM206-fresh-config
    NAM206-config-of-the-class
    NAM206-other-parameter
    NAM206-conditional
    NAM206-swapped
    NAM207-name-of-the-class
    NAM207-dunder-class-cell
    NAM207-instance
    NAM207-class-of-the-config
    NAM207-base-of-the-class
    NAM301-misspelled
    NAM303-plain-dataclass
    NAM303-no-decorator
    NAM304-axis-missing
    NAM304-none-for-a-bool
    NAM304-number-for-a-bool
    NAM304-text-for-a-bool
    NAM304-computed
    NAM304-no-default
    NAM304-misspelled-axis
    NAM305-instance-method
    NAM305-static-method
    NAM305-one-more-parameter
    NAM305-keyword-only
    NAM305-any-keyword
    NAM305-another-name-for-the-config
    NAM408-no-dtype
    NAM408-dtype-none
    NAM408-bfloat16
    NAM408-half
    NAM408-default-of-torch
    NAM408-cast-down
    NAM408-cast-down-by-keyword
    NAM408-cast-down-by-name
    NAM408-buffer
    NAM408-dtype-of-the-model
    NAM408-sinks
    NAM404-to
    NAM404-routing-bias
    NAM404-inside-an-availability-branch
    NAM404-through-the-class
    NAM404-through-super
    NAM404-in-a-base-in-another-file
    NAM709-or
    NAM709-in-the-base-of-another-file
    NAM709-inside-an-availability-branch
    NAM709-handed-to-the-model
    NAM709-of-images
    """.split()
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay_library(tmp_path_factory.mktemp("library"))


@pytest.mark.parametrize("fault", REPAIRED, ids=lambda fault: fault.id)
def test_the_fault_is_repaired(fault: Fault, library: Path, tmp_path: Path, sessions_find: Find) -> None:
    files = edited(clean(), fault.edits)
    sessions_find(library)
    codes = {"select": ["NAM"], "ignore": ["NAM803"]}  # most of the models have no recipe, as they are
    outcome = repaired(Request(paths=[str(lay(tmp_path, files))], cache=False, **codes), unsafe=True)
    assert sorted(f.code for f in outcome.report.findings) == LEFT.get(fault.id, ("", ""))[0].split()
    assert not outcome.dropped
    new = {path: text.encode("utf-8", "surrogateescape") for path, text in files.items()}
    new |= {Path(path).relative_to(tmp_path).as_posix(): after for path, (_, after) in outcome.files.items()}
    for path, text in new.items():
        if path.endswith(".py") and files[path].encode("utf-8", "surrogateescape") != text:
            compile(text, path, "exec")
    if fault.id in INVERSE:
        assert {path: new[path].decode() for path in clean()} == clean()


def test_the_tables_name_faults_that_there_are() -> None:
    known = {fault.id for fault in REPAIRED}
    assert known >= {*LEFT, *INVERSE} and not INVERSE & set(LEFT)


def test_most_faults_are_repaired() -> None:
    assert len(LEFT) <= 0.08 * len(REPAIRED)
    assert len(INVERSE) >= 60
