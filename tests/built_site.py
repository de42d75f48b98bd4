"""The documentation site, built once for all tests, and its pages as a browser reads them."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from .conftest import ROOT

PARTS = ("mkdocs.yml", "CONTRIBUTING.md", "docs", "docs_site", "rules", "examples")  # what the site is built from
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())


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


@dataclass
class Element:
    """An element of a page."""

    tag: str
    attributes: dict[str, str]
    parent: Element | None = None
    children: list[Element | str] = field(default_factory=list)

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, tag: str = "", style: str = "") -> list[Element]:
        """The elements below this one, in order, of a tag and a class."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if tag in ("", child.tag) and (not style or style in child.classes):
                    found.append(child)
                found += child.all(tag, style)
        return found

    def one(self, tag: str = "", style: str = "") -> Element:
        """The only such element."""
        (found,) = self.all(tag, style)
        return found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.here = self.root = Element("", {})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, self.here)
        self.here.children.append(element)
        if tag not in _VOID:
            self.here = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.here.children.append(Element(tag, {name: value or "" for name, value in attrs}, self.here))

    def handle_endtag(self, tag: str) -> None:
        element: Element | None = self.here
        while element is not None and element.tag != tag:
            element = element.parent
        if element is not None and element.parent is not None:
            self.here = element.parent

    def handle_data(self, data: str) -> None:
        self.here.children.append(data)


@cache
def page(path: str) -> Element:
    """Return a page of the site, by its file below the root."""
    reader = _Reader()
    reader.feed((site() / path).read_text(encoding="utf-8"))
    return reader.root


def article(path: str) -> Element:
    """Return what a page says, without what stands around it on every page."""
    return page(path).one("article")


def pages() -> list[str]:
    """Return the files of all pages."""
    return sorted(path.relative_to(site()).as_posix() for path in site().rglob("*.html"))
