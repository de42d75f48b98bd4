"""Follows the forward code of a module with the dtypes that its tensors may have.

A tensor is in fp32, in the dtype of the module's input (which the weights share), or in one that only a config knows.
Both sides of a condition are followed. What a module of the library does is taken to keep the dtype of its input.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from automodel_lint.inference.bindings import branches, dotted, parts_of
from automodel_lint.inference.classes import Classes, FunctionView, MethodView, asked
from automodel_lint.inference.module_tree import ModuleNode
from automodel_lint.inference.names import FunctionEntity, all_arguments, defaults_of

FP32, INPUT, OPEN = "fp32", "input", "open"
NONE, SOME = "none", "some"  # marks of a dtype that may not be given
_WIDE = ("float", "float32", "float64", "double")
_DTYPES = {**dict.fromkeys(_WIDE, FP32), **dict.fromkeys(("half", "float16", "bfloat16"), INPUT)}
_MIXING = frozenset({"dot", "mm", "bmm", "addmm", "baddbmm", "matmul", "linear", "outer", "einsum"})
_JOINING = _MIXING | {"add", "sub", "mul", "div", "cat", "concat", "stack", "where", "maximum", "minimum"}
_FUNCTIONAL = frozenset({"Softmax", "Sigmoid"})  # modules that are a function of the same name
_TORCH_DTYPES = frozenset(f"torch.{name}" for name in _DTYPES)
_NO_TENSOR = frozenset({"device", "shape", "size", "numel", "dim", "ndim", "is_cuda", "training", "requires_grad"})
_DEEPEST = 5


@dataclass(frozen=True)
class Traced:
    """A value on its way: the dtypes it may have (none for what is no tensor), marks, and the names it comes from."""

    dtypes: frozenset[str] = frozenset()
    marks: frozenset = frozenset()
    words: frozenset[str] = frozenset()
    parts: tuple[Traced, ...] = ()

    def marked(self, mark: object) -> Traced:
        """Return the value with one more mark."""
        return replace(self, marks=self.marks | {mark})

    def mixed(self) -> Traced:
        """Return what a projection makes of the value: the dtype is still its own, the marks are not."""
        return replace(self, marks=frozenset(), parts=())


NOTHING = Traced()
_OF_DTYPE = re.compile(r"dtype|precision|float|half|torch\.")
_NUMBERS = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Name)  # what a plain number is kept as
_OPEN = Traced(frozenset({OPEN}), frozenset({SOME}))


def either(values: Iterable[Traced]) -> Traced:
    """Return what is one of several values, depending on a condition."""
    found = list(values)
    parts: tuple[Traced, ...] = ()
    if found and all(len(v.parts) == len(found[0].parts) for v in found):
        parts = tuple(either(column) for column in zip(*(v.parts for v in found), strict=True))
    return Traced(
        _union(v.dtypes for v in found), _union(v.marks for v in found), _union(v.words for v in found), parts
    )


def together(values: Iterable[Traced]) -> Traced:
    """Return what is computed from several values; fp32 wins."""
    found = list(values)
    dtypes = reduce(_promoted, (v.dtypes for v in found), frozenset())
    return Traced(dtypes, _union(v.marks for v in found), _union(v.words for v in found))


def _union(sets: Iterable[frozenset]) -> frozenset:
    return frozenset().union(*sets)


def _promoted(first: frozenset[str], second: frozenset[str]) -> frozenset[str]:
    if not first or not second:
        return first or second
    pairs = ({a, b} for a in first for b in second)
    return frozenset(FP32 if FP32 in pair else OPEN if OPEN in pair else INPUT for pair in pairs)


class Flow:
    """Runs the forward code of modules of one class; :meth:`called` sees every call of torch on the way.

    ``nodes`` are the modules, which hang in one module tree or another.
    """

    def __init__(self, classes: Classes, nodes: Sequence[ModuleNode]):
        self.classes, self.names = classes, classes.names
        self.at: list[Sequence[ModuleNode]] = [nodes]
        self.way: list[tuple[MethodView, ast.Call]] = []  # the calls that led here, outermost first
        self._running: list[ast.AST] = []
        self._known: dict[tuple, Traced] = {}

    def called(self, view: MethodView, call: ast.Call, name: str, given: Traced, result: Traced) -> Traced:
        """Look at a call of torch: ``given`` is its first tensor, ``result`` what it gives (which may be replaced)."""
        return result

    # -- functions --------------------------------------------------------------------------------------------------

    def run(self, view: MethodView, given: dict[str, Traced] | None = None) -> Traced:
        """Follow a function from its first statement; parameters that are not given are tensors as they come in."""
        if view.node in self._running or len(self._running) > _DEEPEST:
            return Traced(frozenset({OPEN}))
        env = {a.arg: _parameter(a.arg) for a in all_arguments(view.node.args) if a.arg != view.self_name}
        env |= given or {}
        key = (view.node, tuple(map(id, self.at[-1])), tuple((n, v.dtypes, v.marks) for n, v in sorted(env.items())))
        if key not in self._known:
            self._running.append(view.node)
            returned: list[Traced] = []
            self._block(view, view.node.body, env, returned)
            self._running.pop()
            self._known[key] = either(returned) if returned else NOTHING
        return self._known[key]

    def _block(self, view: MethodView, body: list[ast.stmt], env: dict[str, Traced], returned: list[Traced]) -> None:
        for statement in body:
            if isinstance(statement, ast.Assign):
                value = self.value(view, statement.value, env)
                for target in statement.targets:
                    _bind(env, target, value)
            elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                _bind(env, statement.target, self.value(view, statement.value, env))
            elif isinstance(statement, ast.AugAssign):
                before = env.get(dotted(statement.target), NOTHING)
                self.value(view, statement.value, env)
                _bind(env, statement.target, before)  # in place: the dtype stays
            elif isinstance(statement, ast.Expr):
                self.value(view, statement.value, env)
            elif isinstance(statement, ast.Return):
                returned.append(self.value(view, statement.value, env) if statement.value else NOTHING)
                return
            else:
                self._branches(view, statement, env, returned)

    def _branches(self, view: MethodView, statement: ast.stmt, env: dict[str, Traced], returned: list[Traced]) -> None:
        test = getattr(statement, "test", None)
        truth = self._truth(view, test, env) if test is not None else None
        if isinstance(statement, ast.If) and truth is not None:
            self._block(view, statement.body if truth else statement.orelse, env, returned)
            return
        if isinstance(statement, ast.For):
            _bind(env, statement.target, self.value(view, statement.iter, env))
        ends: list[dict[str, Traced]] = []
        for branch, sure in branches(statement):
            inner = env if sure else dict(env)
            self._block(view, branch, inner, returned)
            if not sure and not (branch and isinstance(branch[-1], (ast.Return, ast.Raise))):
                ends.append(inner)
        for name in {n for end in ends for n in end}:
            env[name] = either([end[name] for end in ends if name in end])

    # -- expressions --------------------------------------------------------------------------------------------------

    def value(self, view: MethodView, expr: ast.expr, env: dict[str, Traced]) -> Traced:
        """Return what an expression may be."""
        if isinstance(expr, ast.Name):
            return env.get(expr.id, NOTHING) if expr.id in env else self._dtype(view, expr)
        if isinstance(expr, ast.Attribute):
            return self._attribute(view, expr, env)
        if isinstance(expr, ast.Call):
            return self._call(view, expr, env)
        if isinstance(expr, (ast.Tuple, ast.List)):
            parts = tuple(self.value(view, e, env) for e in expr.elts)
            return replace(together(parts), parts=parts if isinstance(expr, ast.Tuple) else ())
        if isinstance(expr, ast.IfExp):
            truth = self._truth(view, expr.test, env)
            sides = {True: [expr.body], False: [expr.orelse], None: [expr.body, expr.orelse]}[truth]
            return either([self.value(view, side, env) for side in sides])
        if isinstance(expr, ast.BoolOp):
            return either([self.value(view, e, env) for e in expr.values])
        if isinstance(expr, ast.Subscript):
            whole = self.value(view, expr.value, env)
            index = expr.slice.value if isinstance(expr.slice, ast.Constant) else None
            in_range = isinstance(index, int) and -len(whole.parts) <= index < len(whole.parts)
            return whole.parts[index] if in_range else replace(whole, parts=())  # type: ignore[index]
        if isinstance(expr, ast.NamedExpr):
            value = self.value(view, expr.value, env)
            _bind(env, expr.target, value)
            return value
        if isinstance(expr, ast.BinOp) and isinstance(expr.op, ast.MatMult):
            return together([self.value(view, expr.left, env), self.value(view, expr.right, env)]).mixed()
        if isinstance(expr, (ast.BinOp, ast.UnaryOp, ast.Starred, ast.GeneratorExp, ast.ListComp)):
            return together(self.value(view, e, env) for e in ast.iter_child_nodes(expr) if isinstance(e, ast.expr))
        return NOTHING

    def _truth(self, view: MethodView, test: ast.expr, env: dict[str, Traced]) -> bool | None:
        """Whether a test of a dtype against ``None`` comes out true, where that is known."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self._truth(view, test.operand, env)
            return None if inner is None else not inner
        left, flips = test, False
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
            left, flips = test.left, isinstance(test.ops[0], ast.Is)
        known = self.value(view, left, env).marks & {NONE, SOME}
        return None if len(known) != 1 else (SOME in known) != flips

    def _dtype(self, view: MethodView, expr: ast.expr) -> Traced:
        """``torch.float32`` and its like stand for a tensor of that dtype."""
        for fqn in self.names.fqns(expr, view.scope):
            owner, _, name = fqn.rpartition(".")
            if owner == "torch" and name in _DTYPES:
                return Traced(frozenset({_DTYPES[name]}))
        return NOTHING

    def _attribute(self, view: MethodView, expr: ast.Attribute, env: dict[str, Traced]) -> Traced:
        path = dotted(expr)
        if path in env:
            return env[path]
        root, _, rest = path.partition(".")
        if root and root == view.self_name:
            return self._member(rest)
        if root and root not in env:
            return self._dtype(view, expr)
        whole = self.value(view, expr.value, env)
        return NOTHING if expr.attr in _NO_TENSOR else replace(whole, words=whole.words | {expr.attr}, parts=())

    def _member(self, path: str) -> Traced:
        """``self.weight``, ``self.proj.weight``, ``self.weight.dtype``: by what the module tree says."""
        for suffix in (".dtype", ".data", ".T", ".mT", ".H", ".mH"):
            path = path.removesuffix(suffix)
        owner, _, name = path.rpartition(".")
        words = frozenset(path.split("."))
        if name in _NO_TENSOR:
            return NOTHING
        tensors = [t for n in self.at[-1] for child in n.child(owner) for t in child.tensors if t.name == name]
        if not tensors:
            return either(self._field(node, path) for node in self.at[-1]) if not owner else _OPEN
        return Traced(frozenset(FP32 if t.dtype and t.dtype.is_fp32 else INPUT for t in tensors), words=words)

    def _field(self, node: ModuleNode, name: str) -> Traced:
        """A dtype that the constructor keeps: what the call gives that makes the module, or the default."""
        members = self.classes.find(node.cls, "__init__")[0] if node.cls is not None else []
        init = MethodView(self.classes, node.cls, members[0]) if members and members[0].function is not None else None
        kept = asked(init, _assignments).get(f"{init.self_name}.{name}", []) if init is not None else []
        if init is None or len(kept) != 1:
            return _OPEN
        given, made = kept[0], node.place.node
        if isinstance(given, ast.Name):
            given = argument(init, made, given.id) if isinstance(made, ast.Call) else None
        written = " ".join(ast.unparse(e) for e in (kept[0], given) if e is not None)
        if not _OF_DTYPE.search(f"{name} {written}") and not _is_none(given):
            return NOTHING if isinstance(given or kept[0], _NUMBERS) else _OPEN
        if isinstance(given, ast.Attribute) and given is kept[0]:
            fixed = self._dtype(init, given)
            return fixed.marked(SOME) if fixed.dtypes else _OPEN
        if isinstance(given, ast.Attribute) and not self.names.fqns(given, init.scope) & _TORCH_DTYPES:
            return Traced(frozenset({OPEN}), frozenset({NONE, SOME}))  # a field of a config
        if _is_none(given):
            return Traced(marks=frozenset({NONE}))
        return self._dtype(init, given).marked(SOME) if isinstance(given, ast.Attribute) else _OPEN

    # -- calls --------------------------------------------------------------------------------------------------------

    def _call(self, view: MethodView, call: ast.Call, env: dict[str, Traced]) -> Traced:
        positional = [self.value(view, a, env) for a in call.args]
        named = {k.arg: self.value(view, k.value, env) for k in call.keywords if k.arg}
        root, _, rest = dotted(call.func).partition(".")
        if root and root == view.self_name and rest:
            modules = [child for node in self.at[-1] for child in node.child(rest)]
            if modules:
                return self._module(view, call, modules, positional, named)
        callee = view.callee(call)
        if isinstance(callee, FunctionEntity):
            callee = FunctionView(view, callee)
        if callee is not None and self.classes.is_local(callee.owner):
            self.way.append((view, call))
            result = self.run(callee, _bound(callee, positional, named))
            self.way.pop()
            return result
        if isinstance(call.func, ast.Attribute) and not self._is_library(view, call.func, env):
            receiver = self.value(view, call.func.value, env)
            return self._computed(view, call, call.func.attr, [receiver, *positional], named)
        module = call.func.func if isinstance(call.func, ast.Call) else call.func  # nn.Softmax(dim=-1)(logits)
        fqns = self.names.fqns(module, view.scope)
        name = next((f.rpartition(".")[2] for f in fqns if f.startswith("torch.")), "")
        if name and (module is call.func or name in _FUNCTIONAL):
            return self._computed(view, call, name if module is call.func else name.lower(), positional, named)
        given = together([*positional, *named.values()]).mixed()
        return replace(given, dtypes=frozenset({OPEN}) if given.dtypes else frozenset())

    def _is_library(self, view: MethodView, func: ast.Attribute, env: dict[str, Traced]) -> bool:
        root = dotted(func).partition(".")[0]
        return bool(root) and root not in env and root != view.self_name and bool(self.names.fqns(func, view.scope))

    def _computed(
        self, view: MethodView, call: ast.Call, name: str, given: list[Traced], named: dict[str, Traced]
    ) -> Traced:
        """What a function of torch, or the same method of a tensor, gives."""
        tensors = [v for v in [*given, *named.values()] if v.dtypes]
        first = given[0] if given and given[0].dtypes else tensors[0] if tensors else NOTHING
        if name in ("to", "type", "type_as"):
            to = [v for v in [*given[1:], *named.values()] if v.dtypes]
            result = replace(first, dtypes=to[-1].dtypes, parts=()) if to else first
        elif name in _DTYPES:
            result = replace(first, dtypes=frozenset({_DTYPES[name]}), parts=())
        elif named.get("dtype", NOTHING).dtypes:
            result = replace(first, dtypes=named["dtype"].dtypes, parts=())
        elif name == "softmax" and len(tensors) > 1:
            result = replace(first, dtypes=tensors[-1].dtypes, parts=())  # the dtype by its position
        elif name in _JOINING:
            result = together(tensors).mixed() if name in _MIXING else together(tensors)
        else:
            result = replace(first, words=_union(v.words for v in tensors), parts=())
        return self.called(view, call, name.rstrip("_"), first, result)

    def _module(
        self,
        view: MethodView,
        call: ast.Call,
        modules: list[ModuleNode],
        positional: list[Traced],
        named: dict[str, Traced],
    ) -> Traced:
        """What a submodule gives: its own forward code if it is the checkout's, else the dtype that goes in."""
        first = next((v for v in [*positional, *named.values()] if v.dtypes), NOTHING)
        results = []
        for node in modules:
            members = self.classes.find(node.cls, "forward")[0] if node.cls is not None else []
            if node.type_fqn.startswith("torch.nn.") and node.type_name in _FUNCTIONAL:
                results.append(self.called(view, call, node.type_name.lower(), first, first))
            elif members and members[0].function is not None and self.classes.is_local(members[0].owner):
                self.at.append([node])
                inner = MethodView(self.classes, node.cls, members[0])
                results.append(self.run(inner, _bound(inner, positional, named)))
                self.at.pop()
            else:
                results.append(first.mixed())
        return replace(either(results), words=frozenset(dotted(call.func).split(".")[1:]))


def argument(view: MethodView, call: ast.Call, name: str) -> ast.expr | None:
    """Return what a call of a method gives for a parameter, or the default of the parameter."""
    signature = view.node.args
    parameters = [a.arg for a in (*signature.posonlyargs, *signature.args)][1:]
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if name in parameters and parameters.index(name) < len(call.args):
        return call.args[parameters.index(name)]
    return defaults_of(signature).get(name)


def _assignments(view: MethodView) -> dict[str, list[ast.expr | None]]:
    """What the statements of a function assign that always run."""
    found: dict[str, list[ast.expr | None]] = {}
    for statement in view.node.body:
        for name, value in parts_of(statement):
            found.setdefault(name, []).append(value)
    return found


def _parameter(name: str) -> Traced:
    if "device" in name:
        return NOTHING
    return Traced(frozenset({OPEN if "dtype" in name else INPUT}), words=frozenset({name}))


def _bound(view: MethodView, positional: list[Traced], named: dict[str, Traced]) -> dict[str, Traced]:
    """The parameters of a function that a call fills."""
    parameters = [a.arg for a in (*view.node.args.posonlyargs, *view.node.args.args)]
    if view.self_name and parameters[:1] == [view.self_name] and not isinstance(view, FunctionView):
        parameters = parameters[1:]
    known = {a.arg for a in all_arguments(view.node.args)}
    given = dict(zip(parameters, positional, strict=False)) | {n: v for n, v in named.items() if n in known}
    return {n: replace(v, words=v.words | {n}) if v.dtypes else v for n, v in given.items()}


def _bind(env: dict[str, Traced], target: ast.expr, value: Traced) -> None:
    if isinstance(target, (ast.Tuple, ast.List)):
        parts = value.parts if len(value.parts) == len(target.elts) else [replace(value, parts=())] * len(target.elts)
        for element, part in zip(target.elts, parts, strict=True):
            _bind(env, element, part)
    elif dotted(target):
        words = value.words | ({dotted(target)} if value.dtypes else set())
        env[dotted(target)] = replace(value, words=words)


def _is_none(expr: ast.expr | None) -> bool:
    return isinstance(expr, ast.Constant) and expr.value is None
