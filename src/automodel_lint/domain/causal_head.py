"""Whether a class owns a causal language-model head, as contracts.md defines it (without the module tree)."""

from __future__ import annotations

import ast

from automodel_lint.domain.building import Building
from automodel_lint.inference.bindings import Binding, dotted, parts_of, statements_here
from automodel_lint.inference.classes import Classes, Member, MethodView
from automodel_lint.inference.names import ClassEntity

HEAD = "lm_head"
_ENDINGS = ("ForCausalLM", "ForConditionalGeneration")
_LANGUAGE_CHILDREN = ("language_model", "text_model", "llm", "thinker", "lm", "model", "decoder")
# Library roots that cannot supply a head, source or not.
_HEADLESS = ("torch.", "builtins.", "typing.", "abc.", "collections.")
_HEADLESS_NAMES = ("PreTrainedModel", "GenerationMixin", "PushToHubMixin", "GradientCheckpointingLayer")


def owns_causal_head(classes: Classes, cls: ClassEntity, depth: int = 0) -> bool:
    """Tell whether ``cls``, a base, or a language-model child of it has an ``lm_head``."""
    order = classes.mro(cls)
    if any(isinstance(a, ClassEntity) and _shows_head(classes, a, depth) for a in order):
        return True
    unseen = [a for a in order if not isinstance(a, ClassEntity) and not _headless(a.fqn)]
    return bool(unseen) and any(a.fqn.endswith(_ENDINGS) for a in (*unseen, cls))


def _headless(fqn: str) -> bool:
    return fqn.startswith(_HEADLESS) or fqn.rpartition(".")[2] in _HEADLESS_NAMES


def _shows_head(classes: Classes, cls: ClassEntity, depth: int) -> bool:
    if any(isinstance(m.value, ast.Call) and dotted(m.value.func) == "property" for m in classes.local(cls, HEAD)):
        return True
    mentioned = classes.tree.holds(cls.module.path, HEAD.encode())
    for function in classes.methods(cls):
        if function.name == HEAD and function.decorator_list:
            return True
        view = MethodView(classes, cls, Member(cls, Binding("def", function)))
        for statement in statements_here(function.body):
            if mentioned and _builds(statement, view):
                return True
            if depth < 2 and _child_owns_head(statement, view, depth):
                return True
    return False


def _builds(node: ast.stmt, view: MethodView) -> bool:
    """``self.lm_head = …`` with something built: neither ``None`` nor, in a setter, a parameter handed through."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return _is_named_setter(node.value, view.self_name, HEAD)
    heads = {f"{view.self_name}.{HEAD}", *(f"{view.self_name}.{child}.{HEAD}" for child in _LANGUAGE_CHILDREN)}
    is_setter = view.node.name.startswith("set_")
    return any(
        name in heads and not isinstance(value, ast.Constant) and not (is_setter and isinstance(value, ast.Name))
        for name, value in parts_of(node)
    )


def _is_named_setter(call: ast.Call, self_name: str, attribute: str) -> bool:
    """``setattr(self, "lm_head", …)``, ``self.add_module("lm_head", …)``, ``self.register_module(…)``."""
    words = [a.value for a in call.args[:2] if isinstance(a, ast.Constant)]
    if attribute not in words:
        return False
    if isinstance(call.func, ast.Name):
        return call.func.id == "setattr" and isinstance(call.args[0], ast.Name) and call.args[0].id == self_name
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("add_module", "register_module")


def _child_owns_head(node: ast.stmt, view: MethodView, depth: int) -> bool:
    """``self.language_model = Cls(…)`` where ``Cls`` owns a head itself."""
    children = {f"{view.self_name}.{child}" for child in _LANGUAGE_CHILDREN}
    built = [value for name, value in parts_of(node) if name in children and value is not None]
    building = Building(view.classes, view)
    for entity in [e for value in built for e in building.values_made(value, view.scope)]:
        if entity.fqn.startswith("transformers.") and entity.fqn.endswith(_ENDINGS):
            return True
        is_other = isinstance(entity, ClassEntity) and entity is not view.owner
        if is_other and owns_causal_head(view.classes, entity, depth + 1):
            return True
    return False
