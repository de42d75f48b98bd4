"""Whether a function of the checkout changes a config that it is handed."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from automodel_lint.domain.constructor import ConfigUse
from automodel_lint.inference.bindings import dotted, parts_of
from automodel_lint.inference.classes import MethodView
from automodel_lint.inference.names import FunctionEntity

_DEEPEST = 2


class ConfigChanges:
    """Follows a call made in a constructor."""

    def __init__(self, view: MethodView, use: ConfigUse):
        self.view, self.use = view, use

    def by(self, call: ast.Call, handed: Iterable[ast.expr]) -> bool:
        """Tell whether the callee writes to one of the ``handed`` arguments, or to a config kept on ``self``."""
        texts = {ast.unparse(a) for a in handed}
        return self._by(self.view, call, texts, 0)

    def _by(self, view: MethodView, call: ast.Call, handed: set[str], depth: int) -> bool:
        callee = view.callee(call)
        if callee is None or depth > _DEEPEST:
            return False
        received = _received(callee, call, handed)
        kept = f"{self.use.self_name}.config"
        if isinstance(callee, MethodView) and kept in self.use.names:
            received.add(f"{callee.self_name}.config")
        return bool(received) and self._writes(callee, received, depth)

    def _writes(self, callee: MethodView | FunctionEntity, received: set[str], depth: int) -> bool:
        for node in ast.walk(callee.node):
            for name, value in parts_of(node):
                if value is not None and _reaches(value, received):
                    received.add(name)
            targets = []
            if isinstance(node, (ast.Assign, ast.Delete)):
                targets = node.targets
            elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
                targets = [node.target]
            places = [t for t in targets if isinstance(t, (ast.Attribute, ast.Subscript))]
            if any(_reaches(place.value, received) for place in places):
                return True
            if isinstance(node, ast.Call):
                if self.sets_attribute(node) and _reaches(node.args[0], received):
                    return True
                if isinstance(callee, MethodView) and self._by(callee, node, received, depth + 1):
                    return True
        return False

    @staticmethod
    def sets_attribute(call: ast.Call) -> bool:
        """``setattr(x, …)``, ``delattr(x, …)``, ``object.__setattr__(x, …)``."""
        name = dotted(call.func)
        return bool(call.args) and (name in ("setattr", "delattr") or name.endswith("object.__setattr__"))


def _received(callee: MethodView | FunctionEntity, call: ast.Call, handed: set[str]) -> set[str]:
    """The parameters that get one of the handed expressions."""
    node = callee.node
    static = any(dotted(d) == "staticmethod" for d in node.decorator_list)
    offset = 1 if isinstance(callee, MethodView) and not static else 0
    parameters = [a.arg for a in (*node.args.posonlyargs, *node.args.args)][offset:]
    found = {p for p, a in zip(parameters, call.args, strict=False) if ast.unparse(a) in handed}
    return found | {k.arg for k in call.keywords if k.arg and ast.unparse(k.value) in handed}


def _reaches(expr: ast.expr, received: set[str]) -> bool:
    while True:
        if dotted(expr) in received:
            return True
        if isinstance(expr, (ast.Attribute, ast.Subscript)):
            expr = expr.value
        elif isinstance(expr, ast.Call) and dotted(expr.func) in ("getattr", "vars") and expr.args:
            expr = expr.args[0]
        else:
            return False
