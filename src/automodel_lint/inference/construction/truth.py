"""Truth values, comparisons and the text of a value."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

from automodel_lint.inference.construction import indices
from automodel_lint.inference.construction.heap import Heap, choice, merged
from automodel_lint.inference.construction.values import (
    ABSENT,
    FALSE,
    TRUE,
    Callable_,
    Choice,
    ClassValue,
    Count,
    External_,
    Index,
    Known,
    Map,
    Member,
    ModuleName,
    Obj,
    Partial,
    Pattern,
    Seq,
    TensorValue,
    Test,
    Thing,
    Unknown,
    Value,
)
from automodel_lint.inference.module_tree import Condition

_FIELD = re.compile(r"config(\.\w+)+")  # two readings of one field are the same
_LONGEST = 120  # letters of a condition; a longer one is shown as it was written
_COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
# How a comparison is written when it is the negation of another one.
_NEGATED = {ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In}
_SIGN = {
    ast.Eq: "==", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is", ast.In: "in",
}  # fmt: skip


def text_of(value: Value, expr: ast.AST) -> str:
    """Return a value as a person would write it over the config; as written where that says more."""
    if isinstance(value, Known):
        return value.value.fqn.rpartition(".")[2] if isinstance(value.value, Member) else repr(value.value)
    if isinstance(value, Thing):
        return value.text
    if isinstance(value, Test):
        return str(value.condition)
    if isinstance(value, External_):
        return value.fqn.removeprefix("builtins.")
    if isinstance(value, TensorValue) and value.names:
        return f"state_dict[{min(value.names)!r}]"
    return ast.unparse(expr)


def shortened(text: str, expr: ast.AST) -> str:
    """Return ``text``, or the source where that is shorter and the text too long to be read."""
    if len(text) <= _LONGEST:
        return text
    written = ast.unparse(expr)
    return min(text, written, key=len)


def grouped(text: str) -> str:
    """Return a text as an operand: in parentheses where it is compound itself."""
    return f"({text})" if " and " in text or " or " in text else text


def parts(value: Value, heap: Heap) -> list[tuple[tuple[Condition, ...], Value]]:
    """Return the alternatives of a value that are possible where the present code runs."""
    if not isinstance(value, Choice):
        return [((), value)]
    if not heap.facts:
        return value.alternatives
    possible = [(cond, v) for cond, v in value.alternatives if heap.agrees(cond)]
    return possible or value.alternatives


def narrowed(value: Value, heap: Heap) -> Value:
    """Return a value without the alternatives that the open conditions rule out."""
    if not isinstance(value, Choice) or not heap.facts:
        return value
    possible = [(cond, v) for cond, v in value.alternatives if heap.agrees(cond)]
    if len(possible) == 1:
        return possible[0][1]
    return Choice(possible) if 0 < len(possible) < len(value.alternatives) else value


def known_truth(value: Value) -> bool | None:
    """Return what a single value surely is in a condition."""
    if isinstance(value, Known):
        return bool(value.value) if not isinstance(value.value, Member) else True
    if isinstance(value, Seq):
        sure = any(v is not ABSENT and not isinstance(v, Choice) for v in value.items)
        return True if sure else (None if value.items or value.star else False)
    if isinstance(value, Map):
        return bool(value.slots)
    if isinstance(value, Obj):
        return True if value.items is None else known_truth(value.items)
    if isinstance(value, (ClassValue, Callable_, Partial, ModuleName)) or is_dtype(value):
        return True
    if isinstance(value, Thing) and value.given:
        return True
    if isinstance(value, External_) and value.fqn == "typing.TYPE_CHECKING":
        return False
    return False if value is ABSENT else None


def is_dtype(value: Value) -> bool:
    """Tell whether a value is a dtype of torch, written down."""
    return isinstance(value, External_) and value.fqn.startswith("torch.") and value.fqn.count(".") == 1


def as_test(value: Value, text: str, heap: Heap) -> Value:
    """Return ``TRUE``, ``FALSE`` or an open :class:`Test` for a value in a condition."""
    if isinstance(value, Choice):
        return _choice_test(value, text, heap)
    truth = known_truth(value)
    if truth is not None:
        return TRUE if truth else FALSE
    if heap.converting and isinstance(value, Seq) and any(not isinstance(v, Choice) for v in value.star):
        return TRUE
    test = value if isinstance(value, Test) else Test(Condition(value.text if isinstance(value, Thing) else text))
    holds = heap.fact(test.condition)
    if holds is not None:
        return TRUE if holds else FALSE
    return test


def _choice_test(value: Choice, text: str, heap: Heap) -> Value:
    """The conditions that made the choice are what the test asks, where that can be told."""
    sides: dict[bool, list[tuple[Condition, ...]]] = {True: [], False: []}
    for conditions, single in parts(value, heap):
        inner = as_test(single, text, heap)
        if isinstance(inner, Test):
            for condition, truth in ((inner.condition, True), (negated(inner.condition), False)):
                both = merged(conditions, (condition,))
                if both is not None:
                    sides[truth].append(both)
        else:
            sides[inner is TRUE].append(conditions)
    for truth, result in ((True, TRUE), (False, FALSE)):
        if not sides[not truth]:
            return result
    for truth in (True, False):
        if len(sides[truth]) == 1 and len(sides[truth][0]) == 1:
            (condition,) = sides[truth][0]
            return Test(condition if truth else negated(condition))
    implied = {truth: _common(found) for truth, found in sides.items()}
    test = Test(Condition(text), implied[True], implied[False])
    holds = heap.fact(test.condition)
    return test if holds is None else (TRUE if holds else FALSE)


def _common(found: list[tuple[Condition, ...]]) -> tuple[Condition, ...]:
    return tuple(c for c in found[0] if all(c in other for other in found))


def negated(condition: Condition) -> Condition:
    """Return the condition that holds when this one does not."""
    return Condition(condition.text, not condition.holds)


def opposite(test: Value) -> Value:
    """Return ``not test``."""
    if isinstance(test, Test):
        return Test(negated(test.condition), test.if_false, test.if_true)
    return FALSE if test is TRUE else TRUE


def compared(left: Value, op: ast.cmpop, right: Value, expr: ast.Compare, heap: Heap) -> Value:
    """Return what a comparison of two single values gives."""
    decided = _decided(left, op, right)
    if decided is not None:
        return TRUE if decided else FALSE
    if isinstance(op, (ast.In, ast.NotIn)) and isinstance(left, Known) and isinstance(right, Map):
        found = right.slots.get(left.value)
        if isinstance(found, Choice):  # there on one side of a branch
            is_in = isinstance(op, ast.In)
            return choice([(c, TRUE if (v is not ABSENT) is is_in else FALSE) for c, v in parts(found, heap)])
    kind = _NEGATED.get(type(op), type(op))
    text = f"{_operand(left, expr.left)} {_SIGN[kind]} {_operand(right, expr.comparators[0])}"
    condition = Condition(shortened(text, expr), type(op) not in _NEGATED)
    implied = _members(left, right, expr) if isinstance(op, ast.In) else ()
    holds = heap.fact(condition)
    if holds is not None:
        return TRUE if holds else FALSE
    if isinstance(op, (ast.In, ast.NotIn)):
        ruled_out = _ruled_out(left, right, expr, heap)
        if ruled_out is not None:
            return TRUE if ruled_out is isinstance(op, ast.In) else FALSE
    return Test(condition, (), implied)


def _operand(value: Value, expr: ast.AST) -> str:
    return grouped(text_of(value, expr))


def _decided(left: Value, op: ast.cmpop, right: Value) -> bool | None:
    membership = isinstance(op, (ast.In, ast.NotIn))
    if membership and isinstance(left, Known) and isinstance(right, (Seq, Map)):
        found = _holds_key(right, left.value) if isinstance(right, Map) else _holds(right, left.value)
        return None if found is None else found is isinstance(op, ast.In)
    if isinstance(left, Known) and isinstance(right, Known):
        if isinstance(left.value, Index) or isinstance(right.value, Index):
            return indices.compared_as_index(left.value, op, right.value)
        if indices.of_one(left.value, op, right.value):
            return None
        try:
            return bool(_COMPARE[type(op)](left.value, right.value))
        except TypeError:
            return None
    within = indices.against_count(left, op, right)
    if within is not None:
        return within
    if isinstance(op, (ast.Eq, ast.NotEq)) and (_counts_all(left, right) or _counts_all(right, left)):
        return isinstance(op, ast.Eq)
    if isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
        same = _identity(left, right)
        return None if same is None else same is isinstance(op, (ast.Is, ast.Eq))
    return None


def _counts_all(counted: Value, number: Value) -> bool:
    """Whether all there are of something are compared with the number that the config gives of it."""
    return isinstance(counted, Known) and isinstance(counted.value, Count) and isinstance(number, Thing)


def _holds(row: Seq, wanted: Any) -> bool | None:
    """Whether a row surely has an element, or surely has it not."""
    known = [k.value for k in row.items if isinstance(k, Known)]
    if wanted in known:
        return True
    return False if len(known) == len(row.items) and not row.star and not indices.may_be(wanted, known) else None


def _holds_key(table: Map, key: Any) -> bool | None:
    """Whether a key surely is in a dict, or surely is not."""
    try:
        found = table.slots.get(key, ABSENT)
    except TypeError:
        return None
    if isinstance(found, Choice) and any(v is ABSENT for _, v in found.alternatives):
        return None
    if found is not ABSENT:
        return True
    return None if any(isinstance(k, Pattern) for k in table.slots) or indices.may_be(key, table.slots) else False


def _identity(left: Value, right: Value) -> bool | None:
    """Whether two values are the same; only what surely is no ``None`` and no text can be told apart."""
    for one, other in ((left, right), (right, left)):
        made = isinstance(one, (Obj, Seq, Map, ClassValue, Callable_, Partial, ModuleName, TensorValue))
        if made and isinstance(other, Known):
            return False if isinstance(other.value, (str, int, float, type(None))) else None
        is_text = isinstance(one, Thing) and isinstance(other, Known) and isinstance(other.value, str)
        if is_text and one.pattern != "*" and not may_be(one.pattern, other.value):  # type: ignore[attr-defined]
            return False
        if isinstance(one, Thing) and one.given and isinstance(other, Known) and not other.value:
            return False
    if isinstance(left, ClassValue) and isinstance(right, ClassValue):
        return left.cls is right.cls
    if isinstance(left, Thing) and isinstance(right, Thing) and left.text == right.text and _FIELD.fullmatch(left.text):
        return True
    if isinstance(left, External_) and isinstance(right, External_):
        return left.fqn == right.fqn or None
    if isinstance(left, Obj) and isinstance(right, Obj):
        return left is right
    return None


def may_be(pattern: str, text: str) -> bool:
    """Tell whether a text may be what a pattern stands for, each ``*`` for anything."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def _members(left: Value, right: Value, expr: ast.Compare) -> tuple[Condition, ...]:
    """What follows when ``x in (a, b)`` is false: neither equality holds."""
    if not isinstance(right, Seq) or right.star:
        return ()
    name = _operand(left, expr.left)
    return tuple(Condition(f"{name} == {text_of(item, expr)}", False) for item in right.items)


def _ruled_out(left: Value, right: Value, expr: ast.Compare, heap: Heap) -> bool | None:
    """Whether the open conditions already say that ``x`` is, or is none, of the members."""
    if not isinstance(right, Seq) or right.star:
        return None
    name = _operand(left, expr.left)
    states = [heap.fact(Condition(f"{name} == {text_of(item, expr)}")) for item in right.items]
    if True in states:
        return True
    return False if states and all(state is False for state in states) else None


def is_none(value: Value) -> bool:
    """Tell whether a value surely is ``None``."""
    return isinstance(value, Known) and value.value is None


def is_open(value: Value) -> bool:
    """Tell whether nothing is known about a value."""
    return isinstance(value, (Unknown, Thing, Test))
