"""The checkout under the examples of the rule pages, and how an example is read, laid over it and linted.

An example is one section *Bad* or *Good* of a page, or one ``###`` subsection of it. Its fenced blocks are files::

    ```python                                    the model file of the checkout below
    ```python title="path/in/the/checkout.py"    another file
    ```toml title="pyproject.toml"               a file of another kind
    ```yaml                                      a recipe beside that of the checkout

A comment ``# NAM209`` at the end of a line announces a finding on that line; ``# NAM204 NAM206`` announces two and
``# NAM208 (warning)`` one whose severity is not the page's own. The comments are taken off before the example is
linted, so that what is linted is what an author would write.

The examples of the probe's pages are laid into the example checkout instead, where they can be run: see
``test_probe_pages``.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from automodel_lint.findings import Finding
from automodel_lint.pages import Page, pages
from automodel_lint.session import Report, Request, Session

from .page_framework import CHECKOUT, LIBRARY, MODEL
from .page_recipes import RECIPE

_UNTITLED = {"python": MODEL, "yaml": RECIPE}
EXTRA = "Also fine"  # a Good example under such a heading has no counterpart in Bad

_FENCE = re.compile(
    r"^```(?P<language>\w+)(?:[ ]title=\"(?P<title>[^\"]+)\")?[ ]*\n(?P<text>.*?)^```[ ]*$", re.M | re.S
)
_ANY_FENCE = re.compile(r"^```.*$", re.M)
_HEADING = re.compile(r"^### (.+)$", re.M)
_ANNOUNCED = re.compile(r"[ ]*#(?P<codes>(?:[ ]NAM\d{3}(?:[ ]\((?:error|warning|info)\))?)+)[ ]*$")
_CODE = re.compile(r"(NAM\d{3})(?:[ ]\((\w+)\))?")


@dataclass(frozen=True, order=True)
class Announced:
    """A finding that an example announces, or one that came."""

    path: str
    line: int
    code: str
    severity: str
    message: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.code} [{self.severity}] {self.message}".rstrip()


@dataclass(frozen=True)
class Example:
    """One case of a page: its files as an author would write them, and the findings that they announce."""

    page: Page
    section: str
    heading: str
    files: dict[str, str]
    announced: tuple[Announced, ...]

    @property
    def id(self) -> str:
        """What the test is called."""
        return f"{self.page.code}-{self.page.name}/{self.section}" + (f"/{self.heading}" if self.heading else "")


class BrokenExample(Exception):
    """An example is not as it must be."""


def examples(page: Page, section: str) -> list[Example]:
    """Return the examples in a section of a page, in order."""
    parts = _HEADING.split(page.sections[section])
    cases = [("", parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]
    return [_example(page, section, heading.strip(), text) for heading, text in cases if _ANY_FENCE.search(text)]


def _example(page: Page, section: str, heading: str, text: str) -> Example:
    where = f"{page.code} {section} {heading}".strip()
    blocks = list(_FENCE.finditer(text))
    if 2 * len(blocks) != len(_ANY_FENCE.findall(text)):
        raise BrokenExample(f'{where}: a fence that is no file (```python, ```python title="…", ```toml title="…")')
    files: dict[str, str] = {}
    announced: list[Announced] = []
    for block in blocks:
        path = block["title"] or _UNTITLED.get(block["language"])
        if path is None or path in files:
            raise BrokenExample(f"{where}: {path} twice, or a file without a title")
        lines = block["text"].splitlines()
        for number, line in enumerate(lines, 1):
            comment = _ANNOUNCED.search(line)
            if comment:
                lines[number - 1] = line[: comment.start()]
                announced += [
                    Announced(path, number, code, severity or str(pages()[code].severity))
                    for code, severity in _CODE.findall(comment["codes"])
                ]
        files[path] = "".join(f"{line}\n" for line in lines)
    return Example(page, section, heading, files, tuple(announced))


# -- running --------------------------------------------------------------------------------------------------------


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files below a folder."""
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def lay(folder: Path, files: dict[str, str]) -> Path:
    """Write the checkout with ``files`` over it, and the library; return the checkout's root."""
    root = folder / "checkout"
    write(root, {**CHECKOUT, **files})
    write(folder / "library", LIBRARY)
    return root


def lint(root: Path, library: bool = True) -> Report:
    """Lint a checkout that :func:`lay` has written, with or without the source of the library at hand."""
    session = Session(Request(paths=[str(root)], select=["NAM"], extend_select=["NAM804"], cache=False))
    session.search_path = [str(root.parent / "library")] if library else []
    return session.run()


def seen(findings: list[Finding]) -> list[Announced]:
    """Return what came in the form of what is announced."""
    return [Announced(f.path, f.span.line, f.code, str(f.severity), f.message) for f in findings]


def difference(expected: tuple[Announced, ...], found: list[Announced]) -> str:
    """Return what is missing and what is unexpected, a line each; empty if all is as announced."""
    missing, unexpected = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    texts = {f: str(f) for f in found}
    lines = [f"missing     {a}" for a in sorted(missing.elements())]
    lines += [f"unexpected  {texts[a]}" for a in sorted(unexpected.elements())]
    return "\n".join(lines)
