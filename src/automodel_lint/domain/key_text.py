"""Regular expressions over the names of tensors, as the source writes them."""

from __future__ import annotations

import ast
import re

from automodel_lint.inference.bindings import dotted
from automodel_lint.inference.classes import MethodView, asked
from automodel_lint.inference.names import Scope
from automodel_lint.inference.names import Value as Bound

_REGEX = re.compile(r"[\\^$|*+?()]")
_NAME_LIKE = re.compile(r"(?!\\[1-9])[^\s*](?:(?!\\[1-9])\S){2,}")  # no sentence, no glob, no template of a replacement
_TABLE = re.compile(r"map|table|renam", re.I)
_PLAIN = frozenset({"weight", ".weight", "bias", ".bias"})
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


def may_change(view: MethodView, name: str) -> bool:
    """Tell whether a function writes something down that could change a name: a piece of it, a pattern, a prefix.

    A cheap look before a name is followed: it may say yes for nothing, but not no for something.
    """
    found, adds = asked(view, texts)
    return adds or any(fits(text, name) for text in found)


def texts(view: MethodView) -> tuple[tuple[str, ...], bool]:
    """Return the texts in a function and in the tables that it names, and whether it puts a prefix before something."""
    found: dict[str, None] = {}
    adds = False
    for node in view.walk():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found[node.value] = None
        elif isinstance(node, ast.JoinedStr):
            parts = node.values
            adds = adds or (len(parts) == 2 and isinstance(parts[1], ast.FormattedValue))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            adds = adds or isinstance(node.left, ast.Constant) or _is_constant(node.left)
        elif isinstance(node, (ast.Name, ast.Attribute)) and _is_constant(node):
            found |= dict.fromkeys(_in_table(view, node))
        elif isinstance(node, ast.Attribute) and view.is_self_or_class(node.value) and _TABLE.search(node.attr):
            found |= dict.fromkeys(_in_constructor(view))
    return tuple(text for text in found if _NAME_LIKE.fullmatch(text) and text not in _PLAIN), adds


def _is_constant(node: ast.AST) -> bool:
    last = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return last.strip("_").isupper()


def _in_table(view: MethodView, node: ast.Name | ast.Attribute) -> list[str]:
    if isinstance(node, ast.Attribute) and view.is_self_or_class(node.value):
        entities = view.classes.names.attribute(view.receiver, node.attr)
    else:
        entities = view.classes.names.resolve(node, view.scope)
    values = [entity.expr for entity in entities if isinstance(entity, Bound)]
    constants = [n.value for value in values for n in ast.walk(value) if isinstance(n, ast.Constant)]
    return [constant for constant in constants if isinstance(constant, str)]


def _in_constructor(view: MethodView) -> list[str]:
    """The texts that the constructor of a method's class writes down: the tables of its objects."""
    functions = [member.function for member in view.classes.local(view.owner, "__init__")]
    nodes = [node for function in functions if function is not None for node in view.classes.nodes_of(function)]
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return [constant for constant in constants if isinstance(constant, str) and "." in constant]


def fits(text: str, name: str) -> bool:
    """Tell whether a text, plain or a pattern, is about a name."""
    if text in name:
        return True
    if not _REGEX.search(text):
        return False
    try:
        return re.search(text, name) is not None
    except re.error:
        return True
