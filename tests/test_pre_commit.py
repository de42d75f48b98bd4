"""The hooks under the real pre-commit, installed from this repository into a scratch one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from . import clean_example
from .conftest import ROOT

MODELS = "acme_automodel/components/models"
FIR = f"{MODELS}/fir/model.py"
REGISTRY = "acme_automodel/_transformers/registry.py"


def _git(root: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A scratch repository with the clean example committed."""
    root = tmp_path / "scratch"
    for path, text in clean_example.clean().items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    _git(root, "init", "--quiet", "--initial-branch", "main")
    _git(root, "add", ".")
    _git(root, "commit", "--quiet", "--message", "clean")
    return root


def _stage(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text()
    assert text.count(old) == 1, (old, text.count(old))
    (root / path).write_text(text.replace(old, new))
    _git(root, "add", path)


def _try(root: Path, hook: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), hook, "--color", "never", *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "200", "GIT_TERMINAL_PROMPT": "0"},
        timeout=300,
    )


def test_a_fault_in_a_staged_model_file_blocks(repository: Path):
    _stage(repository, FIR, "(type(self), config)", "(FirForCausalLM, config)")
    done = _try(repository, "automodel-lint")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Failed" in done.stdout
    assert "NAM207" in done.stdout
    assert f"{FIR}:" in done.stdout


def test_a_registry_edit_that_breaks_a_model_blocks(repository: Path):
    _stage(repository, REGISTRY, "models.fir.model", "models.fir.modelling")
    done = _try(repository, "automodel-lint")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "NAM101" in done.stdout


def test_an_excluded_file_that_is_passed_stays_excluded(repository: Path):
    settings = repository / "pyproject.toml"
    settings.write_text(settings.read_text() + f'exclude = ["{MODELS}/fir"]\n')
    _stage(repository, FIR, "(type(self), config)", "(FirForCausalLM, config)")
    done = _try(repository, "automodel-lint", "--files", FIR)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout


def test_the_hook_for_repairs(repository: Path):
    """The commit stops with the file repaired; staged so, it goes through."""
    clean = (repository / FIR).read_text()
    _stage(repository, FIR, "(type(self), config)", "(FirForCausalLM, config)  # asked first")
    done = _try(repository, "automodel-lint-fix")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "files were modified by this hook" in done.stdout
    assert "Repaired 1 finding in 1 file." in done.stdout
    assert (repository / FIR).read_text() == clean.replace("self), config)\n", "self), config)  # asked first\n", 1)
    _git(repository, "add", FIR)
    assert _try(repository, "automodel-lint-fix").returncode == 0


def test_the_hook_for_the_whole_checkout_and_the_one_for_repairs(repository: Path):
    """One broken model, another one staged: only the hook for everything sees it."""
    (repository / FIR).write_text(
        (repository / FIR).read_text().replace("(type(self), config)", "(FirForCausalLM, config)")
    )
    _git(repository, "commit", "--quiet", "--all", "--message", "broken")
    everything = _try(repository, "automodel-lint-all", "--all-files")
    assert everything.returncode == 1, everything.stdout + everything.stderr
    assert "NAM207" in everything.stdout
    repairs = _try(repository, "automodel-lint-fix", "--files", f"{MODELS}/juniper/model.py", "--verbose")
    assert repairs.returncode == 0, repairs.stdout + repairs.stderr
