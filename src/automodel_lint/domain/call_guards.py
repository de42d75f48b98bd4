"""What stands around a call that says the author knows that it does not always work, or is not always reached."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.domain.child_calls import ChildCall
from automodel_lint.inference.bindings import branches, dotted, parts_of, statements_here, walk_here

_ASKING = ("hasattr", "isinstance", "type")
_CAUGHT = ("AttributeError", "Exception", "BaseException")
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def is_guarded(call: ChildCall) -> bool:
    """Tell whether the method asks what the object is or has, or catches what happens if it has not."""
    tree = call.view.classes.tree
    lines = tree.lines(call.view.owner.module.path)[call.view.node.lineno - 1 : call.view.node.end_lineno]
    texts = (f'"{call.name}"', f"'{call.name}'")
    if any(text in line for line in lines for text in texts):
        return True
    return _asks_for_type(call) or _is_caught(call)


def _asks_for_type(call: ChildCall) -> bool:
    """``isinstance(self.child, …)`` or ``type(self.child)`` anywhere in the method, the child under whatever name."""
    for node in call.view.walk():
        if isinstance(node, ast.Call) and dotted(node.func) in _ASKING and node.args:
            asked = call.below.path(node.args[0])
            if asked and (asked == call.path or ast.dump(node.args[0]) == ast.dump(call.receiver)):
                return True
        elif isinstance(node, ast.Match) and call.below.path(node.subject) == call.path:
            return True
    return False


def _is_caught(call: ChildCall) -> bool:
    return any(
        _catches(statement) and any(call.node in walk_here(inner) for inner in statement.body)
        for statement in statements_here(call.view.node.body)
        if isinstance(statement, (ast.Try, ast.With))
    )


def _catches(statement: ast.Try | ast.With) -> bool:
    """Whether a block lives through an ``AttributeError``."""
    if isinstance(statement, ast.With):
        return any("suppress" in ast.unparse(item.context_expr) for item in statement.items)
    kinds = [n for h in statement.handlers for n in (ast.walk(h.type) if h.type is not None else [None])]
    return any(kind is None or dotted(kind).rpartition(".")[2] in _CAUGHT for kind in kinds)


def depends_on_construction(call: ChildCall) -> bool:
    """Tell whether the call is only reached if the object was built in a certain way (``if self.is_moe:``)."""
    return any(_about_construction(test, call) for test in _tests_before(call.view.node.body, call.node))


def _tests_before(body: list[ast.stmt], target: ast.AST) -> Iterator[ast.expr]:
    """Yield the conditions that decide whether ``target`` is reached: those around it, and early exits before it."""
    for statement in body:
        if not any(node is target for node in ast.walk(statement)):
            if isinstance(statement, ast.Assert) or (isinstance(statement, ast.If) and _may_leave(statement)):
                yield statement.test
            continue
        if isinstance(statement, (ast.If, ast.While)):
            yield statement.test
        for node in walk_here(statement) if not isinstance(statement, (ast.If, ast.For, ast.While, ast.With)) else ():
            if isinstance(node, ast.IfExp) and any(n is target for n in ast.walk(node)):
                yield node.test
            elif isinstance(node, ast.BoolOp) and any(n is target for n in ast.walk(node)):
                yield from node.values[:-1]
        for branch, _ in branches(statement):
            if any(node is target for inner in branch for node in ast.walk(inner)):
                yield from _tests_before(branch, target)
        return


def _may_leave(choice: ast.If) -> bool:
    return any(branch and isinstance(branch[-1], _LEAVES) for branch, _ in branches(choice))


def _about_construction(test: ast.expr, call: ChildCall) -> bool:
    """Whether a condition reads something of ``self`` or of a config, other than the child or its presence."""
    view = call.view
    for node in ast.walk(test):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == view.self_name and node.attr != "training":
                path = call.below.path(node)
                if not f"{call.path}.".startswith(f"{path}."):
                    return True
            elif node.value.id.endswith(("config", "cfg", "backend")):
                return True
        elif isinstance(node, ast.Name) and node.id != view.self_name and _set_from_self(node.id, call):
            return True
    return False


def _set_from_self(name: str, call: ChildCall) -> bool:
    """A local that was read from ``self``, and not the child itself."""
    parts = [part for statement in statements_here(call.view.node.body) for part in parts_of(statement)]
    values = [value for target, value in parts if target == name and value is not None]
    others = [value for value in values if call.below.path(value) != call.path]
    return any(dotted(n) == call.view.self_name for value in others for n in ast.walk(value))
