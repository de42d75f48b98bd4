"""How a class ties its head to the input embedding."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.domain.tie_flag import FlagReader
from automodel_lint.inference.bindings import FUNCTIONS, branches, dotted, literal_truth, parts_of, walk_here
from automodel_lint.inference.classes import FunctionView, MethodView, is_super
from automodel_lint.inference.names import FunctionEntity

_TYING_CALLS = ("_tie_or_clone_weights", "_tie_embedding_weights", "tie_embeddings_and_encoder_decoder")
_NAMED_SETTERS = ("setattr", "register_parameter", "__setattr__")
_HEADS = ("head", "output", "decoder", "score")


def aliases(node: ast.AST) -> bool:
    """Tell whether a node makes head and embedding one tensor: ``a.weight = b.weight`` and its relatives."""
    if isinstance(node, ast.Call):
        return _call_ties(node)
    if isinstance(node, ast.Assign):
        for target in node.targets:
            by_key = isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant)
            if by_key and target.slice.value == "weight" and _is_weight_of(node.value):
                return True
            if isinstance(target, ast.Attribute) and _is_pair(target, node.value):
                return True
    return any(
        value is not None and name.endswith(".weight") and _is_pair(_expression(name), value)
        for name, value in parts_of(node)
    )


def _call_ties(call: ast.Call) -> bool:
    name = dotted(call.func)
    last = name.rpartition(".")[2] or (call.func.attr if isinstance(call.func, ast.Attribute) else "")
    if last in _TYING_CALLS:
        return True
    if last == "set_output_embeddings":
        return any("embed" in ast.unparse(a) for a in call.args)
    if last in _NAMED_SETTERS:
        words = [a.value for a in call.args if isinstance(a, ast.Constant)]
        return "weight" in words and any(_is_weight_of(a) for a in call.args)
    return False


def _expression(name: str) -> ast.expr:
    return ast.parse(name, mode="eval").body


def _is_pair(target: ast.expr, value: ast.expr) -> bool:
    """Whether ``target = value`` joins a head's weight and another one (a tower's own embedding is no head)."""
    if not isinstance(target, ast.Attribute) or target.attr != "weight" or not _is_weight_of(value):
        return False
    left, right = ast.unparse(target), ast.unparse(value)
    if left == right:
        return False
    both_own = left.startswith("self.") and right.startswith("self.")
    return not both_own or any(word in text for word in _HEADS for text in (left, right))


def _is_weight_of(value: ast.expr) -> bool:
    """``x.weight``, or a name or call that may well be one (a local, ``nn.Parameter``, a getter)."""
    if isinstance(value, ast.Attribute):
        return value.attr == "weight"
    if isinstance(value, ast.Call):
        return any(_is_weight_of(a) for a in value.args)
    if isinstance(value, ast.IfExp):
        return _is_weight_of(value.body) or _is_weight_of(value.orelse)
    return isinstance(value, ast.Name)


def _is_fresh(value: ast.expr | None) -> bool:
    """Whether a value is surely a tensor of its own (``torch.empty(…)``, ``nn.Parameter(…)``, ``x.clone()``)."""
    return value is None or isinstance(value, (ast.Call, ast.Constant))


def head_swaps(node: ast.AST, self_name: str) -> bool:
    """``self.lm_head = self.model.embed_tokens``: the head is the embedding module itself."""
    for name, value in parts_of(node):
        if name == f"{self_name}.lm_head" and isinstance(value, (ast.Attribute, ast.Call)):
            source = value.func if isinstance(value, ast.Call) else value
            if "embed" in dotted(source) and (not isinstance(value, ast.Call) or not value.args):
                return True
    return False


def joined(node: ast.AST, self_name: str) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield alias and source of what a tying node makes one tensor, as the expressions of the two tensors.

    Nothing is yielded for a tie that does not name them: ``tie_embeddings_and_encoder_decoder()``.
    """
    if isinstance(node, ast.Call):
        yield from _joined_by_call(node)
    elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for place, value in _matched(target, node.value):
                if isinstance(place, ast.Attribute) and _is_pair(place, value):
                    yield place, value
                elif isinstance(place, ast.Subscript) and isinstance(place.value, ast.Attribute):
                    if place.value.attr == "_parameters":
                        yield _weight(place.value.value), value
                elif dotted(place) == f"{self_name}.lm_head":
                    yield _weight(place), _weight(value)


def _joined_by_call(call: ast.Call) -> Iterator[tuple[ast.expr, ast.expr]]:
    last = dotted(call.func).rpartition(".")[2] or getattr(call.func, "attr", "")
    if last in _TYING_CALLS and len(call.args) == 2:
        yield _weight(call.args[0]), _weight(call.args[1])
    elif last in _NAMED_SETTERS and len(call.args) > 1:
        owner = call.args[0] if len(call.args) == 3 else getattr(call.func, "value", None)
        if owner is not None:
            yield _weight(owner), call.args[-1]


def _matched(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The single targets of an assignment, each with its part of the value."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target, value
    elif isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
        for element, part in zip(target.elts, value.elts, strict=True):
            yield from _matched(element, part)


def _weight(module: ast.expr) -> ast.expr:
    return ast.Attribute(module, "weight", ast.Load())


class Tying:
    """Looks for ties in a method and the methods of the checkout that it calls.

    ``fed`` are parameters of the method that its caller has filled from the flag.
    """

    def __init__(self, view: MethodView, depth: int = 0, fed: frozenset[str] = frozenset()):
        self.view, self.depth = view, depth
        self.flag = FlagReader(view, fed)

    def ever_aliases(self, surely: bool = False) -> bool:
        """Tell whether running the method can tie: by itself, through a helper, or through code without source.

        With ``surely``, code without source does not count.
        """
        for node in self.view.walk():
            if aliases(node) or head_swaps(node, self.view.self_name):
                return True
            if isinstance(node, ast.Call) and self._call_aliases(node, surely):
                return True
            if not surely and any(n.endswith("head.weight") and not _is_fresh(v) for n, v in parts_of(node)):
                return True
        return False

    def _call_aliases(self, call: ast.Call, surely: bool) -> bool:
        if self.depth > 3:
            return False
        callee = self.looked_into(call)
        if callee is not None:
            if not surely and not self.view.classes.is_local(callee.owner):
                return callee.node.name == "tie_weights"  # transformers ties there, by means of its own
            return callee.node is not self.view.node and Tying(callee, self.depth + 1).ever_aliases(surely)
        return not surely and self._may_alias(call)

    def _may_alias(self, call: ast.Call) -> bool:
        """Code without source: a base's or child's ``tie_weights``, or whatever is handed a weight or an embedding."""
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if method == "tie_weights":
            return True
        if isinstance(call.func, ast.Attribute) and is_super(call.func.value):
            return method == "__init__" and bool(call.args or call.keywords) and self._base_may_tie()
        if dotted(call.func) == "setattr":
            return True
        if method.endswith("_") or "torch." in ast.unparse(call.func):
            return False  # copies values
        given = [ast.unparse(a) for a in (*call.args, *(k.value for k in call.keywords))]
        return any(text.endswith((".weight", "lm_head", "embed_tokens", "get_input_embeddings()")) for text in given)

    def _base_may_tie(self) -> bool:
        """Whether the constructor that is next may tie; that of ``PreTrainedModel`` itself builds no head."""
        base = self.view.classes.next_init(self.view.receiver, self.view.owner)
        return base is None or base.fqn.rpartition(".")[2] != "PreTrainedModel"

    def looked_into(self, call: ast.Call) -> MethodView | None:
        """Return the method or function that a call leads to, if its source is at hand."""
        callee = self.view.callee(call)
        return FunctionView(self.view, callee) if isinstance(callee, FunctionEntity) else callee

    # -- is the tie gated? ------------------------------------------------------------------------------------------

    def ungated(self) -> ast.AST | None:
        """Return the statement that ties whatever the flag says, if there is one.

        A statement is gated if it stands under, or behind an early exit under, a condition that consults the flag;
        a condition that cannot be looked into gets the benefit of the doubt.
        """
        return next((node for _, node in self._ungated(self.view.node.body)), None)

    def ungated_statements(self) -> list[ast.stmt]:
        """Return every statement that ties whatever the flag says; those of both sides of a condition on the flag."""
        return [statement for statement, _ in self._ungated(self.view.node.body)]

    def _ungated(self, body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, ast.AST]]:
        for statement in body:
            if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
                continue
            if isinstance(statement, ast.If) and literal_truth(statement.test) is None:
                found = self._ungated_choice(statement)
                yield from found
                exits = _leaves(statement.body) or _leaves(statement.orelse)
                if not found and exits and self.flag.consults(statement.test):
                    return
            elif isinstance(statement, (ast.While, ast.Match)):
                asked = statement.test if isinstance(statement, ast.While) else statement.subject
                if not self.flag.consults(asked):
                    yield from self._ungated(_inner(statement))
            elif isinstance(statement, (ast.If, ast.With, ast.For, ast.Try)):
                yield from self._ungated(_inner(statement))
            elif isinstance(statement, ast.Assert) and self.flag.consults(statement.test):
                return
            else:
                node = self._ungated_here(statement)
                if node is not None:
                    yield statement, node

    def _ungated_here(self, statement: ast.stmt) -> ast.AST | None:
        for node in walk_here(statement):
            if aliases(node) or head_swaps(node, self.view.self_name) or self._helper_ties(node):
                return None if self._is_conditional(statement) else node
        return None

    def _ungated_choice(self, choice: ast.If) -> list[tuple[ast.stmt, ast.AST]]:
        """Under a condition on the flag only what both sides tie is ungated; under another one, what either does."""
        first, second = list(self._ungated(choice.body)), list(self._ungated(choice.orelse))
        if self.flag.consults(choice.test) and not (first and second):
            return []
        return first + second

    def only_ties(self) -> bool:
        """Tell whether the method does nothing but tie: nothing else is called for its effect, nothing else set."""
        for node in self.view.walk():
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not aliases(node.value):
                callee = self.looked_into(node.value) if self.depth < 3 else None
                if callee is None or callee.node is self.view.node or not self.view.classes.is_local(callee.owner):
                    return False
                inner = Tying(callee, self.depth + 1)
                if not inner.ever_aliases(surely=True) or not inner.only_ties():
                    return False
            sets = isinstance(node, ast.Assign) and any(isinstance(t, ast.Attribute) for t in node.targets)
            if sets and not aliases(node) and not head_swaps(node, self.view.self_name):
                return False
        return True

    def _helper_ties(self, node: ast.AST) -> bool:
        """A method or function of the checkout that ties without asking either."""
        callee = self.looked_into(node) if isinstance(node, ast.Call) and self.depth < 3 else None
        if callee is None or callee.node is self.view.node or not self.view.classes.is_local(callee.owner):
            return False
        assert isinstance(node, ast.Call)
        bound = 0 if isinstance(callee, FunctionView) else 1
        parameters = [a.arg for a in (*callee.node.args.posonlyargs, *callee.node.args.args)][bound:]
        fed = {p for p, a in zip(parameters, node.args, strict=False) if self.flag.consults(a)}
        fed |= {k.arg for k in node.keywords if k.arg and self.flag.consults(k.value)}
        return Tying(callee, self.depth + 1, frozenset(fed)).ungated() is not None

    def _is_conditional(self, statement: ast.stmt) -> bool:
        """``a.weight = b.weight if tied else a.weight``, ``tied and setattr(…)``: gated by the expression itself."""
        choices = [n for n in ast.walk(statement) if isinstance(n, (ast.IfExp, ast.BoolOp))]
        asked = [c.test if isinstance(c, ast.IfExp) else c for c in choices]
        return any(self.flag.consults(test) for test in asked)


def _inner(statement: ast.stmt) -> list[ast.stmt]:
    return [inner for branch, _ in branches(statement) for inner in branch]


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def refused_arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether ``tie_weights`` refuses what transformers 5 passes: ``missing_keys``, ``recompute_mapping``."""
    positional = [a.arg for a in (*function.args.posonlyargs, *function.args.args)][1:]
    if len(positional) > len(function.args.defaults) or None in function.args.kw_defaults:
        return True  # it asks for more than it is given
    if function.args.kwarg is not None:
        return False
    accepted = {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}
    return not {"missing_keys", "recompute_mapping"} <= accepted
