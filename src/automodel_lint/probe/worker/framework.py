"""The framework that a class belongs to: its functions by name, wherever a version of it keeps them."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from automodel_lint.probe.worker.checks import NotProbed

FOLDERS = (
    "components.models.common",
    "components.checkpoint",
    "_transformers",
    "components.distributed",
    "components.moe",
    "components.utils",
    "shared",
)


class Framework:
    """A framework package, asked by the names of its functions and classes."""

    def __init__(self, package: str):
        self.package = package
        self._found: dict[str, Any] = {}

    def find(self, name: str) -> Any:
        """Return what the framework defines under ``name`` in its shared code, ``None`` if nothing."""
        if name not in self._found:
            self._found[name] = next(self._definitions(name), None)
        return self._found[name]

    def need(self, name: str) -> Any:
        """As :meth:`find`.

        Raises:
            NotProbed: if the framework has no such thing.
        """
        found = self.find(name)
        if found is None:
            raise NotProbed(f"{self.package} has no {name}")
        return found

    def _definitions(self, name: str) -> Iterator[Any]:
        pattern = re.compile(rf"^(def|class) {name}\b|^{name}\s*[:=]", re.M)
        for module, text in self._sources:
            if name in text and pattern.search(text):
                yield getattr(importlib.import_module(module), name)

    @cached_property
    def _sources(self) -> list[tuple[str, str]]:
        """The modules of the shared folders, with their texts."""
        spec = importlib.util.find_spec(self.package)
        roots = list(spec.submodule_search_locations or ()) if spec else []
        found = []
        for root in roots:
            for folder in FOLDERS:
                for path in sorted(Path(root, *folder.split(".")).rglob("*.py")):
                    parts = path.relative_to(root).with_suffix("").parts
                    name = ".".join((self.package, *(p for p in parts if p != "__init__")))
                    found.append((name, path.read_text(encoding="utf-8", errors="replace")))
        return found
