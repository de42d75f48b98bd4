"""Shared fixtures: the example checkout, and the command line as a person calls it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from automodel_lint.session import Session

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "acme_automodel"
# What the CI that runs these tests tells of itself changes what the command line shows.
for name in [n for n in os.environ if n.startswith("GITHUB_") or n in ("CI_PROJECT_DIR", "CI_PROJECT_URL")]:
    del os.environ[name]
Find = Callable[[Path], None]
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

    def run(
        *arguments: object,
        cwd: Path | None = None,
        stdin: str | bytes | None = None,
        timeout: float = 120,
        **env: str,
    ):
        return subprocess.run(
            [sys.executable, "-m", "automodel_lint", *map(str, arguments)],
            cwd=cwd,
            input=stdin.decode() if isinstance(stdin, bytes) else stdin,
            capture_output=True,
            text=True,
            env={**os.environ, "COLUMNS": "200", **env},
            timeout=timeout,
        )

    return run


@pytest.fixture
def sessions_find(monkeypatch: pytest.MonkeyPatch) -> Find:
    """Lets every session find the libraries of one folder, and nothing that happens to be installed."""
    made = Session.__init__

    def choose(library: Path) -> None:
        def with_library(session: Session, *arguments: Any) -> None:
            made(session, *arguments)
            session.search_path = [str(library)]

        monkeypatch.setattr(Session, "__init__", with_library)

    return choose


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Any]:
    """A server that behaves as GitHub does, with a pull request, and ``annotate`` to run on it."""
    from .annotate_runs import at_bench

    with at_bench(tmp_path, monkeypatch, capsys) as made:
        yield made


@pytest.fixture(scope="session")
def torch_python() -> str:
    """An interpreter that has what ``requirements-torch.txt`` names; the linter's own needs none of it."""
    chosen = os.environ.get("AUTOMODEL_LINT_TORCH_PYTHON")
    path = Path(chosen) if chosen else ROOT / ".venv-truth" / "bin" / "python"
    if not path.is_file():
        pytest.fail(
            f"{path}: no interpreter there. These tests really construct models: `make .venv-truth/.ready` makes one "
            "with torch, or let AUTOMODEL_LINT_TORCH_PYTHON name one that has tests/requirements-torch.txt.",
            pytrace=False,
        )
    return str(path)
