"""The blocks of a model, and the tests in their ``forward`` that a wrapper around a child turns false."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from automodel_lint.domain.constructing import in_checkout, running
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.project import Project
from automodel_lint.inference.bindings import dotted, parts_of
from automodel_lint.inference.classes import FunctionView, MethodView, builds_module
from automodel_lint.inference.module_tree import ModuleTree
from automodel_lint.inference.names import ClassEntity, Entity, External, Scope, Value
from automodel_lint.source import remembered

_CONTAINERS = ("Module", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict")
_DEEPEST = 6


@dataclass(frozen=True, eq=False)
class WrappedTest:
    """``isinstance(self.<child>, <cls>)`` at ``node`` in a method that ``forward`` runs."""

    view: MethodView
    node: ast.Call
    child: str
    cls: str


def wrapped_tests(model: ModelClass) -> Iterator[WrappedTest]:
    """Yield the tests of a child's class in the blocks of a model, one for each method and child."""
    for cls, children in _blocks(model.module_tree).items():
        if model.classes.is_local(cls):
            yield from _tests(model.project, cls, frozenset(children))


def _blocks(tree: ModuleTree) -> dict[ClassEntity, set[tuple[str, str]]]:
    """The classes of the modules that stand in a list or dict of modules, with names and classes of what they hold."""
    found: dict[ClassEntity, set[tuple[str, str]]] = {}
    for node in tree.nodes():
        if node.cls is not None and ("*" in node.name or node.name.isdigit()):
            found.setdefault(node.cls, set()).update((child.name, child.type_fqn) for child in node.children)
    return found


@remembered
def _tests(project: Project, cls: ClassEntity, children: frozenset[tuple[str, str]]) -> tuple[WrappedTest, ...]:
    found: dict[tuple[ast.AST, str], WrappedTest] = {}
    for view in running(project, cls, "forward"):
        if in_checkout(project, view) and not isinstance(view, FunctionView):
            for test in _tests_in(project, view, children):
                found.setdefault((view.node, test.child), test)
    return tuple(found.values())


def _tests_in(project: Project, view: MethodView, held: frozenset[tuple[str, str]]) -> Iterator[WrappedTest]:
    children, kinds = frozenset(name for name, _ in held), frozenset(kind for _, kind in held)
    aliases = _aliases(view, children)
    allowed = {id(n) for choice in view.walk() if _knows_wrapper(choice) for n in ast.walk(choice)}
    tests = [call for call in view.calls() if dotted(call.func) == "isinstance" and len(call.args) == 2]
    for call in sorted(tests, key=lambda t: (t.lineno, t.col_offset)):
        child = _child(view, call.args[0], children, aliases)
        names = _tested(project, call.args[1], view.scope, kinds) if child and id(call) not in allowed else []
        if child and names:
            yield WrappedTest(view, call, child, names[0])


def _aliases(view: MethodView, children: frozenset[str]) -> dict[str, str]:
    """The locals of a method that are nothing but a child."""
    bound: dict[str, set[str]] = {}
    for node in view.walk():
        for name, value in parts_of(node):
            bound.setdefault(name, set()).add((_child(view, value, children, {}) if value is not None else None) or "")
    return {name: next(iter(found)) for name, found in bound.items() if len(found) == 1 and found != {""}}


def _child(view: MethodView, expr: ast.expr, children: frozenset[str], aliases: dict[str, str]) -> str | None:
    """The child that an expression is: ``self.mlp``, or a local that was bound to it."""
    if isinstance(expr, ast.NamedExpr):
        expr = expr.value
    if isinstance(expr, ast.Name):
        return aliases.get(expr.id)
    own = isinstance(expr, ast.Attribute) and view.is_self_or_class(expr.value)
    return expr.attr if own and expr.attr in children else None  # type: ignore[attr-defined]


def _knows_wrapper(node: ast.AST) -> bool:
    """Whether a choice tests the wrapped module, too (``isinstance(x, C) or isinstance(unwrapped(x), C)``)."""
    return isinstance(node, ast.BoolOp) and "wrap" in ast.unparse(node)


def _tested(project: Project, expr: ast.expr, scope: Scope, kinds: frozenset[str]) -> list[str]:
    """The module classes that a test names; none if a wrapper, or any module at all, passes it."""
    found: list[str] = []
    for entity in _alternatives(project, expr, scope):
        name = entity.fqn.rpartition(".")[2]
        if "Wrapper" in name or (entity.fqn.startswith("torch.") and name in _CONTAINERS):
            return []
        if entity.fqn in kinds or _is_module_class(project, entity):
            found.append(name)
    return found


def _is_module_class(project: Project, entity: Entity) -> bool:
    if isinstance(entity, ClassEntity):
        return project.classes.has_module_base(entity)
    return isinstance(entity, External) and builds_module(entity.fqn)


def _alternatives(project: Project, expr: ast.expr, scope: Scope, depth: int = 0) -> Iterator[Entity]:
    """What the second argument of ``isinstance`` names: a class, a tuple of classes, a union."""
    if depth > _DEEPEST:
        return
    if isinstance(expr, (ast.Tuple, ast.List, ast.BinOp)):
        for part in expr.elts if not isinstance(expr, ast.BinOp) else (expr.left, expr.right):
            yield from _alternatives(project, part, scope, depth + 1)
    elif isinstance(expr, (ast.Name, ast.Attribute)):
        for entity in project.names.resolve(expr, scope):
            if isinstance(entity, Value):
                yield from _alternatives(project, entity.expr, entity.scope, depth + 1)
            else:
                yield entity
