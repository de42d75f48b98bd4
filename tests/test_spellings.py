"""Many spellings of one meaning: each is laid out as a checkout of its own, and the whole report is judged."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from .page_checkout import difference, lay, lint, seen, write
from .page_framework import LIBRARY
from .spellings import (
    Spelling,
    capabilities,
    casts,
    config_changes,
    guard,
    heads,
    loading,
    paths,
    policy,
    registry,
    tying,
)

TABLES = (guard, config_changes, paths, heads, policy, tying, loading, registry, capabilities, casts)
SPELLINGS: list[Spelling] = [spelling for table in TABLES for spelling in table.SPELLINGS]


def _lay(folder: Path, spelling: Spelling, files: dict[str, str]) -> Path:
    if not spelling.alone:
        return lay(folder, files)
    write(folder / "checkout", files)
    write(folder / "library", LIBRARY)
    return folder / "checkout"


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.id)
def test_spelling_is_understood(spelling: Spelling, tmp_path: Path) -> None:
    files, announced = spelling.read()
    found = lint(_lay(tmp_path, spelling, files), spelling.library).findings
    findings = [f for f in found if f.code == spelling.code or f.code != "NAM803"]  # none of them brings a recipe
    problem = difference(announced, seen(findings))
    assert not problem, f"{spelling.id}\n{problem}"
    if spelling.owner:
        assert {f.symbol for f in findings} == {spelling.owner}
    if spelling.architectures:
        assert {tuple(sorted(f.architectures)) for f in findings} == {spelling.architectures}


def test_no_two_spellings_are_the_same() -> None:
    ids = Counter(spelling.id for spelling in SPELLINGS)
    assert not [name for name, count in ids.items() if count > 1]
    texts = Counter((*sorted(spelling.files.items()), spelling.library) for spelling in SPELLINGS)
    assert not [text for text, count in texts.items() if count > 1]


def test_a_spelling_announces_its_own_code_or_none() -> None:
    for spelling in SPELLINGS:
        codes = {announced.code for announced in spelling.read()[1]}
        assert not codes or spelling.code in codes, spelling.id


def test_spellings_are_python() -> None:
    """A slip in a table must not pass for a fault."""
    for spelling in SPELLINGS:
        for path, text in spelling.read()[0].items():
            if path.endswith(".py"):
                compile(text, f"{spelling.id}: {path}", "exec")
