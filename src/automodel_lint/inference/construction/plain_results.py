"""Functions that compute something only: what their result depends on, and what of it is told apart."""

from __future__ import annotations

from automodel_lint.inference.construction.truth import is_dtype
from automodel_lint.inference.construction.values import (
    Callable_,
    Choice,
    ClassValue,
    External_,
    Known,
    ModuleName,
    Test,
    Thing,
    Unknown,
    Value,
)

_FEW = 6  # dtypes that are told apart


def memo_key(func: Callable_, args: list[Value], keywords: dict[str, Value]) -> tuple | None:
    """Return what the result of a function of plain values depends on; ``None`` where there is more."""
    if func.bound is not None or not all(map(is_plain, (*args, *keywords.values()))):
        return None
    given = (*args, *keywords.values())
    return (func.node, func.closure, *(_identity(v) for v in given), *keywords)


def _identity(value: Value) -> object:
    if isinstance(value, Known) and isinstance(value.value, (str, int, float, bool, type(None))):
        return (type(value.value), value.value)
    return (value.fqn, value.left_out) if isinstance(value, External_) else value


def is_plain(value: Value) -> bool:
    """Whether a value cannot be changed by anybody who gets it."""
    if isinstance(value, Choice):
        return all(is_plain(v) for _, v in value.alternatives)
    return isinstance(value, (Known, External_, Thing, ClassValue, ModuleName, Test, Unknown))


def simplified(value: Value) -> Value:
    """Return the config expression where a value is that or one of many dtypes: a lookup of the config's dtype."""
    if not isinstance(value, Choice) or len(value.alternatives) <= _FEW:
        return value
    singles = [v for _, v in value.alternatives]
    things = [v for v in singles if isinstance(v, Thing)]
    if things and all(isinstance(v, (Thing, Unknown)) or is_dtype(v) for v in singles):
        return things[0]
    return value
