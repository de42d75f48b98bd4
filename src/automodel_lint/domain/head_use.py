"""Whether a ``forward`` applies the head to its hidden states at every position, followed through what it calls.

A value is one of a few kinds, or one of several of them where the code branches: the head itself, hidden states at all
positions, what an index has cut out of them, anything else. What cannot be followed gives nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from automodel_lint.domain.causal_head import HEAD
from automodel_lint.domain.forward import KEEP, NAME, Forward, free_name, passes, takes
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import branches, dotted
from automodel_lint.inference.classes import FunctionView, MethodView, is_super
from automodel_lint.inference.module_tree import ModuleNode
from automodel_lint.inference.names import FunctionEntity, all_arguments

Kinds = frozenset[str]
HEAD_KIND, FULL, PART = "head", "full", "part"
NOTHING: Kinds = frozenset()
_GIVES_HEAD = ("get_output_embeddings",)
_NO_TENSOR = frozenset({"shape", "device", "dtype", "size", "dim", "ndim", "numel", "is_cuda"})
# What picks positions out of a tensor, or folds them into fewer.
_PICKS = frozenset(
    "gather index_select masked_select take take_along_dim narrow select nonzero topk sort argmax sum mean amax amin "
    "max min pooler_output".split()
)
_PROJECTS = ("linear", "matmul", "mm", "bmm", "einsum")
_DEEPEST = 8


def applies_head_everywhere(model: ModelClass, forward: Forward) -> ast.AST | None:
    """Return where a ``forward`` that takes no ``logits_to_keep`` applies the head to its full hidden states.

    That may be in a method or a function that it calls, in the ``forward`` of a base or of a submodule with a head of
    its own; not behind one that gets ``logits_to_keep`` out of the keyword arguments handed on to it.
    """
    if takes(forward.view, KEEP):
        return None
    flow = _Flow(model)
    free = free_name(forward.view)
    flow.run(forward.view, {}, frozenset({free} if free else ()), [model.module_tree.root])
    return flow.found[0] if flow.found else None


class _Flow:
    """Runs forward code; ``found`` are the places that apply the head to hidden states at all positions."""

    def __init__(self, model: ModelClass):
        self.model, self.classes, self.names = model, model.classes, model.names
        self.found: list[ast.AST] = []
        self.at: list[Sequence[ModuleNode]] = []
        self.free: list[frozenset[str]] = []
        self._running: list[ast.AST] = []

    # -- functions --------------------------------------------------------------------------------------------------

    def run(self, view: MethodView, given: dict[str, Kinds], free: frozenset[str], at: Sequence[ModuleNode]) -> Kinds:
        """Follow a function and return what it gives; ``free`` are the names that may hold ``logits_to_keep``."""
        if view.node in self._running or len(self._running) > _DEEPEST:
            return NOTHING
        env = {a.arg: frozenset({FULL}) for a in all_arguments(view.node.args) if a.arg != view.self_name} | given
        for stack, item in ((self._running, view.node), (self.at, at), (self.free, free)):
            stack.append(item)  # type: ignore[arg-type]
        returned: list[Kinds] = []
        self._block(view, view.node.body, env, returned)
        for stack in (self._running, self.at, self.free):
            stack.pop()  # type: ignore[attr-defined]
        return NOTHING.union(*returned)

    def _block(self, view: MethodView, body: list[ast.stmt], env: dict[str, Kinds], returned: list[Kinds]) -> None:
        for statement in body:
            if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                self._assign(view, statement, env)
            elif isinstance(statement, ast.Return):
                returned.append(self.value(view, statement.value, env))
                return
            elif isinstance(statement, ast.Raise):
                return
            elif isinstance(statement, (ast.Expr, ast.Assert)):
                self.value(view, getattr(statement, "value", None), env)
            else:
                self._branches(view, statement, env, returned)

    def _assign(
        self, view: MethodView, statement: ast.Assign | ast.AnnAssign | ast.AugAssign, env: dict[str, Kinds]
    ) -> None:
        value = self.value(view, statement.value, env)
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            if isinstance(statement, ast.AugAssign):
                env[dotted(target)] = env.get(dotted(target), NOTHING) | value
            else:
                self._bind(env, target, statement.value, value)

    def _bind(self, env: dict[str, Kinds], target: ast.expr, expr: ast.expr | None, value: Kinds) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self._bind(env, element, None, value)
            return
        if dotted(target):
            env[dotted(target)] = value
        if isinstance(target, ast.Name) and expr is not None and passes(_handed(expr), self.free[-1]):
            self.free[-1] |= {target.id}  # another name for the keyword arguments, or a dict with them in it

    def _branches(self, view: MethodView, statement: ast.stmt, env: dict[str, Kinds], returned: list[Kinds]) -> None:
        for expr in _own_expressions(statement):
            value = self.value(view, expr, env)
            if isinstance(statement, (ast.For, ast.AsyncFor)) and expr is statement.iter:
                self._bind(env, statement.target, None, value)
        ends: list[dict[str, Kinds]] = []
        sides = list(branches(statement))
        for branch, sure in sides:
            inner = env if sure else dict(env)
            self._block(view, branch, inner, returned)
            if not sure and not (branch and isinstance(branch[-1], (ast.Return, ast.Raise))):
                ends.append(inner)
        for name in {n for end in ends for n in end}:
            env[name] = NOTHING.union(*(end[name] for end in ends if name in end))

    # -- expressions --------------------------------------------------------------------------------------------------

    def value(self, view: MethodView, expr: ast.expr | None, env: dict[str, Kinds]) -> Kinds:
        """Return what an expression may be."""
        if isinstance(expr, ast.Name):
            return env.get(expr.id, NOTHING)
        if isinstance(expr, ast.Attribute):
            return self._attribute(view, expr, env)
        if isinstance(expr, ast.Call):
            return self._call(view, expr, env)
        if isinstance(expr, ast.Subscript):
            self.value(view, expr.slice, env)
            return _indexed(self.value(view, expr.value, env), expr.slice)
        if isinstance(expr, ast.IfExp):
            return self.value(view, expr.body, env) | self.value(view, expr.orelse, env)
        if isinstance(expr, ast.BoolOp):
            return NOTHING.union(*[self.value(view, e, env) for e in expr.values])
        if isinstance(expr, ast.NamedExpr):
            value = self.value(view, expr.value, env)
            self._bind(env, expr.target, expr.value, value)
            return value
        if isinstance(expr, ast.BinOp) and isinstance(expr.op, ast.MatMult):
            return self._projected(expr, [self.value(view, side, env) for side in (expr.left, expr.right)])
        if isinstance(expr, ast.Compare):
            return NOTHING
        if expr is None or isinstance(expr, (ast.Constant, ast.Lambda)):
            return NOTHING
        if isinstance(expr, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)):
            env = dict(env)
            for loop in expr.generators:
                self._bind(env, loop.target, None, self.value(view, loop.iter, env))
        inner = (e for e in ast.iter_child_nodes(expr) if isinstance(e, ast.expr))
        return _together([self.value(view, e, env) for e in inner])

    def _attribute(self, view: MethodView, expr: ast.Attribute, env: dict[str, Kinds]) -> Kinds:
        if expr.attr == HEAD:
            return frozenset({HEAD_KIND})
        path = dotted(expr)
        if path in env:
            return env[path]
        return NOTHING if expr.attr in _NO_TENSOR else self.value(view, expr.value, env)

    # -- calls --------------------------------------------------------------------------------------------------------

    def _call(self, view: MethodView, call: ast.Call, env: dict[str, Kinds]) -> Kinds:
        positional = [self.value(view, a.value if isinstance(a, ast.Starred) else a, env) for a in call.args]
        named = {k.arg or "**": self.value(view, k.value, env) for k in call.keywords}
        given = [*positional, *(kinds for name, kinds in named.items() if name != "**")]
        name = dotted(call.func).rpartition(".")[2] or getattr(call.func, "attr", "")
        if name in _GIVES_HEAD or (name == "getattr" and _names_head(call)):
            return frozenset({HEAD_KIND})
        if HEAD_KIND in self.value(view, call.func, env):
            called = not isinstance(call.func, ast.Attribute) or name in (HEAD, NAME)
            return self._applied(call, _together(given)) if called else frozenset({HEAD_KIND})
        path = self._below(view, call)
        if path is not None:
            return self._module(view, call, path, given)
        callee = self._callee(view, call)
        if callee is not None:
            return self._entered(view, call, callee, positional, named, self.at[-1])
        return self._computed(view, call, name, given, env)

    def _callee(self, view: MethodView, call: ast.Call) -> MethodView | None:
        callee = view.callee(call)
        return FunctionView(view, callee) if isinstance(callee, FunctionEntity) else callee

    def _entered(
        self,
        view: MethodView,
        call: ast.Call,
        callee: MethodView,
        positional: list[Kinds],
        named: dict[str, Kinds],
        at: Sequence[ModuleNode],
    ) -> Kinds:
        """What a method or function gives that a call leads to; one that may get the number to keep cuts by it."""
        handed = passes(call, self.free[-1])
        if handed and KEEP not in named and takes(callee, KEEP):
            return frozenset({PART})
        parameters = [a.arg for a in (*callee.node.args.posonlyargs, *callee.node.args.args)]
        if callee.self_name and parameters[:1] == [callee.self_name] and not isinstance(callee, FunctionView):
            parameters = parameters[1:]
        known = {a.arg for a in all_arguments(callee.node.args)}
        bound = dict(zip(parameters, positional, strict=False)) | {n: v for n, v in named.items() if n in known}
        bound = {a: NOTHING for a in known - bound.keys() - {callee.self_name}} | bound
        free = free_name(callee)
        return self.run(callee, bound, frozenset({free} if free and handed else ()), at)

    def _below(self, view: MethodView, call: ast.Call) -> str | None:
        """The place below the object that a call calls (``self.model(…)``, ``self.model.forward(…)``), no method."""
        root, _, rest = dotted(call.func).partition(".")
        path = rest.removesuffix(f".{NAME}")
        if not path or path == NAME or root != view.self_name or view.callee(call) is not None:
            return None
        return path

    def _module(self, view: MethodView, call: ast.Call, path: str, given: list[Kinds]) -> Kinds:
        """What a submodule gives: hidden states, or what the forward code of one with a head of its own does."""
        for node in (child for above in self.at[-1] for child in above.child(path)):
            members = self.classes.find(node.cls, NAME)[0] if node.cls is not None else []
            if members and members[0].function is not None and any(n.name == HEAD for n in node.walk()):
                inner = MethodView(self.classes, node.cls, members[0])  # type: ignore[arg-type]
                return self._entered(view, call, inner, [], {}, [node])
        cut = "pool" in path or any(kinds == {PART} for kinds in given)
        return frozenset({PART if cut else FULL})

    def _applied(self, node: ast.AST, given: Kinds) -> Kinds:
        if FULL in given and node not in self.found:
            self.found.append(node)
        return frozenset({PART})

    def _projected(self, node: ast.AST, given: list[Kinds]) -> Kinds:
        """A product: with the weight of the head it is the head."""
        if any(HEAD_KIND in kinds for kinds in given):
            return self._applied(node, _together([k - {HEAD_KIND} for k in given]))
        return _together(given)

    def _computed(
        self, view: MethodView, call: ast.Call, name: str, given: list[Kinds], env: dict[str, Kinds]
    ) -> Kinds:
        """What a method of a tensor gives, a function of torch, or something that cannot be followed."""
        if is_super(call.func.value if isinstance(call.func, ast.Attribute) else None):
            return NOTHING
        if name[:1].isupper():  # an object that keeps what it is given
            return _together([kinds - {HEAD_KIND} for kinds in given])
        fqns = self.names.fqns(call.func, view.scope)
        if isinstance(call.func, ast.Attribute) and not fqns:
            given = [self.value(view, call.func.value, env), *given]
        elif not all(fqn.startswith(("torch.", "builtins.")) for fqn in fqns):
            return NOTHING
        name = next((fqn.rpartition(".")[2] for fqn in fqns), name)
        if name in _PROJECTS:
            return self._projected(call, given)
        if any(HEAD_KIND in kinds for kinds in given):
            return NOTHING
        result = _together(given)
        return frozenset({PART}) if name in _PICKS and FULL in result else result


def _handed(expr: ast.expr) -> ast.Call:
    """An expression as if it were the only argument of a call."""
    inner = expr.args[0] if isinstance(expr, ast.Call) and dotted(expr.func) == "dict" and expr.args else expr
    keywords = expr.keywords if isinstance(expr, ast.Call) and dotted(expr.func) == "dict" else []
    return ast.Call(func=ast.Name(id="handed"), args=[inner], keywords=keywords)


def _own_expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """What a compound statement evaluates itself, before its blocks."""
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        yield from (item.context_expr for item in statement.items)
    else:
        yield from (e for e in ast.iter_child_nodes(statement) if isinstance(e, ast.expr))


def _together(values: list[Kinds]) -> Kinds:
    """What is computed from several values: a part, if one of them surely is."""
    if any(kinds == {PART} for kinds in values):
        return frozenset({PART})
    return NOTHING.union(*values)


def _indexed(whole: Kinds, index: ast.expr) -> Kinds:
    """What an index takes out: an element of a tuple or a dict is as it is, of a tensor only everything is."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if isinstance(index, (ast.Constant, ast.UnaryOp)) or all(_takes_all(part) for part in parts):
        return whole
    return frozenset({PART}) if FULL in whole else whole


def _takes_all(part: ast.expr) -> bool:
    if isinstance(part, ast.Slice):
        return part.lower is None and part.upper is None
    return isinstance(part, ast.Constant) and part.value in (None, Ellipsis)


def _names_head(call: ast.Call) -> bool:
    return len(call.args) > 1 and isinstance(call.args[1], ast.Constant) and call.args[1].value == HEAD
