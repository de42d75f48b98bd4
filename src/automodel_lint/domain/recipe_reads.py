"""What the framework itself reads of a recipe by name: such a key goes to the code that reads it, not to a target.

Known from the sources of the recipe classes, by the text of their reads: ``cfg.get("distributed.tp_size")``,
``cfg.model.backend``, ``kwargs.pop("tokenizer")``. A question about one key is recorded as just that.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from automodel_lint.source import remembered

if TYPE_CHECKING:
    from automodel_lint.domain.project import Project

FRAMEWORK = "nemo_automodel"
Path = tuple[str | int, ...]


class RecipeReads:
    """Answers questions about the recipe classes of one project; each is answered once."""

    def __init__(self, project: Project):
        self.project, self.tree = project, project.tree

    def sources(self) -> Iterator[str]:
        """Yield the files of the recipe classes: those of the checkout, and of the framework that it extends."""
        for name in dict.fromkeys((self.project.checkout.package, FRAMEWORK)):
            path = self.project.names.path_of(name)
            if path is not None:
                yield from self.tree.python_files(os.path.join(os.path.dirname(path), "recipes"))

    def by_name(self, path: Path, key: str) -> bool:
        """Tell whether a recipe class may read, by its name, a key of the mapping that ``path`` leads to."""
        section = next((str(part) for part in reversed(path) if isinstance(part, str)), "")
        return self._by_name(section, key)

    @remembered
    def _by_name(self, section: str, key: str) -> bool:
        name, where = re.escape(key), re.escape(section)
        quoted = rf"""["']{name}["']"""
        ways = [rf"\.pop\(\s*{quoted}", rf"{quoted}\s+(?:not\s+)?in\b", rf"(?<!\bcfg)\.get\(\s*{quoted}"]
        ways += [rf"""["'.]{where}\.{name}\b"""] if section else [rf"\bcfg\.get\(\s*{quoted}", rf"\bcfg\.{name}\b"]
        return self._holds(key, "|".join(ways), self.sources())

    @remembered
    def makes_plainly(self, section: str) -> bool:
        """Tell whether an object is made of a section with what that says, and nothing else, wherever one is made."""
        words, files = f"cfg.{section}.instantiate(", list(self.sources())
        call = rf"\b{re.escape(words)}\s*"
        return self._holds(words, rf"{call}\)", files) and not self._holds(words, rf"{call}[^)\s]", files)

    @remembered
    def mentions(self, word: str) -> bool:
        """Tell whether the recipe classes, or the modules that load data for them, have a word at all."""
        loaders = (path for path in self.project.package_files() if path.endswith("loader.py"))
        return self._holds(word, rf"\b{re.escape(word)}\b", (*self.sources(), *loaders))

    @remembered
    def defines(self, name: str) -> bool | None:
        """Tell whether a recipe class has this name, where the command line looks; ``None`` if it looks nowhere."""
        paths = list(self.searched())
        return self._holds(name, rf"(?m)^class\s+{re.escape(name)}\s*[(:]", paths) if paths else None

    def searched(self) -> Iterator[str]:
        """Yield the files that the command line searches: those with an underscore in front are passed over."""
        return (path for path in self.sources() if not os.path.basename(path).startswith("_"))

    def _holds(self, text: str, pattern: str, paths: Iterable[str]) -> bool:
        """Whether a file has something that matches; only one with the text is searched, which is quick to see."""
        return any(self.tree.holds(path, text.encode()) and self.tree.matches(path, pattern) for path in paths)
