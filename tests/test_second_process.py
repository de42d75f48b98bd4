"""Half of a cold run in a second process: the same verdicts, whatever becomes of that process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from automodel_lint import engine, second_process
from automodel_lint.findings import Finding
from automodel_lint.second_process import SecondProcess
from automodel_lint.session import Request, Session
from automodel_lint.source import SourceTree

from . import page_checkout as checkout

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork runs everything in one process")


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(second_process.threading, "active_count", lambda: 1)
    monkeypatch.setattr(second_process, "_FEWEST", 1)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled example: fifteen classes, most of them with findings."""
    return Path(__file__).resolve().parents[1] / "examples" / "acme_automodel"


def _lint(root: Path, **request) -> list[Finding]:
    return Session(Request(paths=[str(root)], **{"cache": False, **request})).run().findings


def test_the_same_findings(root: Path) -> None:
    alone = _lint(root)
    assert len(alone) > 20
    assert _lint(root, apart=True) == alone


def test_the_second_process_does_half(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[str] = []
    real = engine.Cache.offer
    monkeypatch.setattr(engine.Cache, "offer", lambda self, key, *rest: (offered.append(key), real(self, key, *rest)))
    computed: list[str] = []
    asked = engine.Engine._about_class
    monkeypatch.setattr(
        engine.Engine, "_about_class", lambda self, place, *rest: (computed.append(place), asked(self, place, *rest))[1]
    )
    _lint(root, apart=True)
    assert abs(sum(key.startswith("class:") for key in offered) - len(computed)) <= 1
    assert any(key.startswith("recipe:") for key in offered)
    assert all(key.startswith(("class:", "recipe:")) for key in offered)


def test_what_it_read_counts(tmp_path: Path) -> None:
    """A verdict that came from the second process is thrown away when a file that it read changes."""
    files = {checkout.MODEL: next(e for e in _bad("NAM209")).files[checkout.MODEL]}
    root = checkout.lay(tmp_path, files)
    request = {"cache": True, "apart": True}
    assert "NAM209" in {f.code for f in _lint(root, **request)}
    model = root / checkout.MODEL
    model.write_text(model.read_text().replace("TieSupport.BOTH", "TieSupport.UNTIED_ONLY"))
    assert "NAM209" not in {f.code for f in _lint(root, **request)}


def _bad(code: str) -> list[checkout.Example]:
    from automodel_lint.pages import pages

    return list(checkout.examples(pages()[code], "Bad"))


def test_a_computation_that_fails_is_left_to_the_parent(tmp_path: Path) -> None:
    def broken() -> None:
        raise ZeroDivisionError

    units = {"a": lambda: 1, "b": broken, "c": lambda: 3, "d": lambda: 4}
    second = SecondProcess(SourceTree(str(tmp_path)), units)
    assert second.keys == {"b", "d"}
    assert second.results() == {"d": (4, set())}


def test_a_process_that_dies_is_no_loss(tmp_path: Path) -> None:
    second = SecondProcess(SourceTree(str(tmp_path)), {"a": lambda: 1, "b": lambda: os._exit(3)})
    assert second.results() == {}


def test_nothing_is_started_for_little_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_process, "_FEWEST", 3)
    second = SecondProcess(SourceTree(str(tmp_path)), {"a": lambda: 1, "b": lambda: 2})
    assert not second.keys and second.results() == {}
