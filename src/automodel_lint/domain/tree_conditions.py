"""The conditions of a module tree in words, as short as they can be said."""

from __future__ import annotations

import ast
from itertools import combinations

from automodel_lint.inference.module_tree import Condition, always

Conditions = tuple[Condition, ...]
_PAIRS = [(ast.Is, ast.IsNot), (ast.Eq, ast.NotEq), (ast.Lt, ast.GtE), (ast.Gt, ast.LtE), (ast.In, ast.NotIn)]
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    a: b for one, other in _PAIRS for a, b in ((one, other), (other, one))
}


def worded(variants: list[list[Conditions]]) -> list[str]:
    """Return the text of each variant of one name, from the alternatives under which it is there.

    It is ``if …``, empty where the variant always is there, or ``else`` for the last of those of which one always is.
    """
    texts: list[str] = []
    seen: set[Condition] = set()
    everything = [conditions for alternatives in variants for conditions in alternatives]
    for number, alternatives in enumerate(variants):
        shortest = _simplified(alternatives)
        text = "if " + " or ".join(_joined(conditions) for conditions in shortest) if not always(shortest) else ""
        is_rest = len(shortest) == 1 and all(_negated(c) in seen for c in shortest[0])
        if text and is_rest and number == len(variants) - 1 and always(everything):
            text = "else"
        texts.append(text)
        seen.update(c for conditions in alternatives for c in conditions)
    return texts


def _simplified(alternatives: list[Conditions]) -> list[Conditions]:
    """``a and b or a and not b`` is ``a``, and so is ``a or a and b``."""
    found = list(dict.fromkeys(alternatives))
    pair = next((p for p in combinations(found, 2) if _differ_in_a_sign(*p)), None)
    while pair is not None:
        common = tuple(c for c in pair[0] if c in pair[1])
        found = list(dict.fromkeys(common if one in pair else one for one in found))
        pair = next((p for p in combinations(found, 2) if _differ_in_a_sign(*p)), None)
    return [one for one in found if not any(set(other) < set(one) for other in found)]


def _differ_in_a_sign(one: Conditions, other: Conditions) -> bool:
    extra = set(one) ^ set(other)
    return len(extra) == 2 and all(_negated(c) in extra for c in extra)


def _negated(condition: Condition) -> Condition:
    return Condition(condition.text, not condition.holds)


def _joined(conditions: Conditions) -> str:
    """``a and (b or c) and not d``."""
    return " and ".join(_written(condition, len(conditions) == 1) for condition in conditions)


def _written(condition: Condition, alone: bool) -> str:
    """A condition as a person writes it: ``x is not None`` for ``not (x is None)``."""
    try:
        expr = ast.parse(condition.text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return str(condition)
    if not condition.holds:
        expr = _negation(expr)
    loose = isinstance(expr, (ast.IfExp, ast.Lambda)) or (isinstance(expr, ast.BoolOp) and isinstance(expr.op, ast.Or))
    return f"({ast.unparse(expr)})" if loose and not alone else ast.unparse(expr)


def _negation(expr: ast.expr) -> ast.expr:
    if isinstance(expr, ast.Compare) and len(expr.ops) == 1:
        return ast.Compare(expr.left, [_OPPOSITE[type(expr.ops[0])]()], expr.comparators)
    if isinstance(expr, ast.UnaryOp) and isinstance(expr.op, ast.Not):
        return expr.operand
    return ast.UnaryOp(ast.Not(), expr)
