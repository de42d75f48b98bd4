"""Repairs of what a class derives from (NAM110, NAM601)."""

from __future__ import annotations

import ast

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.spelling import spelled
from automodel_lint.inference.names import ClassEntity
from automodel_lint.repairs import Repair, add_base, base_to_front, place_of, repair


def with_base(model: ModelClass, name: str, first: bool, unsafe: bool = False) -> Repair | None:
    """A base of the framework put first or last, and imported; nothing where Python would refuse the order of bases."""
    entity, classes = model.entity, model.classes
    spelling = spelled(model.project, entity.module, name)
    if spelling is None or _registered_base(model) or any(isinstance(b, ast.Starred) for b in entity.node.bases):
        return None
    text, needed = spelling
    added = classes.base(ast.parse(text, mode="eval").body, entity.scope)
    bases = classes.bases(entity)
    if not classes.can_be_ordered([added, *bases] if first else [*bases, added]):
        return None
    place = place_of(model.project.tree.span(model.path, entity.node))
    return repair(f"Derive from `{name}`", add_base(place, text, first), needed, unsafe=unsafe)


def _registered_base(model: ModelClass) -> bool:
    """Whether a base is registered itself: what it lacks is reported, and mended, there."""
    registered = {cls for _, cls in model.project.registered}
    local = [a for a in model.mro[1:] if isinstance(a, ClassEntity) and model.classes.in_checkout(a)]
    return any(a.qualname in registered for a in local)


def moved_to_front(model: ModelClass, owner: ClassEntity, name: str) -> Repair | None:
    """The mixin made the first of the bases that a class names."""
    bases = model.classes.bases(owner)
    index = next((i for i, b in enumerate(bases) if b.fqn.rpartition(".")[2] == name), None)
    if index is None or any(isinstance(b, ast.Starred) for b in owner.node.bases):
        return None
    if not model.classes.can_be_ordered([bases[index], *bases[:index], *bases[index + 1 :]]):
        return None
    place = place_of(model.project.tree.span(owner.module.path, owner.node))
    return repair(f"Put `{name}` first", base_to_front(place, index))
