"""What a class declares about parallelism: a nested dataclass, or a classmethod."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from automodel_lint.domain.project import Project
from automodel_lint.inference.bindings import dotted, literal_truth, statements_here
from automodel_lint.inference.names import ClassEntity, Entity, FunctionEntity, Scope, Value
from automodel_lint.inference.values import Undecided

NESTED = "ModelCapabilities"
DYNAMIC = "get_capabilities"
AXES = ("supports_tp", "supports_cp", "supports_pp", "supports_ep")
_DATACLASS = {"dataclasses.dataclass", "dataclass"}


def canonical_fields(project: Project) -> list[str] | None:
    """Return the fields of the checkout's own ``ModelCapabilities``; ``None`` if its source is not at hand."""
    module = project.names.module(f"{project.checkout.package}._transformers.model_capabilities")
    for entity in (project.names.in_module(module, NESTED) if module else None) or []:
        if isinstance(entity, ClassEntity):
            return list(fields(project, entity))
    return None


def is_canonical(entity: ClassEntity) -> bool:
    """Tell whether a class is the framework's own ``ModelCapabilities``."""
    return entity.module.name.endswith("._transformers.model_capabilities")


def is_frozen_dataclass(project: Project, entity: ClassEntity) -> bool | None:
    """Tell whether a class is decorated as a frozen dataclass; ``None`` for decorators that cannot be told."""
    decorator = dataclass_decorator(project, entity)
    if decorator is not None:
        return _is_frozen(project, decorator if isinstance(decorator, ast.Call) else None, entity)
    # typing.final and its like change nothing
    known = (
        all(f.startswith("typing.") for f in _decorated_by(project, d, entity)) for d in entity.node.decorator_list
    )
    return False if all(known) else None


def dataclass_decorator(project: Project, entity: ClassEntity) -> ast.expr | None:
    """Return the decorator that makes a class a dataclass, called or not."""
    found = (d for d in entity.node.decorator_list if _decorated_by(project, d, entity) & _DATACLASS)
    return next(found, None)


def _decorated_by(project: Project, decorator: ast.expr, entity: ClassEntity) -> set[str]:
    return project.names.fqns(decorator.func if isinstance(decorator, ast.Call) else decorator, entity.scope)


def _is_frozen(project: Project, call: ast.Call | None, entity: ClassEntity) -> bool | None:
    for keyword in call.keywords if call else ():
        if keyword.arg is None:
            return None
        if keyword.arg == "frozen":
            try:
                return bool(project.values.single(keyword.value, entity.scope))
            except Undecided:
                return None
    return False


@dataclass(frozen=True)
class Field:
    """One field of a capabilities class: the statement that declares it, and the class whose body holds it."""

    statement: ast.Assign | ast.AnnAssign
    owner: ClassEntity


def fields(project: Project, entity: ClassEntity) -> dict[str, Field]:
    """Return the fields of a capabilities class; inherited ones included, nearest first."""
    found: dict[str, Field] = {}
    for ancestor in project.classes.mro(entity):
        if isinstance(ancestor, ClassEntity) and (is_canonical(entity) or not is_canonical(ancestor)):
            for statement in statements_here(ancestor.node.body):
                if isinstance(statement, ast.AnnAssign) and "ClassVar" not in ast.unparse(statement.annotation):
                    found.setdefault(dotted(statement.target), Field(statement, ancestor))
                elif isinstance(statement, ast.Assign):
                    for target in statement.targets:
                        found.setdefault(dotted(target), Field(statement, ancestor))
    return {name: field for name, field in found.items() if name and not name.startswith("_")}


def is_bool_default(project: Project, field: Field) -> bool:
    """Tell whether a field's default is ``True`` or ``False``, written out or through ``field(default=…)``."""
    value = default_of(project, field)
    return isinstance(value, ast.Constant) and isinstance(value.value, bool)


def default_of(project: Project, field: Field) -> ast.expr | None:
    """Return the expression of a field's default, written out or in ``field(default=…)``; ``None`` if it has none."""
    call = field_call(project, field)
    if call is not None:
        return next((k.value for k in call.keywords if k.arg == "default"), None)
    return field.statement.value


def field_call(project: Project, field: Field) -> ast.Call | None:
    """Return the call of ``dataclasses.field`` that a field is declared with, if it is."""
    value = field.statement.value
    if isinstance(value, ast.Call) and project.names.fqns(value.func, field.owner.scope) & {"dataclasses.field"}:
        return value
    return None


def declares_axes(project: Project, entity: ClassEntity) -> bool:
    """Tell whether the axes come with an ancestor that is the framework's own class (its defaults then apply)."""
    return any(isinstance(a, ClassEntity) and is_canonical(a) for a in project.classes.mro(entity)[1:])


def returned(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Return]:
    """Yield the ``return`` statements of a function (nested functions apart)."""
    return (s for s in statements_here(function.body) if isinstance(s, ast.Return))


_OTHER_CALLS = (
    *(f"builtins.{name}" for name in ("bool", "dict", "list", "set", "str", "tuple", "vars")),
    "dataclasses.asdict",
    "dataclasses.astuple",
)
_OTHER_THINGS = (
    ast.Dict,
    ast.List,
    ast.Tuple,
    ast.Set,
    ast.Constant,
    ast.JoinedStr,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Lambda,
    ast.Compare,
)


def falls_through(body: list[ast.stmt]) -> bool:
    """Tell whether running a block can reach its end (and so return nothing)."""
    return all(_goes_on(statement) for statement in body)


def _goes_on(statement: ast.stmt) -> bool:
    """Whether what stands behind a statement can be reached."""
    if isinstance(statement, (ast.Return, ast.Raise)):
        return False
    if isinstance(statement, ast.Assert):
        return literal_truth(statement.test) is not False
    if isinstance(statement, ast.If):
        sure = literal_truth(statement.test)
        if sure is not None:
            return falls_through(statement.body if sure else statement.orelse)
        return falls_through(statement.body) or falls_through(statement.orelse)
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return falls_through(statement.body)
    if isinstance(statement, ast.Try):
        ends = [[*statement.body, *statement.orelse], *(h.body for h in statement.handlers)]
        return any(falls_through(end) for end in ends) and falls_through(statement.finalbody)
    if isinstance(statement, ast.Match):
        wildcard = any(isinstance(c.pattern, ast.MatchAs) and c.pattern.pattern is None for c in statement.cases)
        return not wildcard or any(falls_through(c.body) for c in statement.cases)
    if isinstance(statement, (ast.For, ast.While)):
        breaks = any(isinstance(n, ast.Break) for n in statements_here(statement.body))
        endless = isinstance(statement, ast.While) and literal_truth(statement.test) is True
        return breaks or (not endless and falls_through(statement.orelse))
    call = statement.value if isinstance(statement, ast.Expr) else None
    return not (isinstance(call, ast.Call) and dotted(call.func) in ("sys.exit", "exit", "os._exit"))


def surely_no_capabilities(project: Project, expr: ast.expr | None, scope: Scope, depth: int = 0) -> bool:
    """Tell whether a returned expression is certainly something other than a ``ModelCapabilities``."""
    if expr is None or isinstance(expr, _OTHER_THINGS):
        return True
    if isinstance(expr, (ast.IfExp, ast.BoolOp)):
        return any(surely_no_capabilities(project, s, scope, depth) for s in _outcomes(expr))
    if isinstance(expr, (ast.Name, ast.Attribute)) and depth < 5:
        entities = project.names.resolve(expr, scope)
        if any(isinstance(e, ClassEntity) or e.fqn.endswith(f".{NESTED}") for e in entities):
            return True  # the class itself, not an instance
        values = [e for e in entities if isinstance(e, Value)]
        return bool(values) and all(surely_no_capabilities(project, v.expr, v.scope, depth + 1) for v in values)
    if isinstance(expr, ast.Call):
        entities = project.names.resolve(expr.func, scope)
        return bool(entities) and all(_makes_something_else(project, e, depth) for e in entities)
    return False


def _outcomes(expr: ast.IfExp | ast.BoolOp) -> list[ast.expr]:
    """The operands that an expression can be: of ``a or b``, ``a`` only if it is something, which ``None`` is not."""
    if isinstance(expr, ast.IfExp):
        return [expr.body, expr.orelse]
    return expr.values[-1:] if isinstance(expr.op, ast.Or) else expr.values


def _makes_something_else(project: Project, entity: Entity, depth: int) -> bool:
    if isinstance(entity, ClassEntity):
        order = project.classes.mro(entity)
        return not any(a.fqn.rpartition(".")[2] == NESTED for a in order) and not any(
            project.classes.is_opaque(a) for a in order
        )
    if isinstance(entity, FunctionEntity) and depth < 4:
        scope = entity.scope.entered(entity.node.body, entity.node.args)
        returns = list(returned(entity.node))
        return bool(returns) and any(surely_no_capabilities(project, r.value, scope, depth + 1) for r in returns)
    return entity.fqn in _OTHER_CALLS
