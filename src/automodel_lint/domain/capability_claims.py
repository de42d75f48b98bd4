"""What a class claims of each parallel axis whatever its config says, and what only some configs can keep."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from automodel_lint.domain.artefacts import recipe_uses
from automodel_lint.domain.capabilities import AXES, DYNAMIC, NESTED, default_of, fields, is_canonical, returned
from automodel_lint.domain.experts import expert_layers
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.recipe_index import BY_TARGET, Use
from automodel_lint.inference.classes import Member
from automodel_lint.inference.module_tree import Condition, ModuleNode, always
from automodel_lint.inference.names import ClassEntity

_CONFIG = "config"
_PICKY = "supports_config"


@dataclass(frozen=True)
class Claim:
    """A literal claim about one axis, and the node that makes it; ``path`` is its file.

    ``is_shared`` tells whether it stands in another class of which this one takes the profile.
    """

    value: bool
    path: str
    node: ast.stmt | ast.expr
    is_shared: bool = False


def static_claims(model: ModelClass) -> dict[str, Claim]:
    """Return what one profile says for every config, by axis (``supports_tp``, …); empty without such a profile."""
    if model.defines(DYNAMIC):
        return {} if model.defines(NESTED) else _always_returned(model)
    profiles = [(e, member) for member in model.local(NESTED) for e in _profiles(model, member)]
    if len(profiles) != 1:
        return {}
    ((profile, member),), found = profiles, {}
    outer, _, _ = profile.qualname.rpartition(".")
    is_shared = bool(outer) and (profile.module.name, outer) != (model.entity.module.name, model.entity.qualname)
    for name, field in fields(model.project, profile).items():
        value = default_of(model.project, field)
        if name in AXES and isinstance(value, ast.Constant) and isinstance(value.value, bool):
            place = (field.owner.module.path, field.statement)
            if is_canonical(profile) and member.value is not None:  # the framework's defaults, taken as they are
                place = (model.path, member.value)
            found[name] = Claim(value.value, *place, is_shared)
    return found


def _profiles(model: ModelClass, member: Member) -> list[ClassEntity]:
    if member.binding.kind == "class":
        assert isinstance(member.binding.node, ast.ClassDef)
        return [model.names.class_entity(member.binding.node, model.member_scope(member), f"{model.name}.")]
    entities = model.names.resolve(member.value, model.member_scope(member)) if member.value is not None else []
    return [e for e in entities if isinstance(e, ClassEntity)]


def _always_returned(model: ModelClass) -> dict[str, Claim]:
    """What every ``return`` of ``get_capabilities`` writes down as the same literal."""
    view = model.method(DYNAMIC, local=True)
    calls = [statement.value for statement in returned(view.node)] if view is not None else []
    if view is None or not calls or not all(isinstance(call, ast.Call) for call in calls):
        return {}
    found: dict[str, Claim] = {}
    for axis in AXES:
        given = [k for call in calls for k in call.keywords if k.arg == axis]  # type: ignore[union-attr]
        values = {k.value.value if isinstance(k.value, ast.Constant) else None for k in given}
        if len(given) == len(calls) and values in ({True}, {False}):
            found[axis] = Claim(values == {True}, view.owner.module.path, given[0].value)
    return found


def recipes_of(model: ModelClass) -> list[Use]:
    """Return the recipes that surely train a class.

    Of one that asks the config whether it supports it at all, these are only those that name it or its config: another
    class may get the checkpoint.
    """
    uses = recipe_uses(model.project, model.architectures)
    picky, _ = model.inherited(_PICKY)
    return [use for use in uses if use.how == BY_TARGET] if picky else uses


def conditional_experts(model: ModelClass) -> tuple[ModuleNode, Condition] | None:
    """Return an expert layer that only some configs have, with the condition; ``None`` if there are always experts.

    What depends on the number of a layer is no such condition: there, every config has some experts.
    """
    layers = list(expert_layers(model)) if model.module_tree.complete else []
    sides = [tuple(c for c in layer.conditions if _is_of_config(c)) for layer in layers]
    if not sides or always(sides):
        return None
    return layers[0], sides[0][0]


def _is_of_config(condition: Condition) -> bool:
    """Whether a condition asks nothing but fields of the config."""
    try:
        names = {node.id for node in ast.walk(ast.parse(condition.text, mode="eval")) if isinstance(node, ast.Name)}
    except SyntaxError:
        return False
    return bool(names) and names <= {_CONFIG, "bool", "getattr", "int", "len"} and _CONFIG in names
