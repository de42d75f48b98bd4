"""What a class declares about parallelism: a nested dataclass, or a classmethod."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.domain.project import Project
from automodel_lint.inference.bindings import Bindings
from automodel_lint.inference.classes import walk_here
from automodel_lint.inference.names import ClassEntity, Entity, FunctionEntity, Scope, Value

NESTED = "ModelCapabilities"
DYNAMIC = "get_capabilities"
AXES = ("supports_tp", "supports_cp", "supports_pp", "supports_ep")


def canonical_fields(project: Project) -> list[str] | None:
    """Return the fields of the checkout's own ``ModelCapabilities``; ``None`` if its source is not at hand."""
    module = project.names.module(f"{project.checkout.package}._transformers.model_capabilities")
    for entity in (project.names.in_module(module, NESTED) if module else None) or []:
        if isinstance(entity, ClassEntity):
            return [name for name in project.names.body(entity).names if not name.startswith("_")]
    return None


def is_canonical(project: Project, entity: ClassEntity) -> bool:
    """Tell whether a class is the framework's own ``ModelCapabilities``."""
    return entity.module.name.endswith("._transformers.model_capabilities")


def is_frozen_dataclass(project: Project, entity: ClassEntity) -> bool | None:
    """Tell whether a class is decorated as a frozen dataclass; ``None`` for decorators that cannot be told."""
    unknown = False
    for decorator in entity.node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        fqns = project.names.fqns(call.func if call else decorator, entity.scope)
        if not fqns & {"dataclasses.dataclass", "dataclass"}:
            unknown = True
            continue
        for keyword in call.keywords if call else ():
            if keyword.arg == "frozen":
                return isinstance(keyword.value, ast.Constant) and keyword.value.value is True
            unknown = unknown or keyword.arg is None
    return None if unknown else False


def fields(project: Project, entity: ClassEntity) -> dict[str, ast.AST]:
    """Return the fields of a capabilities class with where each is written; inherited ones included, nearest first."""
    found: dict[str, ast.AST] = {}
    for ancestor in project.classes.mro(entity):
        if isinstance(ancestor, ClassEntity) and (ancestor is entity or not is_canonical(project, ancestor)):
            body: Bindings = project.names.body(ancestor)
            for name in body.names:
                live = body.live(name)
                if not name.startswith("_") and live and live[-1].kind in ("value", "opaque"):
                    found.setdefault(name, live[-1].node)
    return found


def declares_axes(project: Project, entity: ClassEntity) -> bool:
    """Tell whether the axes come with an ancestor that is the framework's own class (its defaults then apply)."""
    return any(isinstance(a, ClassEntity) and is_canonical(project, a) for a in project.classes.mro(entity)[1:])


def returned(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Return]:
    """Yield the ``return`` statements of a function (nested functions apart)."""
    for statement in function.body:
        yield from (n for n in walk_here(statement) if isinstance(n, ast.Return))


def surely_no_capabilities(project: Project, expr: ast.expr | None, scope: Scope, depth: int = 0) -> bool:
    """Tell whether a returned expression is certainly something other than a ``ModelCapabilities``."""
    if expr is None or isinstance(expr, (ast.Dict, ast.List, ast.Tuple, ast.Set, ast.Constant, ast.JoinedStr)):
        return True
    if isinstance(expr, ast.IfExp):
        sides = (expr.body, expr.orelse)
        return any(surely_no_capabilities(project, s, scope, depth) for s in sides)
    if isinstance(expr, ast.Name) and depth < 5:
        values = [e for e in project.names.resolve(expr, scope) if isinstance(e, Value)]
        return bool(values) and all(surely_no_capabilities(project, v.expr, v.scope, depth + 1) for v in values)
    if isinstance(expr, ast.Call):
        entities = project.names.resolve(expr.func, scope)
        return bool(entities) and all(_makes_something_else(project, e, depth) for e in entities)
    return False


def _makes_something_else(project: Project, entity: Entity, depth: int) -> bool:
    name = entity.fqn.rpartition(".")[2]
    if isinstance(entity, ClassEntity):
        order = project.classes.mro(entity)
        return not any(a.fqn.rpartition(".")[2] == NESTED for a in order) and not any(
            project.classes.is_opaque(a) for a in order
        )
    if isinstance(entity, FunctionEntity) and depth < 4:
        scope = entity.scope.entered(entity.node.body, entity.node.args)
        returns = list(returned(entity.node))
        return bool(returns) and any(surely_no_capabilities(project, r.value, scope, depth + 1) for r in returns)
    return entity.fqn in {f"builtins.{n}" for n in ("dict", "list", "tuple", "set", "str", "bool")} and bool(name)
