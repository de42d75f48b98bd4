"""Media that a class fetches itself as a stage of a pipeline, and whether its ``forward`` is left to it."""

from __future__ import annotations

import ast
import re

from automodel_lint.domain.capabilities import DYNAMIC, NESTED, default_of, fields, returned
from automodel_lint.domain.constructing import in_checkout, running
from automodel_lint.domain.forward import NAME
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import parts_of
from automodel_lint.inference.classes import Member
from automodel_lint.inference.names import ClassEntity

KEEPS = "_pp_keep_self_forward"
_CHUNKS = re.compile(r"_vlm_\w+_chunks")
_PIPELINE = "supports_pp"


def staged_media(model: ModelClass) -> str | None:
    """Return the name of the staged media that the ``forward`` of a class reads, with all that it calls."""
    owners = [a for a in model.mro if isinstance(a, ClassEntity) and model.classes.in_checkout(a)]
    if not any(model.project.tree.holds(owner.module.path, b"_vlm_") for owner in owners):
        return None
    for view in running(model.project, model.entity, NAME):
        if in_checkout(model.project, view):
            for node in view.walk():
                name = _read(node)
                if name is not None:
                    return name
    return None


def _read(node: ast.AST) -> str | None:
    """``self._vlm_pixel_values_chunks`` where it is read, or its name where that is asked for by ``getattr``."""
    if isinstance(node, ast.Attribute):
        name = node.attr if isinstance(node.ctx, ast.Load) else ""
    else:
        name = node.value if isinstance(node, ast.Constant) else ""
    return name if isinstance(name, str) and _CHUNKS.fullmatch(name) else None


def runs_in_pipelines(model: ModelClass) -> bool:
    """Tell whether a class declares that it runs under pipeline parallelism, for some config at least."""
    for member in model.local(NESTED):
        for entity in _declared(model, member):
            field = fields(model.project, entity).get(_PIPELINE)
            value = default_of(model.project, field) if field is not None else None
            if isinstance(value, ast.Constant) and value.value is True:
                return True
    for member in model.local(DYNAMIC):
        for statement in returned(member.function) if member.function is not None else ():
            call = statement.value
            for keyword in call.keywords if isinstance(call, ast.Call) else ():
                if keyword.arg == _PIPELINE and isinstance(keyword.value, ast.Constant) and keyword.value.value is True:
                    return True
    return False


def _declared(model: ModelClass, member: Member) -> list[ClassEntity]:
    """The capabilities class that a class body holds or names."""
    if isinstance(member.binding.node, ast.ClassDef):
        return [model.names.class_entity(member.binding.node, model.member_scope(member), f"{model.name}.")]
    entities = model.names.resolve(member.value, model.member_scope(member)) if member.value is not None else []
    return [entity for entity in entities if isinstance(entity, ClassEntity)]


def keeps_forward(model: ModelClass) -> bool:
    """Tell whether a class keeps its ``forward`` from being replaced by that of a pipeline, or may."""
    members, opaque = model.inherited(KEEPS)
    if opaque or any(model.member_values(member) != [False] for member in members):
        return True
    return any(
        name.endswith(f".{KEEPS}")
        for owner, function in model.own_functions()
        if model.project.tree.holds(owner.module.path, KEEPS.encode())
        for node in model.classes.nodes_of(function)
        for name, _ in parts_of(node)
    )
