"""What the config class at the top says of the tie by default, and whether the policy of a class allows that."""

from __future__ import annotations

import ast

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.model_config import config_classes
from automodel_lint.domain.tie_flag import FLAG
from automodel_lint.inference.classes import MethodView, is_super
from automodel_lint.inference.names import ClassEntity, all_arguments, defaults_of


def allows_default(model: ModelClass) -> bool:
    """Tell whether the policy surely allows what a config says in which nobody has set the flag.

    transformers ties by default, so a class that is never tied needs a config class of its own that says otherwise, or
    that takes over what its sub-config says. Where that cannot be seen, a guard on the top-level flag may refuse
    checkpoints that load today.
    """
    if model.tie_policy in ("BOTH", "TIED_ONLY"):
        return True
    found = [c for c in config_classes(model) if model.classes.in_checkout(c)]
    return bool(found) and all(_is_untied(model, config) for config in found)


def _is_untied(model: ModelClass, config: ClassEntity) -> bool:
    members, _ = model.classes.find(config, "__init__")
    if not members or members[-1].function is None or not model.classes.in_checkout(members[-1].owner):
        return any(_is_false(member.value) for member in model.classes.local(config, FLAG))
    view = MethodView(model.classes, config, members[-1])
    arguments = view.node.args
    if any(a.arg == FLAG for a in all_arguments(arguments)):
        return _is_false(defaults_of(arguments).get(FLAG))
    handed = [k.value for call in view.calls() if _is_base_constructor(call) for k in call.keywords if k.arg == FLAG]
    return bool(handed) and all(_is_false(value) or _is_taken_over(value) for value in handed)


def _is_base_constructor(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "__init__" and is_super(call.func.value)


def _is_false(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


def _is_taken_over(value: ast.expr) -> bool:
    """``text_config.tie_word_embeddings``: what the sub-config says, which the guard was asked about before."""
    return isinstance(value, ast.Attribute) and value.attr == FLAG
