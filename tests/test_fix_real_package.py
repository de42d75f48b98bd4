"""All safe repairs made in the whole of nemo-automodel 0.7.0, in memory and then in a copy.

The copy is imported and probed beside the package as it was published.
"""

from __future__ import annotations

import ast
import difflib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from automodel_lint.fixes.draft import Draft
from automodel_lint.fixes.repairing import Outcome, key_of, repaired
from automodel_lint.fixes.shapes import safety
from automodel_lint.request import Request
from automodel_lint.session import Session

from . import real_package

VERSION = "0.7.0"
# Classes whose files the repairs change most: guards moved, mixins, casts, pins, exports.
PROBED = (
    "DeepseekV3ForCausalLM",
    "GptOssForCausalLM",
    "LlamaForCausalLM",
    "MiniMaxM2ForCausalLM",
    "Qwen3MoeForCausalLM",
    "Step3p5ForCausalLM",
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_package.copied(VERSION, tmp_path_factory.mktemp("published"))


@pytest.fixture(scope="module")
def outcome(root: Path) -> Outcome:
    return repaired(Request(paths=[str(root)], select=["NAM"], cache=False))


@pytest.fixture(scope="module")
def mended(outcome: Outcome, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the repairs made."""
    copy = real_package.copied(VERSION, tmp_path_factory.mktemp("mended"))
    for path, (_, new) in outcome.files.items():
        (copy / Path(path).relative_to(root)).write_bytes(new)
    return copy


def test_there_is_something_to_repair(outcome: Outcome):
    assert len(outcome.fixed) >= 80
    assert len({f.code for f in outcome.fixed}) >= 8


def test_nothing_is_dropped(outcome: Outcome):
    assert [(f.code, f.path, why) for f, why in outcome.dropped] == []


def test_every_file_parses_and_keeps_its_comments(outcome: Outcome):
    for path, (old, new) in outcome.files.items():
        ast.parse(new, path)
        assert Draft(new).comments() == Draft(old).comments(), path


def test_only_the_announced_lines_change(outcome: Outcome, root: Path):
    """The edits that each finding carries, made one round after the other, are all that changes."""
    texts = {path: Draft(old).text for path, (old, _) in outcome.files.items()}
    for findings in outcome.rounds:
        for path in texts:
            relative = Path(path).relative_to(root).as_posix()
            edits = {e for f in findings if f.path == relative for e in f.edits or ()}
            texts[path] = _with(texts[path], edits)
    assert {path: text.encode() for path, text in texts.items()} == {p: new for p, (_, new) in outcome.files.items()}


def _with(text: str, edits: set[Any]) -> str:
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    for edit in sorted(edits, key=lambda e: e.span, reverse=True):
        start = starts[edit.span.line - 1] + edit.span.column - 1
        end = starts[edit.span.end_line - 1] + edit.span.end_column - 1
        text = text[:start] + edit.text + text[end:]
    return text


def test_what_was_repaired_is_gone_and_nothing_new_has_come(outcome: Outcome, root: Path, mended: Path):
    before = Session(Request(paths=[str(root)], select=["NAM"], cache=False)).run().findings
    after = Session(Request(paths=[str(mended)], select=["NAM"], cache=False)).run().findings
    repaired_keys = {key_of(f) for f in outcome.fixed}
    left = {key_of(f) for f in after}
    assert not repaired_keys & left
    assert left <= {key_of(f) for f in before}
    assert not [f for f in after if safety(f) == "safe"]
    also = [f for f in before if key_of(f) not in repaired_keys | left]
    places = {(f.path, f.symbol) for f in outcome.fixed}
    assert all((f.path, f.symbol) in places for f in also), "gone with the repair of another at the same place"


def test_the_diff_is_small(outcome: Outcome):
    """A repair touches a few lines; none rewrites a file."""
    for path, (old, new) in outcome.files.items():
        lines = list(difflib.ndiff(old.decode().splitlines(), new.decode().splitlines()))
        changed = sum(line.startswith(("+ ", "- ")) for line in lines)
        assert changed <= 40, path


def test_ruff_says_the_same_before_and_after(root: Path, mended: Path):
    """Imports are in order and used, and the layout is one that ``ruff format`` leaves alone."""

    def said(checkout: Path, *command: str) -> list[str]:
        ruff = [sys.executable, "-m", "ruff", *command, "--isolated", "--line-length", "120", "nemo_automodel"]
        lines = subprocess.run(ruff, cwd=checkout, capture_output=True, text=True, check=False).stdout.splitlines()
        return sorted(re.sub(r":\d+:\d+:", ":", line) for line in lines)

    checks = ("check", "--select", "I,F,E9", "--output-format", "concise")
    assert said(mended, *checks) == said(root, *checks)
    layout = said(root, "format", "--check")
    assert layout == ["803 files already formatted"], "what is published is formatted so"
    assert said(mended, "format", "--check") == layout


_IMPORTS = """
import importlib, json, pathlib, sys
root = pathlib.Path(sys.argv[1]) / "nemo_automodel"
import nemo_automodel
assert pathlib.Path(nemo_automodel.__file__).parent == root, nemo_automodel.__file__
found = {}
folders = sorted(p.name for p in (root / "components/models").iterdir() if p.is_dir())
names = [f"nemo_automodel.components.models.{name}" for name in folders]
from nemo_automodel._transformers.registry import MODEL_ARCH_MAPPING
names += [entry[0] + ":" + entry[1] for entry in MODEL_ARCH_MAPPING.values()]
for name in names:
    module, _, cls = name.partition(":")
    try:
        loaded = importlib.import_module(module)
        found[name] = repr(getattr(loaded, cls)) if cls else "imported"
    except BaseException as error:
        found[name] = f"{type(error).__name__}: {error}".replace(str(root), "")
print(json.dumps(found))
"""


def _imported(python: str, root: Path) -> dict[str, str]:
    done = subprocess.run(
        [python, "-c", _IMPORTS, str(root)],
        env={"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin", "HOME": str(root), "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_the_repaired_package_still_imports(torch_python: str, root: Path, mended: Path):
    published, now = _imported(torch_python, root), _imported(torch_python, mended)
    assert sum(text.startswith("<class") for text in published.values()) > 60
    assert now == published


def test_the_probe_says_the_same_or_better(torch_python: str, root: Path, mended: Path, cli):
    def findings(checkout: Path) -> set[tuple[str, str]]:
        chosen = [word for name in PROBED for word in ("--arch", name)]
        done = cli(
            "probe", checkout, "--python", torch_python, *chosen, "--output-format", "json", "--exit-zero", timeout=900
        )
        assert done.returncode == 0, done.stderr
        data = json.loads(done.stdout)
        assert len(data["probe"]) == len(PROBED)
        rows = {(row["class"], code, check["status"]) for row in data["probe"] for code, check in row["checks"].items()}
        passed.append({(cls, code) for cls, code, status in rows if status == "passed"})
        return {(cls, code) for cls, code, status in rows if status == "finding"}

    passed: list[set[tuple[str, str]]] = []
    before, after = findings(root), findings(mended)
    assert after <= before
    assert passed[0] <= passed[1]
