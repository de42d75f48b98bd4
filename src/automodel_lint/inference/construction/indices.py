"""The number that stands for any index: what is computed with it, and what it compares as.

A name ``model.layers.*`` is followed with one number for all layers of the backbone. What is put behind them, as the
layers that predict further tokens are in many checkpoints (``num_hidden_layers + i``), has another number.
"""

from __future__ import annotations

import ast
import re
import zlib
from collections.abc import Iterable
from typing import Any

from automodel_lint.inference.construction.values import ANY_INDEX, Index, Known, Thing, Value

_BEHIND = ANY_INDEX + 1000  # an index behind the last layer
_ANY = str(ANY_INDEX)
_WRITTEN = re.compile(r"(?<=\.)\d{1,6}(?=\\?\.|$|\$)|^\d{1,6}(?=\\?\.)")
_FIELDS = "num_hidden_layers|num_layers|n_layers|mtp_base_layer_idx|num_nextn_predict_layers|num_mtp_modules"
_COUNT = rf"\(?config[\w.]*\.(?:{_FIELDS})(?: or 0)?\)?"
_IS_COUNT, _IS_MORE = re.compile(_COUNT), re.compile(_COUNT + r" \+ .*")


def as_index(value: Value) -> Value:
    """Return what is computed with an index: an index, too, or a number that nobody knows."""
    number = value.value if isinstance(value, Known) else None
    if not isinstance(number, int):
        return value if isinstance(number, str) else Thing("index")
    return Known(Index(number)) if abs(number) >= ANY_INDEX // 8 else Thing("index")


def shifted(left: Value, right: Value, sign: str, text: str) -> Value | None:
    """Return what an index and a number of the config give together; ``None`` where neither is an index."""
    at, other = (left, right) if isinstance(left, Known) and isinstance(left.value, Index) else (right, left)
    if not isinstance(at, Known) or not isinstance(at.value, Index) or sign not in ("+", "-", "*", "//"):
        return None
    by_count = isinstance(other, Thing) and _IS_COUNT.fullmatch(other.text) is not None
    if by_count and sign == "+" and at.value == ANY_INDEX:
        return Known(Index(_BEHIND))
    if by_count and sign == "-" and at is left and at.value == _BEHIND:
        return Known(Index(ANY_INDEX))
    return Known(Index(_BEHIND + 1000 + zlib.crc32(text.encode()) % 1000))


def written(value: Value) -> Value:
    """Return a number of layers as it stands in a name: there it is the index of the one behind the last."""
    is_count = isinstance(value, Thing) and _IS_COUNT.fullmatch(value.text) is not None
    return Known(Index(_BEHIND)) if is_count else value


def is_within(index: Any, number: Value) -> bool | None:
    """Tell whether an index is less than a number of the config; ``None`` if that is open."""
    if not isinstance(index, Index) or not isinstance(number, Thing):
        return None
    if _IS_COUNT.fullmatch(number.text):
        return {ANY_INDEX: True, _BEHIND: False}.get(index)
    return True if _IS_MORE.fullmatch(number.text) and index in (ANY_INDEX, _BEHIND) else None


def against_count(left: Value, op: ast.cmpop, right: Value) -> bool | None:
    """Return what comparing an index with a number of layers gives."""
    for index, number, less, more in (
        (left, right, (ast.Lt, ast.LtE), (ast.GtE, ast.Gt)),
        (right, left, (ast.Gt, ast.GtE), (ast.LtE, ast.Lt)),
    ):
        within = is_within(index.value, number) if isinstance(index, Known) else None
        if within is not None and isinstance(op, (*less, *more)):
            if within:
                return isinstance(op, less)
            return isinstance(op, more[0]) if isinstance(op, (less[0], more[0])) else None
    return None


def may_be(index: Any, numbers: Iterable[Any]) -> bool:
    """Tell whether an index may be one of some written numbers."""
    return isinstance(index, Index) and any(isinstance(n, int) and not isinstance(n, Index) for n in numbers)


def compared_as_index(left: Any, op: ast.cmpop, right: Any) -> bool | None:
    """An index is itself and not less than nothing; whether it is the first, or beyond another, is open."""
    if isinstance(op, (ast.In, ast.NotIn)):
        numbers = list(right) if isinstance(right, (list, tuple, set, frozenset, range)) and len(right) < 10**4 else [0]
        found = True if left in numbers else (None if may_be(left, numbers) else False)
        return None if found is None else found is isinstance(op, ast.In)
    if not isinstance(left, int) or not isinstance(right, int):
        return isinstance(op, (ast.NotEq, ast.IsNot))
    if left == right and isinstance(op, (ast.Eq, ast.NotEq)):
        return isinstance(op, ast.Eq)
    for number, other, signs in ((left, right, (ast.GtE, ast.Lt)), (right, left, (ast.LtE, ast.Gt))):
        if isinstance(number, Index) and not isinstance(other, Index) and other <= 0 and isinstance(op, signs):
            return isinstance(op, signs[0])
    return None


def for_any(text: str) -> str | None:
    """Return a text that names one index (``layers.0.``) as it is for any; ``None`` if it names none."""
    found = _WRITTEN.sub(str(ANY_INDEX), text)
    return found if found != text else None


def of_one(left: Any, op: ast.cmpop, right: Any) -> bool:
    """Tell whether a comparison asks about one index of a name that stands for all: ``".layers.0." in key``."""
    if not isinstance(left, str) or not isinstance(right, str) or (_ANY not in right and _ANY not in left):
        return False
    if isinstance(op, (ast.In, ast.NotIn)):
        whole = for_any(left)
        return whole is not None and whole in right
    one, other = for_any(left), for_any(right)
    return isinstance(op, (ast.Eq, ast.NotEq)) and ((one is not None and one == right) or (left == other))
