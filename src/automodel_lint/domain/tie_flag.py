"""Whether a condition consults the flag that decides tying."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.inference.bindings import dotted, parts_of, statements_here
from automodel_lint.inference.classes import MethodView
from automodel_lint.inference.names import ClassEntity, Value, all_arguments

FLAG = "tie_word_embeddings"
READERS = ("get_controlling_tie_word_embeddings", "is_tied_word_embeddings")
# Questions that a condition may ask without anything to do with the flag.
_NEUTRAL_CALLS = frozenset(
    (
        *("getattr", "hasattr", "isinstance", "len", "callable", "bool", "type", "tuple", "list", "all", "any", "int"),
        *("str", "id", "min", "max", "get_input_embeddings", "get_output_embeddings", "parameters", "modules"),
    )
)


class FlagReader:
    """Judges conditions in one method; ``fed`` are its parameters that the caller has filled from the flag."""

    def __init__(self, view: MethodView, fed: frozenset[str] = frozenset()):
        self.view = view
        self._asked: set[str] = set()  # names that are being looked into, lest two that feed each other never end
        self.fed = fed | {a.arg for a in all_arguments(view.node.args) if FLAG in a.arg or a.arg.startswith("tie")}

    def consults(self, test: ast.AST) -> bool:
        """Tell whether an expression asks for the flag, or may: what has no source gets the benefit of the doubt."""
        return any(self._is_flag(n) for n in ast.walk(test))

    def _is_flag(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute):
            plain = FLAG in node.attr or "tied" in node.attr or node.attr.startswith("tie_")
            return plain or (dotted(node.value) == self.view.self_name and self._own_attribute_asks(node.attr))
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and FLAG in node.value
        if isinstance(node, ast.Name):
            return self._name_is_flag(node)
        return isinstance(node, ast.Call) and self._call_asks(node)

    def _call_asks(self, call: ast.Call) -> bool:
        name = dotted(call.func).rpartition(".")[2] or (call.func.attr if isinstance(call.func, ast.Attribute) else "")
        if name in READERS or self.view.classes.names.called(call, self.view.scope) & set(READERS):
            return True
        if name in _NEUTRAL_CALLS:
            return False
        callee = self.view.callee(call)
        if callee is None:
            return not isinstance(call.func, ast.Attribute) or self.view.is_self_or_class(call.func.value)
        return asks(callee.node) or any(
            asks(inner.node)
            for n in ast.walk(callee.node)
            if isinstance(n, ast.Call) and isinstance(callee, MethodView)
            for inner in [callee.callee(n)]
            if inner is not None
        )

    def _own_attribute_asks(self, name: str) -> bool:
        """A property that reads the flag, or an attribute that some method has set from it."""
        classes, receiver = self.view.classes, self.view.receiver
        members, _ = classes.find(receiver, name)
        if any(m.function is not None and asks(m.function) for m in members):
            return True
        return any(
            target.endswith(f".{name}") and value is not None and asks(value)
            for ancestor in classes.mro(receiver)
            if isinstance(ancestor, ClassEntity)
            for function in classes.methods(ancestor)
            for statement in statements_here(function.body)
            for target, value in parts_of(statement)
        )

    def _name_is_flag(self, node: ast.Name) -> bool:
        """A parameter filled from the flag, a local that was read from it, or a constant that holds its name."""
        if node.id in self.fed:
            return True
        values = [b.node for b in self.view.scope.frames[0].live(node.id) if isinstance(b.node, ast.expr)]
        if values and node.id not in self._asked:
            self._asked.add(node.id)
            found = any(self.consults(v) for v in values)
            self._asked.discard(node.id)
            return found
        found = self.view.classes.names.resolve(node, self.view.scope)
        return any(isinstance(e, Value) and isinstance(e.expr, ast.Constant) and e.expr.value == FLAG for e in found)


def asks(node: ast.AST) -> bool:
    """Tell whether code mentions the flag at all."""
    return any(FLAG in word for word in _words(node))


def _words(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute):
            yield inner.attr
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value
        elif isinstance(inner, ast.Name):
            yield inner.id
