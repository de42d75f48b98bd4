"""Kept verdicts and what lies beside the package: each edit shows, and asks of nobody but whom it is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from automodel_lint import engine
from automodel_lint.session import Request, Session

from .clean_example import COVERAGE, TESTS, complete, lay
from .mutations.beside import RECIPE, ROW, SIZES


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The classes that rules are asked about, as it happens."""
    names: list[str] = []
    real = engine.Engine._about_class
    monkeypatch.setattr(
        engine.Engine,
        "_about_class",
        lambda self, kind, place, *rest: (names.append(place[1]), real(self, kind, place, *rest))[1],
    )
    return names


def test_each_edit_shows(tmp_path: Path, asked: list[str]) -> None:
    root = lay(tmp_path, complete())

    def codes() -> set[str]:
        asked.clear()
        request = Request(paths=[str(root)], select=["NAM"], ignore=["NAM803"])
        return {f.code for f in Session(request).run().findings}

    def replaced(path: str, old: str, new: str) -> None:
        text = (root / path).read_text()
        assert old in text
        (root / path).write_text(text.replace(old, new))

    assert codes() == set()
    assert len(asked) == 9
    test = f"{TESTS}larch/test_larch_model.py"
    replaced(test, "import pytest\n", "# nothing new\nimport pytest\n")
    replaced(COVERAGE, "# Models\n", "# Models of trees\n\n")
    replaced(RECIPE, "length: 12", "length: 13")
    assert codes() == set() and asked == []
    replaced(COVERAGE, ROW, "")
    assert codes() == {"NAM802"} and asked == ["FirForCausalLM"]
    replaced(RECIPE, SIZES, "  tp_size: 2\n")
    assert codes() == {"NAM306", "NAM802", "NAM816"} and asked == ["FirForCausalLM"]
    replaced(test, "tie_word_embeddings=tied", "")
    assert codes() == {"NAM306", "NAM802", "NAM805", "NAM816"} and asked == ["LarchForCausalLM"]
    (root / test).unlink()
    assert codes() == {"NAM306", "NAM801", "NAM802", "NAM805", "NAM816"} and "FirForCausalLM" not in asked
