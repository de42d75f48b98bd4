"""The plug-in inside the real flake8."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from automodel_lint.integrations.flake8 import Plugin

from . import real_package

MODELS = "acme_automodel/components/models"
ELM = f"{MODELS}/elm/model.py"


def _flake8(*arguments: object, cwd: Path, stdin: str | None = None, settings: str = "") -> list[str]:
    (cwd / ".flake8-test").write_text(f"[flake8]\n{settings}")
    done = subprocess.run(
        [sys.executable, "-m", "flake8", "--config", ".flake8-test", *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode in (0, 1), done.stderr
    assert done.stderr == ""
    return sorted(line.removeprefix("./") for line in done.stdout.splitlines())


def _check(cli, root: Path, *arguments: str) -> list[str]:
    done = cli("check", "--output-format", "concise", *arguments, cwd=root)
    return sorted(line for line in done.stdout.splitlines() if line.split(":")[0].endswith(".py"))


def test_the_same_verdict_as_the_command_line(example: Path, cli):
    found = _flake8("--select", "NAM", "-j", "2", ".", cwd=example)
    assert found == _check(cli, example)
    assert len(found) > 30


def test_the_real_package(cli, tmp_path: Path):
    root = real_package.copied("0.7.0", tmp_path)
    folders = ["llama", "kimi_k3", "qwen3_omni_moe", "mistral4", "ernie4_5", "gemma4_drafter", "llama_bidirectional"]
    paths = [f"nemo_automodel/components/models/{f}" for f in folders]
    found = _flake8("--select", "NAM", "-j", "2", *paths, cwd=root)
    everything = _check(cli, root)
    assert found == [line for line in everything if line.startswith(tuple(f"{p}/" for p in paths))]
    assert len(found) >= 10


@pytest.mark.parametrize("kind", ["absolute", "relative"])
def test_standard_input_with_a_name(example: Path, kind: str):
    """An unsaved buffer: linted as it stands, whatever is on disk."""
    fir = f"{MODELS}/fir/model.py"
    name = example / fir if kind == "absolute" else fir
    text = (example / fir).read_text()
    assert _flake8("--select", "NAM", "--stdin-display-name", name, "-", cwd=example, stdin=text) == []
    unsaved = text.replace("(type(self), config)", "(FirForCausalLM, config)")
    (line,) = _flake8("--select", "NAM", "--stdin-display-name", name, "-", cwd=example, stdin=unsaved)
    assert re.match(rf"{re.escape(str(name))}:\d+:9: NAM207 ", line)
    assert (example / fir).read_text() == text


def test_standard_input_without_a_name(example: Path):
    assert _flake8("--select", "NAM", "-", cwd=example, stdin=(example / ELM).read_text()) == []


def test_noqa_is_flake8s(example: Path):
    text = (example / ELM).read_text()
    guard = "reject_unsupported_tie_word_embeddings(ElmForCausalLM, config)"
    assert text.count(guard) == 1
    everything = _flake8("--select", "NAM", ELM, cwd=example)
    (example / ELM).write_text(text.replace(guard, f"{guard}  # noqa: NAM207"))
    left = _flake8("--select", "NAM", ELM, cwd=example)
    assert [line for line in everything if "NAM207" not in line] == left
    assert len(left) == len(everything) - 1
    assert _flake8("--select", "NAM", "--disable-noqa", ELM, cwd=example) == everything
    (example / ELM).write_text(text.replace(guard, f"{guard}  # automodel-lint: ignore[NAM207] final"))
    assert _flake8("--select", "NAM", "--disable-noqa", ELM, cwd=example) == left


def test_an_unused_noqa_is_found(example: Path):
    fir = example / MODELS / "fir" / "config.py"
    text = fir.read_text()
    fir.write_text(text.replace('    model_type = "fir"', '    model_type = "fir"  # noqa: NAM206'))
    (line,) = _flake8("--select", "NAM", fir, cwd=example)
    assert "NAM001" in line


def test_select_and_ignore_are_flake8s(example: Path):
    codes = {line.split()[1] for line in _flake8("--select", "NAM2", "--ignore", "NAM207", ELM, cwd=example)}
    assert codes == {"NAM205", "NAM213", "NAM216"}
    both = _flake8("--extend-ignore", "E,W", "--max-line-length", "200", ELM, cwd=example)
    assert {line.split()[1][:3] for line in both} == {"NAM"}, "on by default"


def test_our_own_settings_apply(example: Path):
    settings = (example / "pyproject.toml").read_text()
    (example / "pyproject.toml").write_text(settings + 'ignore = ["NAM207"]\n')
    assert not [line for line in _flake8("--select", "NAM", ELM, cwd=example) if "NAM207" in line]
    (example / "pyproject.toml").write_text(settings + "ignroe = []\n")
    (line,) = _flake8("--select", "NAM", ELM, cwd=example)
    assert line.startswith(f"{ELM}:1:1: NAM000 the settings of automodel-lint cannot be used")
    assert "did you mean 'ignore'" in line


def test_a_file_outside_any_checkout(tmp_path: Path):
    (tmp_path / "code.py").write_text("x = 1\n")
    assert _flake8("code.py", cwd=tmp_path) == []


def test_an_exception_never_aborts(example: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> None:
        raise RuntimeError("no\nluck")

    monkeypatch.setattr("automodel_lint.integrations.flake8.locate", fail)
    (found,) = Plugin(None, str(example / ELM), []).run()
    assert found[:2] == (1, 0)
    assert found[2].startswith("NAM000 automodel-lint failed on this file (RuntimeError: no luck)")


def test_a_rule_that_fails_is_one_finding(example: Path):
    """Through the real flake8: a broken rule costs neither flake8 nor the other rules."""
    (example / "sitecustomize.py").write_text(
        "import automodel_lint.rules.tie_guard as rules\n"
        "import automodel_lint.domain.tie_guard as domain\n"
        "def fail(*_, **__): raise KeyError('planted')\n"
        "import automodel_lint.domain.model_class as m\n"
        "m.guarding = fail\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "flake8", "--isolated", "--select", "NAM", ELM],
        cwd=example,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(example), "PATH": "/usr/bin:/bin"},
    )
    assert done.stderr == ""
    codes = [line.split()[1] for line in done.stdout.splitlines()]
    assert codes.count("NAM000") >= 1
    assert "NAM216" in codes
    assert "planted" in done.stdout
