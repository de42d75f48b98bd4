"""Which test files are about which model package: what lies in its test folder, and what imports from it elsewhere."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from automodel_lint.domain.checkout import Checkout
from automodel_lint.domain.mentions import Mention, files_below, folder_beside, line_of, words_of
from automodel_lint.domain.plan import Registration
from automodel_lint.domain.test_marks import helpers, marks_of, runs_of
from automodel_lint.source import SourceTree

FACT = "tests of "
_ABOUT = re.compile(r"checkpoint|adapter|state_dict|memory|load|save|export|round|dcp|tie|regist")
_MODULE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$")

OWN = "own"  # lies in the folder of the package
ABOUT = "about"  # imports from the package, and its path names the package or a folder that is no other package's
USES = "uses"  # only imports from the package


@dataclass(frozen=True)
class TestFile:
    """A file of the tests that has to do with a model package.

    ``kind`` is :data:`OWN`, :data:`ABOUT` or :data:`USES`; the line is that of the first import from the package.
    ``marks`` is what it does, with what the helpers of the tests do that it imports; see :mod:`.test_marks`.
    """

    __test__ = False

    place: Mention
    kind: str
    marks: frozenset[str] = frozenset()

    @property
    def is_module(self) -> bool:
        """Whether a test runner collects it; fixtures and helpers are none."""
        return _MODULE.search(self.place.path) is not None


@dataclass
class TestIndex:
    """The test files by model package; ``root`` is the folder of the unit tests, ``None`` where there are no tests."""

    __test__ = False

    root: str | None = None
    packages: dict[str, list[TestFile]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return what :meth:`from_json` takes."""
        rows = {
            name: [[f.place.path, f.place.line, f.kind, sorted(f.marks)] for f in files]
            for name, files in self.packages.items()
        }
        return {"root": self.root, "packages": rows}

    @classmethod
    def from_json(cls, data: dict[str, Any], tree: SourceTree) -> TestIndex:
        """Inverse of :meth:`to_json`; makes each package's part known to ``tree`` as a fact."""
        tree.publish(f"{FACT}*", repr(data["root"]))
        for name, rows in data["packages"].items():
            tree.publish(
                f"{FACT}{name}", json.dumps([[path, kind, marks] for path, _, kind, marks in rows])
            )  # a line decides nothing
        packages = {
            name: [TestFile(Mention(path, line), kind, frozenset(marks)) for path, line, kind, marks in rows]
            for name, rows in data["packages"].items()
        }
        return cls(data["root"], packages)


def read_tests(checkout: Checkout, tree: SourceTree, registrations: Iterable[Registration]) -> TestIndex:
    """Look through the unit tests of a checkout (all of its tests, where it does not set unit tests apart).

    Of those that lie in no folder of models, only such are opened whose path names a package or says that it is about
    checkpoints, adapters or ties: a checkout has a thousand others.
    """
    root = folder_beside(checkout, tree, "tests", "unit_tests") or folder_beside(checkout, tree, "tests")
    if root is None:
        return TestIndex()
    packages = [n[:-1] for n in tree.entries(checkout.models_dir) or () if n.endswith("/") and not n.startswith("_")]
    importing = _Imports(checkout.package, packages)
    index = TestIndex(tree.relative(root), {name: [] for name in packages})
    classes = frozenset(entry.cls.rpartition(".")[2].encode() for entry in registrations)
    for path in files_below(tree, root, (".py",)):
        relative = tree.relative(path)
        home = _home(path[len(root) :].split(os.sep))
        below = path[len(root) :]
        if (
            f"{os.sep}models{os.sep}" not in below
            and not _ABOUT.search(below)
            and not any(n in below for n in packages)
        ):
            continue
        data = tree.read(path) or b""
        imported = importing.read(data)
        if not imported and home not in index.packages:
            continue
        marks = marks_of(data, classes)
        for helper in helpers(data, path, checkout.root):
            marks |= runs_of((tree.read(helper) or b"") if tree.exists(helper) else b"")
        for name in sorted({*imported, *([home] if home in index.packages else ())}):
            named = (home not in index.packages and home is not None) or names(relative, name, packages)
            kind = OWN if name == home else ABOUT if named else USES
            index.packages[name].append(TestFile(Mention(relative, imported.get(name, 1)), kind, frozenset(marks)))
    for files in index.packages.values():
        files.sort(key=lambda f: ([OWN, ABOUT, USES].index(f.kind), not f.is_module, f.place.path))
    return index


class _Imports:
    """Reads off which model packages a file imports from, or names the modules of."""

    def __init__(self, package: str, names: Iterable[str]):
        self.names = frozenset(names)
        models = re.escape(f"{package}.components.models")
        self.dotted = re.compile(rf"{models}\.(\w+)".encode())
        self.listed = re.compile(rf"{models}\s+import\s+(?:\(([^)]*)\)|([^\n(]+))".encode())

    def read(self, data: bytes) -> dict[str, int]:
        """Return the packages with the line of the first import."""
        found: dict[str, int] = {}
        for match in self.dotted.finditer(data):
            found.setdefault(match[1].decode(errors="replace"), match.start())
        for match in self.listed.finditer(data):
            for word in re.findall(rb"\w+", re.sub(rb"#[^\n]*|\bas\s+\w+", b"", match[1] or match[2])):
                found.setdefault(word.decode(errors="replace"), match.start())
        return {name: line_of(data, offset) for name, offset in found.items() if name in self.names}


def _home(parts: list[str]) -> str | None:
    """The folder below ``models`` that a test file lies in; tests of models are kept by package."""
    folders = parts[:-1]
    below = folders[folders.index("models") + 1 :] if "models" in folders else []
    return below[0] if below else None


def names(path: str, name: str, packages: Iterable[str]) -> bool:
    """Tell whether a path names a package in whole words, and no longer named one that begins alike."""
    words, wanted = words_of(path), words_of(name)
    longer = [w for w in map(words_of, packages) if len(w) > len(wanted) and w[: len(wanted)] == wanted]
    return any(
        words[at : at + len(wanted)] == wanted and not any(words[at : at + len(w)] == w for w in longer)
        for at in range(len(words))
    )
