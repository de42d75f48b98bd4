"""Names of tensors: many as one short text, several of one tensor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch

from automodel_lint.probe.worker.folding import folded


def listed(names: Iterable[str], most: int = 3) -> str:
    """Return names for a sentence: ```a.*.weight`, `b` (and 4 more, 20 tensors in all)``."""
    every = list(names)
    short = list(dict.fromkeys(map(folded, every)))
    notes = [f"and {len(short) - most} more"] if len(short) > most else []
    notes += [f"{len(every)} tensors in all"] if len(every) > len(short) else []
    return ", ".join(f"`{name}`" for name in short[:most]) + (f" ({', '.join(notes)})" if notes else "")


def aliases(named: Iterable[tuple[str, torch.Tensor]]) -> Iterator[tuple[str, str]]:
    """Yield the first name of a tensor with each further name of it."""
    first: dict[int, str] = {}
    for name, tensor in named:
        if first.setdefault(id(tensor), name) != name:
            yield first[id(tensor)], name
