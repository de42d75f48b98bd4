"""The repairs on the rule pages: of every Bad the repair is its Good, byte for byte, and repairing twice is once."""

from __future__ import annotations

from pathlib import Path

import pytest

from automodel_lint.fixes.repairing import Outcome, repaired
from automodel_lint.pages import pages
from automodel_lint.request import Request

from . import page_checkout as checkout
from .conftest import Find

REPAIRED = [
    (bad, good)
    for page in pages().values()
    if page.fix != "none"
    for bad, good in zip(
        checkout.examples(page, "Bad"),
        [e for e in checkout.examples(page, "Good") if not e.heading.startswith(checkout.EXTRA)],
        strict=True,
    )
]


def _repaired(root: Path) -> Outcome:
    return repaired(Request(paths=[str(root)], select=["NAM"], cache=False), unsafe=True)


@pytest.mark.parametrize(("bad", "good"), REPAIRED, ids=[bad.id for bad, _ in REPAIRED])
def test_the_repair_of_bad_is_good(
    bad: checkout.Example, good: checkout.Example, tmp_path: Path, sessions_find: Find
) -> None:
    root = checkout.lay(tmp_path, bad.files)
    sessions_find(tmp_path / "library")
    outcome = _repaired(root)
    assert not outcome.dropped
    assert bad.page.code in {f.code for f in outcome.fixed} <= {a.code for a in bad.announced}
    for path, (_, new) in outcome.files.items():
        Path(path).write_bytes(new)
    assert {path: (root / path).read_text(encoding="utf-8") for path in good.files} == good.files
    again = _repaired(root)
    assert not again.files and not again.report.findings
