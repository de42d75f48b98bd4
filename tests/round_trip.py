"""The bench for repairs on real code: the published package in a folder of its own, edited only in memory.

A batch is one injection in several real files at once, linted and repaired in one go: a run costs little more than the
verdicts on what has changed.
"""

from __future__ import annotations

import io
import os
import shutil
import tokenize
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import pytest

from automodel_lint import source
from automodel_lint.cache import FOLDER
from automodel_lint.findings import Finding
from automodel_lint.session import Request, Session

from .clean_example import without_entries
from .injections import MODEL, PACKAGE, REGISTRY, Injected, Injection, Target
from .real_package import unpacked

Key = tuple[str, str | None]


@dataclass
class Batch:
    """One injection in several files: what it made of them, and of which targets."""

    injection: Injection
    injected: dict[Target, Injected]
    texts: dict[str, str]
    after: dict[str, str | None]


@dataclass
class Bench:
    """A checkout with the published package. Paths are below its root."""

    root: Path
    before: dict[str, Counter[Key]] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)

    @classmethod
    def lay(cls, root: Path, version: str, targets: Iterable[Target]) -> Bench:
        """Lay the Python files of a published version below ``root``, as hard links where the file system has them.

        The registry is cut down to the packages of the targets: what is not asked about need not be linted.
        """
        package = unpacked(version)
        for path in (package / "nemo_automodel").rglob("*.py"):
            copy = root / path.relative_to(package)
            copy.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(path, copy)
            except OSError:
                copy.write_bytes(path.read_bytes())
        registry = root / "nemo_automodel/_transformers/registry.py"
        kept = tuple(f".models.{target.package}." for target in targets)
        text = without_entries(registry.read_text("utf-8"), lambda t: ".models." in t and not any(k in t for k in kept))
        registry.unlink()  # a link must not be written through
        registry.write_text(text, "utf-8")
        return cls(root)

    @staticmethod
    def hasten(patch: pytest.MonkeyPatch) -> None:
        """Let sessions share syntax trees, which nothing changes: parsing is half of a verdict's cost."""
        patch.setattr(source, "parsed", lru_cache(maxsize=None)(source.parsed))

    def text(self, path: str) -> str:
        """Return the original text of a file."""
        if path not in self._texts:
            self._texts[path] = (self.root / path).read_bytes().decode()
        return self._texts[path]

    def applied(self, injection: Injection, targets: list[Target]) -> Batch:
        """Put an injection into the files of those targets that have a place for it."""
        batch = Batch(injection, {}, {}, {})
        for target in targets:
            path = target.path(injection.into)
            injected = injection.inject(batch.texts.get(path, self.text(path)), target.cls) if path else None
            if path and injected is not None:
                batch.injected[target] = injected
                batch.texts[path] = injected.text
                # Several targets share the registry, where every repair is the inverse.
                batch.after[path] = self.text(path) if injection.into == REGISTRY else injected.after
        return batch

    def request(self, texts: dict[str, str], targets: list[Target], select: list[str]) -> Request:
        """Return what asks about the packages of some targets while files have other texts than on disk."""
        overlay = {str(self.root / path): text.encode() for path, text in texts.items()}
        paths = [os.path.dirname(self.root / (t.path(MODEL) or "")) for t in targets]
        return Request(paths=paths, overlay=overlay, select=select)

    def findings(self, texts: dict[str, str], targets: list[Target]) -> dict[str, list[Finding]]:
        """Return everything that is found in the packages of some targets, by package; info counts too."""
        # An overlay that changes nothing has the same verdicts kept as one that does.
        texts = texts or {path: self.text(path) for t in targets if (path := t.path(PACKAGE))}
        found: dict[str, list[Finding]] = {target.package: [] for target in targets}
        for finding in Session(self.request(texts, targets, ["NAM"])).run().findings:
            for package, here in found.items():
                # An entry of the registry belongs to the package whose module it names.
                if f"/models/{package}/" in finding.path or f".models.{package}." in finding.message:
                    here.append(finding)
                    break
        return found

    def learn(self, targets: list[Target]) -> None:
        """Lint the original files of all targets once, and keep the verdicts."""
        self.before = {package: keys(found) for package, found in self.findings({}, targets).items()}
        shutil.copytree(self.root / FOLDER, self._kept, dirs_exist_ok=True)

    def forget(self) -> None:
        """Go back to the verdicts on the original files, so that of what a batch left nothing has to be linted anew."""
        shutil.copytree(self._kept, self.root / FOLDER, dirs_exist_ok=True)

    @property
    def _kept(self) -> Path:
        return self.root / "verdicts"

    def new(self, texts: dict[str, str], targets: list[Target]) -> dict[str, list[Finding]]:
        """Return what is found beyond the findings of the original files, by package."""
        result = {}
        for package, found in self.findings(texts, targets).items():
            left = Counter(self.before[package])
            result[package] = []
            for finding in found:
                if left[finding.code, finding.symbol] > 0:
                    left[finding.code, finding.symbol] -= 1
                else:
                    result[package].append(finding)
        return result


def keys(findings: list[Finding]) -> Counter[Key]:
    """Count findings by what stays when lines are moved."""
    return Counter((f.code, f.symbol) for f in findings)


def comments(text: str) -> Counter[str]:
    """Count the comments of a source text."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(t.string for t in tokens if t.type == tokenize.COMMENT)
