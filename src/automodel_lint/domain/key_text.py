"""Regular expressions over the names of tensors, as the source writes them."""

from __future__ import annotations

import ast
import re

from automodel_lint.inference.bindings import dotted
from automodel_lint.inference.classes import MethodView
from automodel_lint.inference.names import Scope
from automodel_lint.inference.names import Value as Bound

_COMPILED = "re.compile"
_GROUP = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?P<(?P<name>\w+)>|(?P<other>\?))?|\)")
_DIGITS = re.compile(r"\\d|\[0-9\]")


def pattern_text(view: MethodView, call: ast.Call) -> str | None:
    """Return the pattern of ``re.match(pattern, key)`` or of ``compiled.match(key)``; parts nobody knows are ``.*``."""
    func = call.func
    if not isinstance(func, ast.Attribute):
        return None
    if dotted(func.value) in ("re", "regex"):
        return _text(view, call.args[0], 0) if call.args else None
    return _text(view, func.value, 0)


def _text(view: MethodView, expr: ast.expr, depth: int) -> str | None:
    if depth > 6:
        return None
    if isinstance(expr, ast.Constant):
        return expr.value if isinstance(expr.value, str) else None
    if isinstance(expr, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else ".*" for v in expr.values)
    if isinstance(expr, ast.Call) and dotted(expr.func) == _COMPILED and expr.args:
        return _text(view, expr.args[0], depth + 1)
    if isinstance(expr, ast.BinOp) and isinstance(expr.op, ast.Add):
        sides = [_text(view, side, depth + 1) for side in (expr.left, expr.right)]
        return "".join(side if side is not None else ".*" for side in sides)
    entities = view.classes.names.resolve(expr, view.scope) if isinstance(expr, (ast.Name, ast.Attribute)) else []
    if isinstance(expr, ast.Attribute) and view.is_self_or_class(expr.value):
        entities = view.classes.names.attribute(view.receiver, expr.attr)
    if len(entities) == 1 and isinstance(entities[0], Bound):
        inner = entities[0]
        scoped = view if inner.scope.frames else _Elsewhere(view, inner.scope)
        return _text(scoped, inner.expr, depth + 1)  # type: ignore[arg-type]
    return None


class _Elsewhere:
    """As much of a view as following names takes, at a place in another file."""

    def __init__(self, view: MethodView, scope: Scope):
        self.classes, self.receiver, self.scope = view.classes, view.receiver, scope

    def is_self_or_class(self, expr: ast.expr) -> bool:
        """Nothing is ``self`` outside a method."""
        return False


def takes_digits(pattern: str, group: int | str) -> bool:
    """Tell whether a group of a pattern, by number or name, takes digits."""
    begins: list[tuple[int, bool]] = []  # where the open groups begin, and whether each is the one
    count = 0
    for found in _GROUP.finditer(pattern):
        if found[0].startswith("("):
            numbered = found["other"] is None
            count += numbered
            begins.append((found.end(), numbered and group in (count, found["name"])))
        elif found[0] == ")" and begins:
            begin, wanted = begins.pop()
            if wanted:
                return _DIGITS.search(pattern[begin : found.start()]) is not None
    return False
