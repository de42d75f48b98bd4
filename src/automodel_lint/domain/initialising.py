"""Whether a model can be filled that has no checkpoint."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import parts_of
from automodel_lint.inference.names import ClassEntity

INITIALISER = "initialize_weights"
SKIPPED = "_skip_init_weights_on_load"


def lacks_initialiser(model: ModelClass) -> bool:
    """Tell whether nothing fills a model of this class.

    One that is derived from ``PreTrainedModel`` has the initialiser of transformers, which the framework calls as well.
    """
    if model.is_pretrained_model or model.has_opaque_base or not model.classes.has_module_base(model.entity):
        return False
    if not model.project.knows(INITIALISER):
        return False
    members, opaque = model.inherited(INITIALISER)
    return not opaque and not any(model.classes.is_local(member.owner) for member in members)


def switches_off(model: ModelClass) -> tuple[ast.expr, ClassEntity, str | None] | None:
    """Return where a class says for good that its weights need no filling: the value, whose body, and which method.

    What is said only where something is loaded is as it should be.
    """
    members, opaque = model.inherited(SKIPPED)
    for member in members if not opaque else ():
        if member.value is not None and model.member_values(member) == [True]:
            return member.value, member.owner, None
    return next(_by_constructor(model), None)


def _by_constructor(model: ModelClass) -> Iterator[tuple[ast.expr, ClassEntity, str | None]]:
    for owner, function in model.own_functions():
        if function.name == "__init__" and model.project.tree.holds(owner.module.path, SKIPPED.encode()):
            for statement in function.body:
                for name, value in parts_of(statement):
                    if name.endswith(f".{SKIPPED}") and isinstance(value, ast.Constant) and value.value is True:
                        yield value, owner, function.name
