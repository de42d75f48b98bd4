"""A cold run in several processes: the same verdicts, whatever becomes of the others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from automodel_lint import engine, processes
from automodel_lint.findings import Finding
from automodel_lint.processes import Processes
from automodel_lint.session import Request, Session
from automodel_lint.source import SourceTree

from . import page_checkout as checkout

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork runs everything in one process")


@pytest.fixture(autouse=True)
def processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    monkeypatch.setattr(processes.threading, "active_count", lambda: 1)
    monkeypatch.setattr(processes, "_FEWEST", 1)


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


def test_each_class_is_asked_about_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[str] = []
    real = engine.Cache.offer
    monkeypatch.setattr(engine.Cache, "offer", lambda self, key, *rest: (offered.append(key), real(self, key, *rest)))
    computed: list[tuple] = []
    asked = engine.Engine._about_class
    monkeypatch.setattr(
        engine.Engine,
        "_about_class",
        lambda self, kind, place, *rest: (computed.append(place), asked(self, kind, place, *rest))[1],
    )
    _lint(root, apart=True)
    classes = [key for key in offered if key.startswith("class:")]
    assert classes and all(key.startswith(("class:", "recipe:")) for key in offered)
    elsewhere = {key for key in classes for place in computed if key.startswith(f"class:{place}:")}
    assert not elsewhere
    assert len(classes) + len(computed) == 22  # the registered classes of the example


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


def test_every_piece_is_taken_whole_and_once(tmp_path: Path) -> None:
    pieces = [{f"{piece}-{at}": lambda: os.getpid() for at in range(3)} for piece in range(600)]
    shared = Processes(SourceTree(str(tmp_path)), pieces)
    mine = list(shared.mine())
    found = shared.results()
    assert shared.keys == {*mine, *found} and not found.keys() & set(mine)
    makers = [{found.get(key, (0, set()))[0] for key in piece} for piece in pieces]
    assert all(len(made) == 1 for made in makers)
    assert shared.results() == {}


def test_a_computation_that_fails_is_left_to_the_parent(tmp_path: Path) -> None:
    def broken() -> None:
        raise ZeroDivisionError

    shared = Processes(SourceTree(str(tmp_path)), [{"a": lambda: 1, "b": broken, "c": lambda: 3}, {"d": lambda: 4}])
    assert shared.results() == {"a": (1, set()), "c": (3, set()), "d": (4, set())}


def test_a_process_that_dies_is_no_loss(tmp_path: Path) -> None:
    parent = os.getpid()
    ending = {"a": lambda: 1, "b": lambda: os._exit(3) if os.getpid() != parent else 2}
    assert Processes(SourceTree(str(tmp_path)), [ending, ending]).results() == {}


@pytest.mark.parametrize("processors", [1, None, 8])
def test_nothing_is_started_for_little_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processors: int | None
) -> None:
    monkeypatch.setattr(processes, "_FEWEST", 3 if processors == 8 else 1)
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    shared = Processes(SourceTree(str(tmp_path)), [{"a": lambda: 1}, {"b": lambda: 2}])
    assert list(shared.mine()) == ["a", "b"] and shared.results() == {}
