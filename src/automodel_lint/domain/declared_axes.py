"""What a registered class says of each field of its capabilities: a flag, several, or nothing that is literal."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.domain.capabilities import DYNAMIC, NESTED, default_of, fields, is_canonical, returned
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.classes import MethodView
from automodel_lint.inference.names import ClassEntity, Scope

STATIC, BY_CONFIG, UNDECLARED = "static", "by config", "none"
YES, NO, VARIES, OPEN = "yes", "no", "varies", "open"


def how_declared(model: ModelClass) -> str:
    """Return whether a class declares its capabilities once for all configs, by config, or not at all."""
    return BY_CONFIG if model.defines(DYNAMIC) else STATIC if model.defines(NESTED) else UNDECLARED


def declared_flags(model: ModelClass) -> dict[str, str]:
    """Return what a class says of each field: ``yes``, ``no``, ``varies`` (both, as the config is) or ``open``.

    Only what its own body declares counts, as at run time. It is empty for a class that declares nothing.
    """
    how = how_declared(model)
    if how == UNDECLARED:
        return {}
    profiles = list(_returned(model) if how == BY_CONFIG else _nested(model))
    names = dict.fromkeys(name for profile in profiles if profile is not None for name in profile)
    return {name: _together([OPEN if p is None else p.get(name, NO) for p in profiles]) for name in names}


def _together(answers: list[str]) -> str:
    """What several profiles say of one field."""
    first = answers[0]
    return first if len(set(answers)) == 1 else OPEN if OPEN in answers else VARIES


def _nested(model: ModelClass) -> Iterator[dict[str, str] | None]:
    for member in model.local(NESTED):
        scope = model.member_scope(member)
        if isinstance(member.binding.node, ast.ClassDef):
            yield _defaults(model, model.names.class_entity(member.binding.node, scope, f"{model.name}."))
            continue
        found = model.names.resolve(member.value, scope) if member.value is not None else []
        classes = [_defaults(model, entity) for entity in found if isinstance(entity, ClassEntity)]
        yield from classes or [None]


def _defaults(model: ModelClass, capabilities: ClassEntity) -> dict[str, str]:
    """The fields of a capabilities class as they are where nobody gives them."""
    declared = fields(model.project, capabilities)
    flags = {name: _flag(default_of(model.project, field)) for name, field in declared.items()}
    return {**_canonical(model), **flags} if not is_canonical(capabilities) else flags


def _canonical(model: ModelClass) -> dict[str, str]:
    """The fields of the framework's own class, which a class's profile is copied into."""
    module = model.names.module(f"{model.project.checkout.package}._transformers.model_capabilities")
    for entity in (model.names.in_module(module, NESTED) if module else None) or []:
        if isinstance(entity, ClassEntity):
            return _defaults(model, entity)
    return {}


def _returned(model: ModelClass) -> Iterator[dict[str, str] | None]:
    for member in model.local(DYNAMIC):
        if member.function is None:
            yield None
            continue
        scope = MethodView(model.classes, model.entity, member).scope
        for statement in returned(member.function):
            profile = _profile(model, statement.value, scope)  # what it computes, it computes from the config
            yield profile and {name: VARIES if flag == OPEN else flag for name, flag in profile.items()}


def _profile(model: ModelClass, expr: ast.expr | None, scope: Scope) -> dict[str, str] | None:
    """A ``ModelCapabilities(…)`` that is written out; ``None`` for anything else."""
    if not isinstance(expr, ast.Call) or expr.args or any(k.arg is None for k in expr.keywords):
        return None
    made = [e for e in model.names.resolve(expr.func, scope) if isinstance(e, ClassEntity)]
    if len(made) != 1:
        return None
    return {**_defaults(model, made[0]), **{str(k.arg): _flag(k.value) for k in expr.keywords}}


def _flag(value: ast.expr | None) -> str:
    if isinstance(value, ast.Constant) and isinstance(value.value, bool):
        return YES if value.value else NO
    return OPEN
