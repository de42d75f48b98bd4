"""Repairs in odd layouts: every kind of step, alone and together, in source files written by chance.

``AUTOMODEL_LINT_LAYOUTS=2000`` looks at that many files a kind of step, other ones each time.
"""

from __future__ import annotations

import ast
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from automodel_lint import session
from automodel_lint.findings import Finding, Span
from automodel_lint.fixes.draft import Draft
from automodel_lint.fixes.edits import SUPPRESSION, applied, combined, proposed
from automodel_lint.fixes.repairing import repaired
from automodel_lint.repairs import repair
from automodel_lint.request import Request

from .clean_example import clean, edited, lay
from .layouts.forms import laid_anew
from .layouts.judge import assert_repaired, comments, decoded
from .layouts.sites import Made, Site
from .layouts.steps import KINDS
from .layouts.trees import assert_same, normal
from .layouts.writer import Writer
from .mutations import Fault, guard

LONG = int(os.environ.get("AUTOMODEL_LINT_LAYOUTS", "0"))
# Plain generators write the wilder files, those of hypothesis can be made small when a test fails.
CHANCES = st.one_of(st.integers(0, 2**64).map(random.Random), st.randoms(use_true_random=False))
# Of two steps that write at the end of a block either can come first; these two may well write the same once.
ORDERED = {"append_in_block", "move_first"}
# About the same statement or signature, in an order that only the trees have.
ONE_OF = [{"put_under", "statement_below", "replace_statement"}, {"add_parameters", "remove_parameters"}]
MOST_REFUSED = 0.02  # of what need not be refused: form feeds inside brackets, which libcst cannot read


def profile(examples: int) -> settings:
    """The same files on every run, unless it is a long one."""
    return settings(
        max_examples=LONG or examples,
        derandomize=not LONG,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def _findings(made: list[Made]) -> list[Finding]:
    codes = {"remove_comment": SUPPRESSION}
    return [
        Finding("model.py", Span(), code=codes.get(one.step.kind, "NAM203"), repair=repair("Change it", one.step))
        for one in made
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_does_what_it_says_and_no_more(kind: str) -> None:
    tally: Counter[str] = Counter()

    @profile(24)
    @given(CHANCES)
    def run(chance: random.Random) -> None:
        data = Writer(chance).file()
        site = Site(data, decoded(data)[0], chance)
        made = KINDS[kind](site)
        if made is None:
            return
        note(f"{made.step}\n{site.text}")
        draft = Draft(data)
        proposals, refused = proposed(draft, _findings([made]))
        taken, unfit = combined(draft, proposals)
        if not taken:
            if not made.may_refuse:
                tally[[*refused, *unfit][0][1]] += 1
            return
        tally["made"] += 1
        assert_repaired(site, data, draft.encoded(applied(draft.text, taken[0].changes)), [made])

    run()
    assert tally["made"]
    assert tally.total() - tally["made"] <= max(1, MOST_REFUSED * tally.total()), tally


@profile(60)
@given(CHANCES)
def test_steps_together_do_what_each_says(chance: random.Random) -> None:
    data = Writer(chance).file()
    site = Site(data, decoded(data)[0], chance)
    kinds = chance.sample(sorted(KINDS.keys() - ORDERED), 5)
    for alike in ONE_OF:
        kinds = [k for k in kinds if k not in alike or k == next(k for k in kinds if k in alike)]
    made = [one for kind in kinds if (one := KINDS[kind](site)) is not None]
    note(f"{[one.step for one in made]}\n{site.text}")
    draft = Draft(data)
    findings = _findings(made)
    proposals, _ = proposed(draft, findings)
    taken, _ = combined(draft, proposals)
    chosen = [one for one, finding in zip(made, findings, strict=True) if any(p.finding is finding for p in taken)]
    changes = {change for proposal in taken for change in proposal.changes}
    assert_repaired(site, data, draft.encoded(applied(draft.text, changes)), chosen)


# -- repairs of rules -----------------------------------------------------------------------------------------------

CODES = ["NAM203", "NAM204", "NAM205", "NAM206", "NAM207"]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The clean example; what is installed here plays no part."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "_search_path", lambda *_: [])
        yield lay(tmp_path_factory.mktemp("checkout"), clean())


def _repaired(root: Path, files: dict[str, bytes]) -> tuple[dict[str, bytes], Counter[str]]:
    """Return files as they are repaired, by path, and the codes of what is still found."""
    overlay = {str(root / path): data for path, data in files.items()}
    outcome = repaired(Request(paths=[str(root)], select=CODES, cache=False, overlay=overlay), unsafe=True)
    found = {path: outcome.files.get(str(root / path), (b"", data))[1] for path, data in files.items()}
    return found, Counter(finding.code for finding in outcome.report.findings)


def test_the_guard_is_repaired_in_any_layout(checkout: Path) -> None:
    usual: dict[str, tuple[dict[str, bytes], Counter[str]]] = {}

    @profile(12)
    @given(st.sampled_from(guard.FAULTS), st.integers(0, 2**64).map(random.Random))
    def run(fault: Fault, chance: random.Random) -> None:
        texts = edited(clean(), fault.edits)
        files = {path: texts[path].encode() for path in {edit.path for edit in fault.edits}}
        if fault.id not in usual:
            usual[fault.id] = _repaired(checkout, files)
        plain, left = usual[fault.id]
        anew = {path: laid_anew(texts[path], chance) for path in files}
        for data in anew.values():
            note(decoded(data)[0])
        found, still = _repaired(checkout, anew)
        assert still == left
        for path, data in found.items():
            before, after = decoded(anew[path]), decoded(data)
            assert after[1:] == before[1:]
            assert Counter(comments(after[0])) == Counter(comments(before[0]))
            assert_same(normal(ast.parse(plain[path])), normal(ast.parse(data)))

    run()
