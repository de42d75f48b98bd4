"""Operators on single values: literals are computed, configs give expressions, tensors keep their dtype."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from automodel_lint.inference.construction import payload
from automodel_lint.inference.construction.indices import as_index, shifted
from automodel_lint.inference.construction.plain_data import python_of
from automodel_lint.inference.construction.truth import shortened, text_of
from automodel_lint.inference.construction.values import (
    UNKNOWN,
    Index,
    Known,
    Map,
    Seq,
    TensorValue,
    Test,
    Thing,
    Value,
)

_OPERATORS: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Div: ("/", operator.truediv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
    ast.BitOr: ("|", operator.or_),
    ast.BitAnd: ("&", operator.and_),
}
_BIGGEST = 10**6  # what repetition may make


def computed(left: Value, right: Value, expr: ast.BinOp) -> Value:
    """Return ``left <op> right`` for two single values."""
    sign, function = _OPERATORS.get(type(expr.op), ("", None))
    if isinstance(left, TensorValue) or isinstance(right, TensorValue):
        tensor = left if isinstance(left, TensorValue) else right
        assert isinstance(tensor, TensorValue)
        return replace(tensor, role="", shape=None, names=payload.names_in((left, right)))
    if isinstance(left, Known) and isinstance(right, Known) and function is not None:
        return _constant(function, left.value, right.value)
    if isinstance(left, Seq) and isinstance(right, Seq) and sign == "+":
        return Seq((*left.items, *right.items), (*left.star, *right.star), min(left.depth, right.depth))
    if isinstance(left, Seq) and sign == "*":
        return _repeated(left, right)
    if isinstance(left, Known) and isinstance(left.value, str) and sign == "%":
        ok, words = python_of(right)
        if ok:
            return _safe(function, left.value, tuple(words) if isinstance(words, list) else words)  # type: ignore
    if isinstance(left, Map) and isinstance(right, Map) and sign == "|":
        return Map({**left.slots, **right.slots})
    if _is_expression(left) and _is_expression(right) and sign:
        return _expression(left, right, sign, expr)
    return UNKNOWN


def combined(left: Seq, right: Seq, sign: str) -> Value:
    """Return the union, the section or the difference of two sets."""
    if sign == "|":
        return Seq((*left.items, *right.items), (*left.star, *right.star), min(left.depth, right.depth))
    (ok, first), (ok_too, second) = python_of(left), python_of(right)
    if not ok or not ok_too:
        return UNKNOWN
    return Seq([Known(v) for v in first if (v in second) is (sign == "&")], depth=left.depth)


def _constant(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Value:
    if isinstance(left, Index) or isinstance(right, Index):
        return as_index(_safe(function, left, right))
    sizes = [v for v in (left, right) if isinstance(v, (int, float))]
    if any(abs(v) > _BIGGEST for v in sizes) and function in (operator.pow, operator.mul):
        return (
            UNKNOWN if any(isinstance(v, (str, list, tuple)) for v in (left, right)) else _safe(function, left, right)
        )
    return _safe(function, left, right)


def _safe(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Value:
    if function is operator.pow and isinstance(right, int) and abs(right) > 64:
        return UNKNOWN
    try:
        return Known(function(left, right))
    except (TypeError, ValueError, ArithmeticError, MemoryError):
        return UNKNOWN


def _repeated(row: Seq, count: Value) -> Value:
    """``[x] * n``: written out for a small known number, else any number of them."""
    if isinstance(count, Known) and isinstance(count.value, int) and 0 <= count.value <= 64 and not row.star:
        return Seq(row.items * count.value, depth=row.depth)
    return Seq((), (*row.items, *row.star), row.depth)


def _is_expression(value: Value) -> bool:
    return isinstance(value, (Thing, Test)) or (
        isinstance(value, Known) and isinstance(value.value, (int, float, str, bool, type(None)))
    )


def _expression(left: Value, right: Value, sign: str, expr: ast.BinOp) -> Value:
    if isinstance(left, Known) and isinstance(left.value, str) and sign == "%":
        return Thing(ast.unparse(expr))
    text = f"{_operand(left, expr.left, sign)} {sign} {_operand(right, expr.right, sign)}"
    index = shifted(left, right, sign, text)
    if index is not None:
        return index
    pattern = "*"
    if sign == "+" and any(isinstance(v, Known) and isinstance(v.value, str) for v in (left, right)):
        pattern = _pattern(left) + _pattern(right)
    return Thing(shortened(text, expr), pattern=pattern)


def _pattern(value: Value) -> str:
    if isinstance(value, Known):
        return str(value.value)
    return value.pattern if isinstance(value, Thing) else "*"


def _operand(value: Value, expr: ast.expr, sign: str) -> str:
    text = text_of(value, expr)
    compound = isinstance(value, (Thing, Test)) and " " in text
    return f"({text})" if compound and sign not in ("+",) else text


def negative(value: Value, expr: ast.UnaryOp) -> Value:
    """Return ``-value``, ``+value`` or ``~value``."""
    if isinstance(value, Known) and isinstance(value.value, (int, float)):
        functions = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
        try:
            return Known(functions[type(expr.op)](value.value))  # type: ignore[operator]
        except TypeError:
            return UNKNOWN
    if isinstance(value, TensorValue):
        return replace(value, role="")
    return Thing(ast.unparse(expr)) if isinstance(value, Thing) else UNKNOWN
