"""How blocks end, and the parts of statements that need no state: unpacking, cases, targets that are read."""

from __future__ import annotations

import ast

from automodel_lint.inference.construction.truth import text_of
from automodel_lint.inference.construction.values import Known, Seq, TensorValue, Value
from automodel_lint.inference.module_tree import Condition

# How a block ends; ``None`` if it runs into what follows it.
RETURN, RAISE, BREAK, LOOP = "return", "raise", "break", "loop"


def case_test(case: ast.match_case | None, subject: Value, expr: ast.expr) -> Condition | bool | None:
    """Return when a case is taken; ``None`` if always, ``False`` if never."""
    if case is None or (isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None):
        return None
    pattern = case.pattern
    if isinstance(pattern, ast.MatchValue) and isinstance(pattern.value, ast.Constant) and isinstance(subject, Known):
        return None if pattern.value.value == subject.value else False
    guard = f" if {ast.unparse(case.guard)}" if case.guard is not None else ""
    return Condition(f"{text_of(subject, expr)} == {ast.unparse(pattern)}{guard}")


def spread(value: Value, targets: list[ast.expr]) -> list[Value] | None:
    """Return the part of a row that each target of an unpacking gets; ``None`` if the row is not known."""
    if isinstance(value, TensorValue) and value.names is not None:
        return [value] * len(targets)
    if isinstance(value, Known) and isinstance(value.value, (tuple, list)):
        value = Seq([Known(v) for v in value.value])
    if not isinstance(value, Seq) or value.star:
        return None
    items = list(value.items)
    at = next((i for i, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
    if at is None:
        return items if len(items) == len(targets) else None
    behind = len(targets) - at - 1
    if len(items) < at + behind:
        return None
    return [*items[:at], Seq(items[at : len(items) - behind]), *items[len(items) - behind :]]


def either(first: str | None, second: str | None) -> str | None:
    """How a block ends that ends in one of two ways; it runs on where one of them does."""
    if first is None or second is None or first == second:
        return first if first == second else None
    return RETURN if RETURN in (first, second) else first


def covers(found: list[tuple]) -> bool:
    return any(not conditions for conditions, _ in found)


def loaded(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    if isinstance(target, ast.Attribute):
        return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    assert isinstance(target, ast.Subscript)
    return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
