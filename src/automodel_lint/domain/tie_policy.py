"""Which tie policy the code of a class amounts to, whatever it declares."""

from __future__ import annotations

import ast

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.tie_flag import FLAG, READERS
from automodel_lint.domain.tied_names import declared
from automodel_lint.domain.tying import Tying
from automodel_lint.inference.bindings import walk_here
from automodel_lint.inference.classes import MACHINERY, MethodView
from automodel_lint.inference.names import ClassEntity

POLICY = "tie_word_embeddings_support"
KEYS = "_tied_weights_keys"
NO_KEYS = MACHINERY | {"PreTrainedModel", "HFCheckpointingMixin", "MoEFSDPSyncMixin"}  # these set none


def may_supply_keys(model: ModelClass, ancestor) -> bool:
    """Tell whether an ancestor outside the checkout is a model class, source at hand or not."""
    if isinstance(ancestor, ClassEntity) and model.classes.is_local(ancestor):
        return False
    return ancestor.fqn.rpartition(".")[2] not in NO_KEYS


def policy_of_code(model: ModelClass) -> str | None:
    """Return the policy that a class keeps: whether it ties, and whether it asks the flag; ``None`` if undecided."""
    views = [view for name in ("tie_weights", "__init__") for view in [model.method(name)] if view is not None]
    ties = [view for view in views if Tying(view).ever_aliases(surely=True)]
    if ties:
        return _policy_of_ties(model, ties)
    if any(Tying(view).ever_aliases() for view in views) or model.has_opaque_base:
        return None
    if any(may_supply_keys(model, ancestor) for ancestor in model.mro[1:]) or model.inherited(KEYS)[0]:
        return _policy_of_keys(model)
    return "UNTIED_ONLY"


def _policy_of_ties(model: ModelClass, ties: list[MethodView]) -> str | None:
    ungated = [view for view in ties if Tying(view).ungated() is not None]
    if not ungated:
        return "BOTH" if _asks(model) else None
    return "TIED_ONLY" if all(_always(view) for view in ties) else None


def _policy_of_keys(model: ModelClass) -> str | None:
    """Of a class that leaves tying to transformers, which asks the flag where there are keys."""
    members, _ = model.inherited(KEYS)
    values = [value for member in members for value in model.member_values(member) or [...]]
    if members and not any(values):
        return "UNTIED_ONLY"
    left_alone = model.is_pretrained_model and model.method("tie_weights") is None
    return "BOTH" if left_alone and declared(model, KEYS) is not None else None


def _asks(model: ModelClass) -> bool:
    """Whether a method of the checkout really reads the flag; the guard, which has it in its name, reads none."""
    words = {
        getattr(n, "attr", getattr(n, "id", getattr(n, "value", None)))
        for _, f in model.own_functions()
        for n in ast.walk(f)
        if isinstance(n, (ast.Attribute, ast.Name, ast.Constant))
    }
    return bool(words & {FLAG, *READERS})


def _always(view: MethodView) -> bool:
    """Whether a method ties on every way through it: under no condition, behind no early exit."""
    statements = Tying(view).ungated_statements()
    for statement in view.node.body:
        if statement in statements:
            return True
        if any(isinstance(node, ast.Return) for node in walk_here(statement)):
            return False
    return False
