"""How a class ties its head to the input embedding, and how it loads checkpoints."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.inference.bindings import (
    FUNCTIONS,
    branches,
    dotted,
    literal_truth,
    parts_of,
    statements_here,
    walk_here,
)
from automodel_lint.inference.classes import MethodView, is_super
from automodel_lint.inference.names import ClassEntity, FunctionEntity, Value

FLAG = "tie_word_embeddings"
FLIP_GUARD = "reject_tie_word_embeddings_flip"
_FLAG_READERS = ("get_controlling_tie_word_embeddings", "is_tied_word_embeddings")
_TYING_CALLS = ("_tie_or_clone_weights", "_tie_embedding_weights", "tie_embeddings_and_encoder_decoder")
# Questions that a condition may ask without anything to do with the flag.
_NEUTRAL_CALLS = ("getattr", "hasattr", "isinstance", "len", "callable", "bool", "type")


def aliases(node: ast.AST) -> bool:
    """Tell whether a node makes two weights one tensor: ``a.weight = b.weight`` and its relatives."""
    if isinstance(node, ast.Call):
        name = dotted(node.func)
        last = name.rpartition(".")[2] or (node.func.attr if isinstance(node.func, ast.Attribute) else "")
        if last in _TYING_CALLS:
            return True
        if last in ("setattr", "register_parameter", "__setattr__"):
            words = [a.value for a in node.args if isinstance(a, ast.Constant)]
            return "weight" in words and any(_is_weight_of(a) for a in node.args)
        return False
    targets = node.targets if isinstance(node, ast.Assign) else []
    if any(_names_weight(t) for t in targets) and isinstance(node, ast.Assign) and _is_weight_of(node.value):
        return True
    return any(
        name.endswith(".weight") and value is not None and _is_weight_of(value) for name, value in parts_of(node)
    )


def _names_weight(target: ast.expr) -> bool:
    return isinstance(target, ast.Attribute) and target.attr == "weight"


def _is_weight_of(value: ast.expr) -> bool:
    """``x.weight``, or a name or call that may well be one (a local, ``nn.Parameter``, a getter)."""
    if isinstance(value, ast.Attribute):
        return value.attr == "weight"
    if isinstance(value, ast.Call):
        return any(_is_weight_of(a) for a in value.args)
    return isinstance(value, ast.Name)


def head_swaps(node: ast.AST, self_name: str) -> bool:
    """``self.lm_head = self.model.embed_tokens``: the head is the embedding module itself."""
    return any(
        name == f"{self_name}.lm_head" and isinstance(value, ast.Attribute) and "embed" in dotted(value)
        for name, value in parts_of(node)
    )


class Tying:
    """Looks for ties in a method and the methods of the checkout that it calls."""

    def __init__(self, view: MethodView, depth: int = 0):
        self.view, self.depth = view, depth

    def ever_aliases(self, surely: bool = False, depth: int = 0) -> bool:
        """Tell whether running the method can tie: by itself, through a helper, or through code without source.

        With ``surely``, code without source does not count.
        """
        for node in self.view.walk():
            if aliases(node) or head_swaps(node, self.view.self_name):
                return True
            if isinstance(node, ast.Call) and self._call_aliases(node, surely, depth):
                return True
        return False

    def _call_aliases(self, call: ast.Call, surely: bool, depth: int) -> bool:
        if depth > 3:
            return False
        callee = self.view.callee(call)
        if isinstance(callee, MethodView):
            return callee.node is not self.view.node and Tying(callee).ever_aliases(surely, depth + 1)
        if isinstance(callee, FunctionEntity):
            return any(aliases(n) for n in ast.walk(callee.node))
        if surely or not isinstance(call.func, ast.Attribute) or not is_super(call.func.value):
            return False
        return call.func.attr == "tie_weights" or (call.func.attr == "__init__" and bool(call.args or call.keywords))

    def ungated(self) -> ast.AST | None:
        """Return the statement that ties whatever the flag says, if there is one.

        A statement is gated if it stands under, or behind an early return under, a condition that consults the flag;
        a condition that cannot be looked into gets the benefit of the doubt.
        """
        return self._ungated(self.view.node.body)

    def _ungated(self, body: list[ast.stmt]) -> ast.AST | None:
        for statement in body:
            if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
                continue
            if isinstance(statement, ast.If) and literal_truth(statement.test) is None:
                found = self._ungated_choice(statement.test, statement.body, statement.orelse)
                if found is None and self._consults_flag(statement.test):
                    if _leaves(statement.body) or _leaves(statement.orelse):
                        return None
                    continue
            elif isinstance(statement, (ast.While, ast.Match)):
                asked = statement.test if isinstance(statement, ast.While) else statement.subject
                inner = [s for branch, _ in branches(statement) for s in branch]
                found = None if self._consults_flag(asked) else self._ungated(inner)
            elif isinstance(statement, (ast.If, ast.With, ast.For, ast.Try)):
                found = self._ungated([s for branch, _ in branches(statement) for s in branch])
            elif isinstance(statement, ast.Assert) and self._consults_flag(statement.test):
                return None
            else:
                found = None
                for node in walk_here(statement):
                    if aliases(node) or head_swaps(node, self.view.self_name) or self._helper_ties(node):
                        return self._unless_conditional(node, statement)
            if found is not None:
                return found
        return None

    def _ungated_choice(self, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> ast.AST | None:
        """Under a condition on the flag only what both sides tie is ungated; under another one, what either does."""
        first, second = self._ungated(body), self._ungated(orelse)
        if self._consults_flag(test):
            return first if second is not None else None
        return first or second

    def _helper_ties(self, node: ast.AST) -> bool:
        """A method or function of the checkout that ties without asking either."""
        callee = self.view.callee(node) if isinstance(node, ast.Call) and self.depth < 3 else None
        if isinstance(callee, MethodView):
            return callee.node is not self.view.node and Tying(callee, self.depth + 1).ungated() is not None
        if isinstance(callee, FunctionEntity):
            return any(aliases(n) for n in ast.walk(callee.node)) and not any(FLAG in w for w in _words(callee.node))
        return False

    def _unless_conditional(self, node: ast.AST, statement: ast.stmt) -> ast.AST | None:
        """``a.weight = b.weight if tied else a.weight`` is gated by its own expression."""
        gated = any(isinstance(n, ast.IfExp) and self._consults_flag(n.test) for n in ast.walk(statement))
        return None if gated else node

    def _consults_flag(self, test: ast.expr) -> bool:
        return any(self._is_flag(n) for n in ast.walk(test))

    def _is_flag(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute):
            plain = FLAG in node.attr or "tied" in node.attr or node.attr.startswith("tie_")
            return plain or (dotted(node.value) == self.view.self_name and self._own_attribute_asks(node.attr))
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and FLAG in node.value
        if isinstance(node, ast.Name):
            return self._name_is_flag(node)
        if isinstance(node, ast.Call):
            called = self.view.classes.names.called(node, self.view.scope)
            if called & set(_FLAG_READERS):
                return True
            return not called & set(_NEUTRAL_CALLS) and self._call_may_ask(node)
        return False

    def _own_attribute_asks(self, name: str) -> bool:
        """A property that reads the flag, or an attribute that some method has set from it."""
        classes, receiver = self.view.classes, self.view.receiver
        members, _ = classes.find(receiver, name)
        if any(m.function is not None and any(FLAG in w for w in _words(m.function)) for m in members):
            return True
        for ancestor in classes.mro(receiver):
            for function in classes.methods(ancestor) if isinstance(ancestor, ClassEntity) else ():
                for statement in statements_here(function.body):
                    for target, value in parts_of(statement):
                        if target.endswith(f".{name}") and value is not None and any(FLAG in w for w in _words(value)):
                            return True
        return False

    def _name_is_flag(self, node: ast.Name) -> bool:
        """A local that was read from the flag, or a constant that holds its name."""
        frame = self.view.scope.frames[0]
        values = [b.node for b in frame.live(node.id) if isinstance(b.node, ast.expr)]
        if values:
            return any(self._consults_flag(v) for v in values)
        found = self.view.classes.names.resolve(node, self.view.scope)
        return any(isinstance(e, Value) and isinstance(e.expr, ast.Constant) and e.expr.value == FLAG for e in found)

    def _call_may_ask(self, call: ast.Call) -> bool:
        callee = self.view.callee(call)
        if callee is None:
            return not isinstance(call.func, ast.Attribute) or dotted(call.func).partition(".")[0] in (
                self.view.self_name,
            )
        return any(FLAG in text for text in _words(callee.node))


def _words(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute):
            yield inner.attr
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value
        elif isinstance(inner, ast.Name):
            yield inner.id


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise))


def refused_arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether ``tie_weights`` refuses what transformers 5 passes: ``missing_keys``, ``recompute_mapping``."""
    positional = [a.arg for a in (*function.args.posonlyargs, *function.args.args)][1:]
    if len(positional) > len(function.args.defaults) or None in function.args.kw_defaults:
        return True  # it asks for more than it is given
    if function.args.kwarg is not None:
        return False
    accepted = {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}
    return not {"missing_keys", "recompute_mapping"} <= accepted
