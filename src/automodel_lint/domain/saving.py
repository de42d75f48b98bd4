"""What of an adapter runs when a model is saved as it is, and what only when a checkpoint is read or quantised.

Before a checkpoint is read, the framework asks ``to_hf`` for the tensors to read it into, with ``quantization=True``
where it is quantised and ``for_checkpoint_load=True``. When it saves, neither is given.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from automodel_lint.domain.adapter_code import ENTRIES, nodes_with
from automodel_lint.inference.bindings import branches, dotted, parts_of, statements_here
from automodel_lint.inference.classes import MethodView

_LOADING = re.compile(r"quantiz|for_checkpoint_load|load_mode|for_load|loading|dequant")
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def runs_when_saving(view: MethodView, node: ast.AST, code: Sequence[MethodView], depth: int = 0) -> bool:
    """Tell whether saving a model may run ``node`` of a function; ``code`` is all that saving reaches."""
    if any(_truth(test, view) is not holds for test, holds in _conditions(view.node.body, node) if _said(test, view)):
        return False
    if view.node.name in ENTRIES or depth > 3:
        return True
    name = view.node.name
    calls = [
        (caller, call)
        for caller in code
        for call in nodes_with(caller, re.compile(rf"\b{re.escape(name)}\("))
        if isinstance(call, ast.Call) and _called(call) == name and caller.node is not view.node
    ]
    return not calls or any(runs_when_saving(caller, call, code, depth + 1) for caller, call in calls)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)


def _said(test: ast.expr, view: MethodView) -> bool:
    return _truth(test, view) is not None


def _conditions(body: list[ast.stmt], target: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the tests that stand before a node, and how each must come out for the node to be reached."""
    for statement in body:
        if not _holds(statement, target):
            if isinstance(statement, ast.If) and statement.body and isinstance(statement.body[-1], _LEAVES):
                yield statement.test, False
            continue
        if isinstance(statement, ast.If):
            yield statement.test, any(_holds(inner, target) for inner in statement.body)
        for inner in ast.walk(statement):
            if isinstance(inner, ast.IfExp) and (_holds(inner.body, target) or _holds(inner.orelse, target)):
                yield inner.test, _holds(inner.body, target)
        for branch, _ in branches(statement):
            if any(_holds(inner, target) for inner in branch):
                yield from _conditions(branch, target)
        return


def _holds(node: ast.AST, target: ast.AST) -> bool:
    return any(inner is target for inner in ast.walk(node))


def _truth(test: ast.expr, view: MethodView, depth: int = 0) -> bool | None:
    """What a test comes out as where nothing is quantised and nothing is being loaded; ``None`` if that is open."""
    if depth > 5:
        return None
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _truth(test.operand, view, depth + 1)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        parts = [_truth(value, view, depth + 1) for value in test.values]
        decisive = isinstance(test.op, ast.Or)
        return decisive if decisive in parts else None if None in parts else not decisive
    if isinstance(test, ast.Call):
        if dotted(test.func) == "bool" and len(test.args) == 1:
            return _truth(test.args[0], view, depth + 1)
        if isinstance(test.func, ast.Attribute) and test.func.attr in ("get", "pop") and test.args:
            named = isinstance(test.args[0], ast.Constant) and _LOADING.search(str(test.args[0].value))
            return False if named else None
        return None
    name = dotted(test)
    values = [v for s in statements_here(view.node.body) for target, v in parts_of(s) if target == name and name]
    if len(values) == 1 and values[0] is not None:
        found = _truth(values[0], view, depth + 1)
        if found is not None:
            return found
    return False if name and _LOADING.search(name.rpartition(".")[2]) else None
