"""Repairs of what is allocated in the dtype of the model (NAM408): `dtype=torch.float32` at the call that allocates."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from functools import cached_property

from automodel_lint.domain.constructor import Function
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.precision import follows_model
from automodel_lint.domain.spelling import spelled_from
from automodel_lint.findings import Span
from automodel_lint.inference.bindings import FUNCTIONS
from automodel_lint.inference.module_tree import ModuleNode, Tensor
from automodel_lint.inference.names import (
    ClassEntity,
    Entity,
    FunctionEntity,
    Module,
    Names,
    Scope,
    all_arguments,
)
from automodel_lint.repairs import Repair, Step, add_argument, repair, replace_text

_TITLE = "Allocate with `dtype=torch.float32`"
_CASTS = frozenset({"to", "type", "half", "bfloat16"})
_FP32 = frozenset({"torch.float32", "torch.float"})
_DTYPES = frozenset({"bfloat16", "float16", "half", "float32", "float", "float64", "double"})
# Where a call that holds a tensor has it: by position, or by one of these keywords.
_HELD = {"register_buffer": 1, "register_parameter": 1, "Parameter": 0, "Buffer": 0}
_KEYWORDS = ("tensor", "param", "data")
_ALLOCATING = frozenset({"empty", "zeros", "ones", "rand", "randn", "full", "tensor", "arange", "linspace", "eye"})
Steps = list["Step | None"]


def allocated(model: ModelClass, path: str, tensors: list[Tensor]) -> Repair | None:
    """fp32 for tensors that a model's own class, in the file ``path``, creates."""
    steps = in_fp32(model, path, tensors)
    return repair(_TITLE, *steps) if steps else None


def handed(model: ModelClass, path: str, fqns: Iterable[str]) -> Repair | None:
    """fp32 handed to the shared layers that create the tensors, where the file ``path`` constructs them."""
    wanted = set(fqns)
    found: Steps = []
    for node in _constructed(model, path, wanted):
        if not isinstance(node.place.node, ast.Call) or not _only(_below(model, node), wanted):
            return None
        asked = _Asked.at(model, path, node.place.node)
        steps = asked.of_callee(node.place.node) if asked is not None else None
        if not steps or asked is None:
            return None
        found += [*steps, asked.needed]
    return repair(_TITLE, *_once(found)) if found else None


def in_fp32(model: ModelClass, path: str, tensors: Sequence[Tensor]) -> Steps | None:
    """The steps that allocate tensors in fp32; ``None`` if one of them cannot be told, or others would change too."""
    if not tensors:
        return None
    nodes = {id(t.place.node): t.place.node for t in tensors}
    beside = [t for t in model.module_tree.tensors if id(t.place.node) in nodes]
    if any(t.place.path != path for t in tensors) or not _only(beside, {t.fqn for t in tensors}):
        return None
    found: Steps = []
    for node in nodes.values():
        asked = _Asked.at(model, path, node)
        steps = asked.of(node) if asked is not None and isinstance(node, ast.expr) else None
        if steps is None or asked is None:
            return None
        found += [*steps, asked.needed]
    return _once(found)


def _once(steps: Steps) -> Steps:
    return list(dict.fromkeys(steps))


def _only(tensors: Iterable[Tensor], wanted: set[str]) -> bool:
    """Whether all of the tensors that follow the model's dtype are wanted ones."""
    return all(t.fqn in wanted for t in tensors if follows_model(t))


def _constructed(model: ModelClass, path: str, wanted: set[str]) -> list[ModuleNode]:
    """The innermost modules that a file constructs and that have the wanted tensors in them."""
    found: dict[int, ModuleNode] = {}
    for node in model.module_tree.nodes():  # parents first, so that the innermost one remains
        if node.place.path == path:
            found |= {id(t): node for inner in node.walk() for t in inner.tensors if t.fqn in wanted}
    return list({id(node): node for node in found.values()}.values())


def _below(model: ModelClass, node: ModuleNode) -> list[Tensor]:
    """The tensors of all modules that are constructed where ``node`` is."""
    alike = [n for n in model.module_tree.nodes() if n.place.node is node.place.node]
    return [tensor for one in alike for inner in one.walk() for tensor in inner.tensors]


class _Asked:
    """Asks the expression of a tensor for fp32, in the function that holds it."""

    def __init__(self, names: Names, model: ModelClass, module: Module, scope: Scope, function: Function | None):
        self.names, self.model, self.module, self.scope, self.function = names, model, module, scope, function

    @classmethod
    def at(cls, model: ModelClass, path: str, node: ast.AST) -> _Asked | None:
        """Return it for a node of a file."""
        names = model.names
        name = names.module_name(path)
        module = names.module(name) if name else None
        if module is None or spelled_from(module, "torch") is None:
            return None
        scope, function = Scope(module), None
        for candidate in ast.walk(module.syntax):
            if isinstance(candidate, FUNCTIONS) and any(n is node for n in ast.walk(candidate)):
                function = candidate
        if function is not None:
            scope = scope.entered(function.body, function.args)
        return cls(names, model, module, scope, function)

    @cached_property
    def _torch(self) -> tuple[str, Step | None]:
        spelling = spelled_from(self.module, "torch")
        assert spelling is not None
        return spelling

    @property
    def needed(self) -> Step | None:
        """The import of torch, if the file has none."""
        return self._torch[1]

    @property
    def fp32(self) -> str:
        return f"{self._torch[0]}.float32"

    def span(self, node: ast.AST) -> Span:
        return self.model.project.tree.span(self.module.path, node)

    # -- expressions ----------------------------------------------------------------------------------------------

    def of(self, expr: ast.expr) -> Steps | None:
        """The steps that make a tensor fp32 from its beginning; ``None`` if that cannot be told."""
        if isinstance(expr, ast.UnaryOp):
            return self.of(expr.operand)
        if isinstance(expr, ast.BinOp):
            sides = [self.of(side) for side in (expr.left, expr.right) if not isinstance(side, ast.Constant)]
            return None if not sides or None in sides else [step for side in sides for step in side or ()]
        if isinstance(expr, ast.Name):
            value = self._local(expr.id)
            return self.of(value) if value is not None else None
        return self._of_call(expr) if isinstance(expr, ast.Call) else None

    def _of_call(self, call: ast.Call) -> Steps | None:
        func = call.func
        fqns = self.names.fqns(func, self.scope)
        of_torch = {fqn for fqn in fqns if fqn.startswith("torch.")}
        name = func.attr if isinstance(func, ast.Attribute) else ""
        last = {fqn.rpartition(".")[2] for fqn in of_torch} or {name}
        if last & set(_HELD):
            held = self._held(call, last)
            return self.of(held) if held is not None else None
        if of_torch:
            return self._of_torch(call, of_torch)
        if fqns:
            return self.of_callee(call)
        if not isinstance(func, ast.Attribute):
            return None
        if name in _CASTS:
            return self._uncast(call, func)
        return self._with_dtype(call, None) if name.startswith("new_") else self.of(func.value)

    def _of_torch(self, call: ast.Call, fqns: set[str]) -> Steps | None:
        """A module or allocation of torch gets the argument; of a function of tensors, the tensor does."""
        names = {fqn.rpartition(".")[2] for fqn in fqns}
        are_modules = all(f.startswith("torch.nn.") and f.rpartition(".")[2][:1].isupper() for f in fqns)
        if are_modules or names <= _ALLOCATING or all(name.endswith("_like") for name in names):
            return self._with_dtype(call, None)
        return self.of(call.args[0]) if call.args else None

    def of_callee(self, call: ast.Call) -> Steps | None:
        """A class or function of the checkout gets the argument if it takes one called ``dtype``."""
        callees = self.names.resolve(call.func, self.scope)
        positions = {self._position(callee) for callee in callees}
        return self._with_dtype(call, positions.pop()) if len(positions) == 1 and None not in positions else None

    def _position(self, callee: Entity) -> int | None:
        """The place of the parameter ``dtype`` of a callee, -1 if it is by keyword only; ``None`` if there is none."""
        function, bound = callee.node if isinstance(callee, FunctionEntity) else None, 0
        if isinstance(callee, ClassEntity):
            members, opaque = self.model.classes.find(callee, "__init__")
            function, bound = (members[-1].function if members and not opaque else None), 1
        if function is None:
            return None
        positional = [a.arg for a in (*function.args.posonlyargs, *function.args.args)][bound:]
        if "dtype" in positional:
            return positional.index("dtype")
        return -1 if "dtype" in [a.arg for a in all_arguments(function.args)] else None

    def _held(self, call: ast.Call, names: set[str]) -> ast.expr | None:
        named = [k.value for k in call.keywords if k.arg in _KEYWORDS]
        index = _HELD[next(iter(names & set(_HELD)))]
        return named[0] if named else call.args[index] if index < len(call.args) else None

    def _local(self, name: str) -> ast.expr | None:
        """The value of a name that the function binds once and reads once."""
        if self.function is None:
            return None
        uses = [n for n in ast.walk(self.function) if isinstance(n, ast.Name) and n.id == name]
        stores = [use for use in uses if isinstance(use.ctx, ast.Store)]
        if len(uses) != 2 or len(stores) != 1:
            return None
        assignments = [n for n in ast.walk(self.function) if isinstance(n, ast.Assign)]
        return next((a.value for a in assignments if a.targets == stores), None)

    # -- dtypes -----------------------------------------------------------------------------------------------------

    def _with_dtype(self, call: ast.Call, position: int | None) -> Steps | None:
        given = [k.value for k in call.keywords if k.arg == "dtype"]
        if not given and position is not None and 0 <= position < len(call.args):
            given = [call.args[position]]
        if given:
            return [] if self._is_fp32(given[0]) else [replace_text(self.span(given[0]), self.fp32)]
        if any(k.arg is None for k in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
            return None
        return [add_argument(self.span(call), f"dtype={self.fp32}")]

    def _is_fp32(self, expr: ast.expr) -> bool:
        return bool(self.names.fqns(expr, self.scope) & _FP32)

    def _uncast(self, call: ast.Call, func: ast.Attribute) -> Steps | None:
        """A cast, taken away if it does nothing else; what it casts is made fp32."""
        inner = self.of(func.value)
        if inner is None:
            return None
        arguments = [*call.args, *(k.value for k in call.keywords)]
        asked = [a for a in arguments if self._is_dtype(a)]
        if len(asked) < len(arguments):  # a device, perhaps
            return [*inner, *(replace_text(self.span(a), self.fp32) for a in asked)]
        whole, kept = self.span(call), self.span(func.value)
        cast = Span(kept.end_line, kept.end_column, whole.end_line, whole.end_column)
        return [*inner, replace_text(cast, "")]

    def _is_dtype(self, expr: ast.expr) -> bool:
        fqns = self.names.fqns(expr, self.scope)
        return any(f.startswith("torch.") and f[6:] in _DTYPES for f in fqns) or "dtype" in ast.unparse(expr).lower()
