"""Kept verdicts: the same as fresh ones, and gone as soon as anything they rest on changes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from automodel_lint.cache import FOLDER
from automodel_lint.engine import Engine
from automodel_lint.session import Request, Session

MODELS = "acme_automodel/components/models"
FIR = f"{MODELS}/fir/model.py"


def _lint(root: Path, cache: bool = True, **request) -> list[tuple]:
    findings = Session(Request(paths=[str(root)], select=["NAM"], cache=cache, **request)).run().findings
    return [(f.code, f.path, f.span, f.symbol, f.architectures, f.message, f.fingerprint) for f in findings]


def _edit(path: str, old: str, new: str) -> Callable[[Path], None]:
    def edit(root: Path) -> None:
        text = (root / path).read_text()
        assert old in text
        (root / path).write_text(text.replace(old, new))

    return edit


def _write(path: str, text: str) -> Callable[[Path], None]:
    return lambda root: (root / path).write_text(text) and None


def _remove(path: str) -> Callable[[Path], None]:
    return lambda root: (root / path).unlink()


EDITS = {
    "a model": (_edit(FIR, "(type(self), config)", "(FirForCausalLM, config)"), {"NAM207"}),
    "a base in another file": (
        _edit(f"{MODELS}/common/causal_lm.py", "(type(self), config)", "(CausalLMBase, config)"),
        {"NAM207"},
    ),
    "the registry": (
        _edit("acme_automodel/_transformers/registry.py", "models.fir.model", "models.fir.modelling"),
        {"NAM101", "NAM107"},
    ),
    "a file that is gone": (_remove(f"{MODELS}/fir/model.py"), {"NAM101"}),
    "the canonical capabilities": (
        _edit("acme_automodel/_transformers/model_capabilities.py", "supports_thd", "supports_packed"),
        set(),
    ),
    "a new model that nobody registered": (
        _edit(f"{MODELS}/rowan/model.py", "RowanForCausalLM", "SorbusForCausalLM"),
        {"NAM107"},
    ),
    "a package's exports": (_write(f"{MODELS}/fir/__init__.py", ""), {"NAM106"}),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_seen(example: Path, name: str):
    edit, codes = EDITS[name]
    before = _lint(example)
    assert before == _lint(example, cache=False) == _lint(example)
    edit(example)
    after = _lint(example)
    assert after == _lint(example, cache=False)
    if codes:
        assert codes <= {f[0] for f in after if f not in before}
    assert after == _lint(example), "and kept again"


def test_a_missing_module_that_appears(example: Path):
    before = _lint(example)
    assert "NAM101" in {f[0] for f in before}
    (example / MODELS / "hazel").mkdir()
    (example / MODELS / "hazel" / "__init__.py").write_text("from .model import HazelForCausalLM\n")
    (example / MODELS / "hazel" / "model.py").write_text(
        "class HazelForCausalLM:\n    pass\n\n\nModelClass = HazelForCausalLM\n"
    )
    after = _lint(example)
    assert "NAM101" not in {f[0] for f in after}
    assert after == _lint(example, cache=False)


def test_nothing_is_asked_again_while_nothing_changes(example: Path, monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    original = Engine._asked

    def counting(self: Engine, make, path: str, name: str):
        asked.append(name)
        return original(self, make, path, name)

    monkeypatch.setattr(Engine, "_asked", counting)
    _lint(example)
    assert len(asked) > 50
    asked.clear()
    _lint(example)
    assert asked == []
    _edit(f"{MODELS}/juniper/model.py", "(type(self), config)", "(JuniperForCausalLM, config)")(example)
    _lint(example)
    assert "JuniperForCausalLM" in asked
    assert len(asked) < 6, "one model's edit leaves the verdicts on the others alone"


def test_other_settings_and_buffers_have_their_own_verdicts(example: Path):
    plain = _lint(example)
    buffer = (example / FIR).read_text().replace("(type(self), config)", "(FirForCausalLM, config)")
    edited = _lint(example, overlay={str(example / FIR): buffer.encode()})
    assert "NAM207" in {f[0] for f in edited if f[1] == FIR}
    assert _lint(example) == plain


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b'{"format": 1}',
        b'{"format": 1, "states": [], "verdicts": {"plan": {"read": [9], "value": 1}}}',
    ],
)
def test_a_damaged_cache_is_thrown_away(example: Path, damage: bytes):
    fresh = _lint(example)
    (path,) = (example / FOLDER).glob("verdicts-*.json")
    path.write_bytes(damage)
    assert _lint(example) == fresh
    json.loads(path.read_text())


@pytest.mark.parametrize("cut", [0.3, 0.9])
def test_a_cache_with_nonsense_in_it(example: Path, cut: float):
    fresh = _lint(example)
    (path,) = (example / FOLDER).glob("verdicts-*.json")
    data = json.loads(path.read_text())
    for key in list(data["verdicts"])[: int(len(data["verdicts"]) * cut)]:
        data["verdicts"][key]["value"] = {"nonsense": key}
    path.write_text(json.dumps(data))
    assert _lint(example) == fresh


def test_no_cache_writes_nothing(example: Path):
    _lint(example, cache=False)
    assert not (example / FOLDER).exists()


def test_the_folder_ignores_itself_and_does_not_grow(example: Path, monkeypatch: pytest.MonkeyPatch):
    for number in range(8):
        monkeypatch.setattr("automodel_lint.cache._own_state", lambda n=number: f"another tool {n}")
        _lint(example)
    names = os.listdir(example / FOLDER)
    assert (example / FOLDER / ".gitignore").read_text() == "*\n"
    assert len([n for n in names if n.startswith("verdicts-")]) <= 5
    assert not [n for n in names if n.endswith(".tmp")]
