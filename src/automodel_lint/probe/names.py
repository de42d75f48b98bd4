"""Names of tensors in messages of both halves: layers and experts under one name."""

from __future__ import annotations

import re
from collections.abc import Iterable

INDEX = re.compile(r"(?<=\.)\d+(?=\.|$)")


def brief(names: Iterable[str], most: int = 4) -> str:
    """Return names with their numbers as ``*``, each with how often it occurs: ``model.layers.*.w (4x)``."""
    counts: dict[str, int] = {}
    for name in names:
        pattern = INDEX.sub("*", name)
        counts[pattern] = counts.get(pattern, 0) + 1
    shown = [pattern if n == 1 else f"{pattern} ({n}x)" for pattern, n in list(counts.items())[:most]]
    return ", ".join(shown) + (f" and {len(counts) - most} more" if len(counts) > most else "")
