"""NAM301-NAM305: one declaration of parallelism per registered class, frozen and complete."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from automodel_lint.domain.capabilities import (
    AXES,
    DYNAMIC,
    NESTED,
    canonical_fields,
    declares_axes,
    falls_through,
    fields,
    is_bool_default,
    is_canonical,
    is_frozen_dataclass,
    returned,
    surely_no_capabilities,
)
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.findings import Finding
from automodel_lint.inference.classes import Member, MethodView
from automodel_lint.inference.names import ClassEntity, Entity, FunctionEntity
from automodel_lint.remedies import capabilities as remedies
from automodel_lint.remedies import get_capabilities as queries
from automodel_lint.repairs import Repair
from automodel_lint.rules import rule


@rule("NAM301")
def capabilities_missing(model: ModelClass) -> Iterator[Finding]:
    if not model.defines(NESTED) and not model.defines(DYNAMIC) and model.project.knows("query_capabilities"):
        yield model.finding(repair=remedies.declared(model))


@rule("NAM302")
def capabilities_both(model: ModelClass) -> Iterator[Finding]:
    if model.defines(NESTED) and model.defines(DYNAMIC):
        yield model.finding()


def _nested_classes(model: ModelClass) -> Iterator[ClassEntity]:
    """Yield the capabilities classes that this class declares itself, not those it shares with another."""
    for member in model.local(NESTED):
        if member.binding.kind == "class":
            assert isinstance(member.binding.node, ast.ClassDef)
            yield model.names.class_entity(member.binding.node, model.member_scope(member), f"{model.name}.")
        elif member.value is not None:
            for entity in model.names.resolve(member.value, model.member_scope(member)):
                shared = isinstance(entity, ClassEntity) and _is_linted_elsewhere(model, entity)
                if isinstance(entity, ClassEntity) and not shared and not is_canonical(entity):
                    yield entity


def _is_linted_elsewhere(model: ModelClass, nested: ClassEntity) -> bool:
    """Whether a capabilities class stands in the body of another registered class, which answers for it."""
    owner, _, _ = nested.qualname.rpartition(".")
    entries = model.project.registered
    return bool(owner) and (nested.module.name, owner) in entries


@rule("NAM303")
def capabilities_not_frozen(model: ModelClass) -> Iterator[Finding]:
    for nested in _nested_classes(model):
        if is_frozen_dataclass(model.project, nested) is False:
            yield _at(model, nested, nested.node, remedies.frozen(model, nested))


@rule("NAM304")
def capabilities_fields(model: ModelClass) -> Iterator[Finding]:
    known = canonical_fields(model.project)
    for nested in _nested_classes(model):
        declared = fields(model.project, nested)
        for name, field in declared.items():
            if known is not None and name not in known:
                near = difflib.get_close_matches(name, known, 1, cutoff=0.5)
                hint = f"; did you mean `{near[0]}`?" if near else f"; known are {', '.join(known)}"
                problem = f"has a field `{name}` that nobody reads{hint}"
                repair = remedies.renamed(model, name, declared)
            elif not is_bool_default(model.project, field):
                problem = f"gives `{name}` no default that is `True` or `False`"
                repair = remedies.with_bool(model, name, field)
            else:
                continue
            yield _at(model, field.owner, field.statement, repair, problem=problem)
        missing = [axis for axis in AXES if axis not in declared]
        if missing and not declares_axes(model.project, nested):
            repair = remedies.completed(model, nested, declared, missing)
            yield _at(model, nested, nested.node, repair, problem=f"says nothing about {_listed(missing)}")


def _at(model: ModelClass, nested: ClassEntity, node: ast.AST, repair: Repair | None, **values: str) -> Finding:
    """A finding inside a capabilities class; its owner is the registered class."""
    tree, path = model.project.tree, nested.module.path
    span = tree.name_span(path, node) if isinstance(node, ast.ClassDef) else tree.span(path, node)
    names = (("cls", model.name), *values.items())
    return Finding(tree.relative(path), span, model.name, model.architectures, names, repair=repair)


def _listed(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


@rule("NAM305")
def get_capabilities_signature(model: ModelClass) -> Iterator[Finding]:
    for member in model.local(DYNAMIC):
        function = member.function
        if function is None:
            yield from _assigned_function(model, member)
            continue
        problem = _signature_problem(model, function)
        if problem:
            yield model.finding(
                function, method=DYNAMIC, repair=queries.taking_config(model, function), problem=problem
            )
            continue
        view = MethodView(model.classes, model.entity, member)
        returns = list(returned(function))
        for statement in returns:
            if surely_no_capabilities(model.project, statement.value, view.scope):
                shown = ast.unparse(statement.value) if statement.value else "nothing"
                problem = f"returns `{shown}` in line {statement.lineno}, which is no `{NESTED}`"
                repair = queries.giving_profiles(model, view)
                yield model.finding(function, method=DYNAMIC, repair=repair, problem=problem)
                break
        if falls_through(function.body):
            problem = f"returns no `{NESTED}` on some path" if returns else f"returns no `{NESTED}`"
            yield model.finding(function, method=DYNAMIC, repair=queries.giving_last(model, view), problem=problem)


def _assigned_function(model: ModelClass, member: Member) -> Iterator[Finding]:
    """``get_capabilities = some_function``: a plain function becomes a method of instances."""
    entities = model.names.resolve(member.value, model.member_scope(member)) if member.value is not None else []
    if entities and all(isinstance(e, FunctionEntity) and not e.node.decorator_list for e in entities):
        repair = queries.wrapped(model, member.value, [e for e in entities if isinstance(e, FunctionEntity)])
        yield model.finding(member.value, method=DYNAMIC, repair=repair, problem="is no classmethod")


def _may_make_classmethod(decorator: Entity) -> bool:
    """A decorator without source, or one whose source mentions ``classmethod``."""
    if isinstance(decorator, FunctionEntity):
        return "classmethod" in ast.unparse(decorator.node)
    return decorator.fqn.partition(".")[0] not in ("abc", "builtins", "functools", "torch", "typing")


def _signature_problem(model: ModelClass, function: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    decorators = {f for d in function.decorator_list for f in model.names.fqns(d, model.entity.scope)}
    if "builtins.classmethod" not in decorators:
        entities = [e for d in function.decorator_list for e in model.names.resolve(d, model.entity.scope)]
        return None if any(map(_may_make_classmethod, entities)) else "is no classmethod"
    if isinstance(function, ast.AsyncFunctionDef):
        return "is a coroutine"
    arguments = function.args
    plain = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    if plain != ["cls", "config"] or arguments.kwonlyargs or arguments.vararg or arguments.kwarg:
        return f"takes `({ast.unparse(arguments)})`"
    return None
