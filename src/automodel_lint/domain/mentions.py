"""What lies beside the package in a repository: tests, documentation, examples; none of it in a wheel."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from automodel_lint.domain.checkout import Checkout
from automodel_lint.source import SourceTree

_SHARED = ("site-packages", "dist-packages")  # what lies beside an installed package is somebody else's


@dataclass(frozen=True)
class Mention:
    """Where a file is about a model: its path relative to the checkout's root, and the line from 1."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


def folder_beside(checkout: Checkout, tree: SourceTree, *parts: str) -> str | None:
    """Return a folder of the checkout (``"docs", "model-coverage"``), ``None`` where it has none."""
    if os.path.basename(checkout.root) in _SHARED:
        return None
    folder = os.path.join(checkout.root, *parts)
    return folder if tree.entries(folder) is not None else None


def files_below(tree: SourceTree, folder: str, endings: tuple[str, ...]) -> Iterator[str]:
    """Yield the files below a folder whose names have one of the endings, in a stable order; hidden ones apart."""
    for name in tree.entries(folder) or ():
        path = os.path.join(folder, name.rstrip("/"))
        if name.startswith((".", "__pycache__")):
            continue
        if not name.endswith("/"):
            if name.endswith(endings):
                yield path
        elif not os.path.islink(path):
            yield from files_below(tree, path, endings)


def line_of(data: bytes, offset: int) -> int:
    """Return the number of the line, from 1, that an offset lies in."""
    return data.count(b"\n", 0, offset) + 1


def words_of(name: str) -> list[str]:
    """Return the words of a path or a name in lower case: ``test_glm4_moe`` has ``test``, ``glm4`` and ``moe``."""
    return [word for word in re.split(r"[^a-z0-9]+", name.lower()) if word]
