"""The documentation site, built once for all tests, and its pages as a browser reads them."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from .conftest import ROOT
from .page_reader import Element, parsed

PARTS = ("mkdocs.yml", "CONTRIBUTING.md", "docs", "docs_site", "rules", "examples")  # what the site is built from


def build(target: Path, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Build the site of a checkout as ``make docs`` does."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)],
        cwd=root,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )


@cache
def site() -> Path:
    """Return the folder with the built site."""
    target = Path(tempfile.mkdtemp(prefix="automodel-lint-site-"))
    atexit.register(shutil.rmtree, target, ignore_errors=True)
    done = build(target)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def copy(target: Path) -> Path:
    """Copy what the site is built from, to be changed by a test."""
    (target / "benchmarks" / "reproductions").mkdir(parents=True)  # a page names the folder
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, target / part, ignore=shutil.ignore_patterns("__pycache__", ".automodel*"))
        else:
            shutil.copy(ROOT / part, target / part)
    return target


@cache
def page(path: str) -> Element:
    """Return a page of the site, by its file below the root."""
    return parsed((site() / path).read_text(encoding="utf-8"))


def article(path: str) -> Element:
    """Return what a page says, without what stands around it on every page."""
    return page(path).one("article")


def pages() -> list[str]:
    """Return the files of all pages."""
    return sorted(path.relative_to(site()).as_posix() for path in site().rglob("*.html"))
