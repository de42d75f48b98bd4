"""Forward code that multiplies by the weight of a projection instead of calling it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from automodel_lint.domain.child_calls import Below
from automodel_lint.domain.constructing import running
from automodel_lint.domain.missing_methods import places_below
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.project import Project
from automodel_lint.inference.bindings import Binding, dotted, nodes_on, parts_of, statements_here
from automodel_lint.inference.classes import Member, MethodView
from automodel_lint.inference.module_tree import ModuleNode
from automodel_lint.inference.names import ClassEntity
from automodel_lint.source import remembered

_WEIGHT = "weight"
_PRODUCTS = frozenset("linear matmul mm bmm mv dot inner einsum addmm baddbmm tensordot".split())
_FILLING = ("__init__", "init_weights", "_init_weights", "initialize_weights", "reset_parameters")
# What makes another view or another dtype of a weight; the product is still one with the weight.
_VIEWS = frozenset(
    "view reshape flatten unflatten transpose permute t float half bfloat16 to type type_as contiguous squeeze "
    "unsqueeze split chunk unbind narrow detach clone expand expand_as to_local full_tensor".split()
)
_VIEW_ATTRIBUTES = ("T", "mT", "H", "mH", "data")
_ASKING = ("getattr", "hasattr", "isinstance", "type")
_MOST = 8


@dataclass(frozen=True, eq=False)
class WeightUse:
    """``<child>.weight`` read at ``node`` in a method that ``forward`` runs, and multiplied with."""

    view: MethodView
    node: ast.expr
    child: str
    path: str


def weight_uses(model: ModelClass) -> Iterator[WeightUse]:
    """Yield the products with the weight of a projection in the module tree, one for each method and child.

    A method that asks the child something (for its effective weight, for its class) knows what may stand in its place.
    """
    by_class: dict[ClassEntity, list[ModuleNode]] = {}
    for node in model.module_tree.nodes():
        if node.cls is not None and model.classes.in_checkout(node.cls):
            by_class.setdefault(node.cls, []).append(node)
    for cls, nodes in by_class.items():
        for use in weight_products(model.project, cls):
            if any(_is_projection(model, child) for node in nodes for child in places_below(node, use.path) or ()):
                yield use


def _is_projection(model: ModelClass, node: ModuleNode) -> bool:
    """Whether a module is what LoRA and quantisation replace: a linear layer, of whatever library."""
    if node.type_name.endswith("Linear"):
        return True
    order = model.classes.mro(node.cls) if node.cls is not None else ()
    return any(ancestor.fqn.endswith("Linear") for ancestor in order)


@remembered
def weight_products(project: Project, cls: ClassEntity) -> tuple[WeightUse, ...]:
    """Return the products with the weight of anything below an object of ``cls`` in what its ``forward`` runs."""
    found: list[WeightUse] = []
    for ancestor in project.classes.mro(cls):
        lines = _weight_lines(project, ancestor) if isinstance(ancestor, ClassEntity) else frozenset()
        for function in project.classes.methods(ancestor) if lines else ():  # type: ignore[arg-type]
            here = [line for line in lines if function.lineno <= line <= (function.end_lineno or 0)]
            if here and function.name not in _FILLING:
                view = MethodView(project.classes, cls, Member(ancestor, Binding("def", function)))  # type: ignore[arg-type]
                found += _Method(view).uses(frozenset(here))
    reached = {view.node for view in running(project, cls, "forward")} if found else set()
    return tuple(use for use in found if use.view.node in reached)


@remembered
def _weight_lines(project: Project, cls: ClassEntity) -> frozenset[int]:
    """The lines of a class that read a weight of something below the object, not only its own."""
    if not project.classes.in_checkout(cls) or not project.tree.holds(cls.module.path, b".weight"):
        return frozenset()
    first = cls.node.lineno
    text = project.tree.lines(cls.module.path)[first - 1 : cls.node.end_lineno]
    return frozenset(number for number, line in enumerate(text, first) if f".{_WEIGHT}" in line)


class _Method:
    """Follows the weights of children through one method."""

    def __init__(self, view: MethodView):
        self.view, self.below = view, Below(view)
        self.held: dict[str, tuple[ast.expr, str]] = {}  # the locals that are a weight: where it was read, and whose

    def uses(self, lines: frozenset[int]) -> list[WeightUse]:
        """Return the products, one for each child, at the place that reads the weight."""
        reads = [n for n in nodes_on(self.view.node, set(lines), nested=False) if isinstance(n, ast.Attribute)]
        if not any(self._read(node) for node in reads):
            return []
        self._hold()
        found: dict[str, WeightUse] = {}
        for node in self.view.walk():
            for origin, path in self._multiplied(node):
                if path not in found and not self._asked(path):
                    found[path] = WeightUse(self.view, origin, ast.unparse(origin.value), path)  # type: ignore[attr-defined]
        return list(found.values())

    def _hold(self) -> None:
        """Find the locals that stand for a weight, and for parts of one."""
        assigned = [s for s in statements_here(self.view.node.body) if isinstance(s, (ast.Assign, ast.AnnAssign))]
        for _ in range(_MOST):
            known = len(self.held)
            for statement in assigned:
                origin = self.origin(statement.value) if statement.value is not None else None
                for name, value in parts_of(statement):
                    own = self.origin(value) if value is not None else origin
                    if own is not None:
                        self.held.setdefault(name, own)
            if len(self.held) == known:
                return

    def origin(self, expr: ast.expr) -> tuple[ast.expr, str] | None:
        """Return where the weight is read that an expression is a view of, and the place of its module."""
        if isinstance(expr, ast.Name):
            return self.held.get(expr.id)
        if isinstance(expr, ast.Attribute):
            return self._read(expr) or (self.origin(expr.value) if expr.attr in _VIEW_ATTRIBUTES else None)
        if isinstance(expr, (ast.Subscript, ast.NamedExpr)):
            return self.origin(expr.value)
        if isinstance(expr, ast.IfExp):
            return self.origin(expr.body) or self.origin(expr.orelse)
        if isinstance(expr, ast.Call) and isinstance(expr.func, ast.Attribute) and expr.func.attr in _VIEWS:
            receiver = expr.args[0] if self._is_function(expr) and expr.args else expr.func.value
            return self.origin(receiver)
        return None

    def _read(self, node: ast.Attribute) -> tuple[ast.expr, str] | None:
        path = self.below.path(node.value) if node.attr == _WEIGHT else None
        return (node, path) if path else None

    def _is_function(self, call: ast.Call) -> bool:
        """``torch.split(w, …)`` instead of ``w.split(…)``."""
        return any(f.startswith("torch.") for f in self.view.classes.names.fqns(call.func, self.view.scope))

    def _multiplied(self, node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
        factors: list[ast.expr] = []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            factors = [node.left, node.right]
        elif isinstance(node, ast.Call):
            receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            factors = [*receiver, *node.args, *(k.value for k in node.keywords)]
        found = [origin for factor in factors if (origin := self.origin(factor)) is not None]
        if found and (not isinstance(node, ast.Call) or self._is_product(node)):
            yield from found

    def _is_product(self, call: ast.Call) -> bool:
        """A method of a tensor, or a function of torch under whatever name."""
        if isinstance(call.func, ast.Attribute) and call.func.attr in _PRODUCTS:
            return True
        return bool(self.view.classes.names.called(call, self.view.scope) & _PRODUCTS)

    def _asked(self, path: str) -> bool:
        """Whether the method asks the child, or its weight, what it is or has."""
        for call in self.view.calls():
            if dotted(call.func) in _ASKING and call.args:
                asked = self.below.path(call.args[0]) or ""
                if asked.removesuffix(f".{_WEIGHT}") == path:
                    return True
        return False
