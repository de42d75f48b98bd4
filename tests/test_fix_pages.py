"""The repairs on the rule pages: of every Bad the repair is its Good, byte for byte, and repairing twice is once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from automodel_lint.fixes.repairing import Outcome, repaired
from automodel_lint.pages import pages
from automodel_lint.request import Request
from automodel_lint.session import Session

from . import page_checkout as checkout

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


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every session finds the pages' own library, and nothing that happens to be installed."""
    made = Session.__init__

    def with_library(session: Session, *arguments: Any) -> None:
        made(session, *arguments)
        session.search_path = [str(tmp_path / "library")]

    monkeypatch.setattr(Session, "__init__", with_library)


def _repaired(root: Path) -> Outcome:
    return repaired(Request(paths=[str(root)], select=["NAM"], cache=False), unsafe=True)


@pytest.mark.parametrize(("bad", "good"), REPAIRED, ids=[bad.id for bad, _ in REPAIRED])
def test_the_repair_of_bad_is_good(
    bad: checkout.Example, good: checkout.Example, tmp_path: Path, library: None
) -> None:
    root = checkout.lay(tmp_path, bad.files)
    outcome = _repaired(root)
    assert not outcome.dropped
    assert bad.page.code in {f.code for f in outcome.fixed} <= {a.code for a in bad.announced}
    for path, (_, new) in outcome.files.items():
        Path(path).write_bytes(new)
    assert {path: (root / path).read_text(encoding="utf-8") for path in good.files} == good.files
    again = _repaired(root)
    assert not again.files and not again.report.findings
