"""Shared fixtures: the example checkout, and the command line as a person calls it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "acme_automodel"
Cli = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of the example checkout that a test may change."""
    target = tmp_path / "checkout"
    shutil.copytree(EXAMPLE, target, ignore=shutil.ignore_patterns("__pycache__", ".automodel_lint_cache"))
    return target


@pytest.fixture
def cli() -> Cli:
    """Runs ``automodel-lint`` in a process of its own."""

    def run(*arguments: object, cwd: Path | None = None, stdin: str | bytes | None = None, **env: str):
        return subprocess.run(
            [sys.executable, "-m", "automodel_lint", *map(str, arguments)],
            cwd=cwd,
            input=stdin.decode() if isinstance(stdin, bytes) else stdin,
            capture_output=True,
            text=True,
            env={**os.environ, "COLUMNS": "200", **env},
            timeout=120,
        )

    return run
