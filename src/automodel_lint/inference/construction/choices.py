"""Functions of several values, each of which may be one of many."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from automodel_lint.inference.construction.heap import Conditions, Heap, choice, merged
from automodel_lint.inference.construction.truth import parts
from automodel_lint.inference.construction.values import UNKNOWN, Choice, Value

_MOST = 64  # combinations that are told apart


def distributed(values: Sequence[Value], heap: Heap, function: Callable[[list[Value]], Value]) -> Value:
    """Apply a function of single values to every combination of alternatives that is possible."""
    if not any(isinstance(value, Choice) for value in values):
        return function(list(values))
    rows: list[tuple[Conditions, list[Value]]] = [((), [])]
    for value in values:
        rows = [
            (both, [*row, single])
            for conditions, row in rows
            for more, single in parts(value, heap)
            if (both := merged(conditions, more)) is not None
        ]
        if len(rows) > _MOST:
            return UNKNOWN
    return choice([(conditions, function(row)) for conditions, row in rows])
