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
        if _method_shows_head(view, mentioned, depth):
            return True
    return False


def _method_shows_head(view: MethodView, mentioned: bool, depth: int) -> bool:
    """``self.lm_head = …`` with something built, or a language-model child that owns a head.

    Neither ``None`` counts nor, in a setter, a parameter handed through.
    """
    me = view.self_name
    children = {f"{me}.{child}" for child in _LANGUAGE_CHILDREN}
    heads = {f"{me}.{HEAD}", *(f"{child}.{HEAD}" for child in children)}
    is_setter = view.node.name.startswith("set_")
    for statement in statements_here(view.node.body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            if mentioned and _is_named_setter(statement.value, me, HEAD):
                return True
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            for name, value in parts_of(statement):
                handed = isinstance(value, ast.Constant) or (is_setter and isinstance(value, ast.Name))
                if name in heads and not handed:
                    return True
                if name in children and depth < 2 and value is not None and _owns_head(value, view, depth):
                    return True
    return False


def _is_named_setter(call: ast.Call, self_name: str, attribute: str) -> bool:
    """``setattr(self, "lm_head", …)``, ``self.add_module("lm_head", …)``, ``self.register_module(…)``."""
    words = [a.value for a in call.args[:2] if isinstance(a, ast.Constant)]
    if attribute not in words:
        return False
    if isinstance(call.func, ast.Name):
        return call.func.id == "setattr" and isinstance(call.args[0], ast.Name) and call.args[0].id == self_name
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("add_module", "register_module")


def _owns_head(built: ast.expr, view: MethodView, depth: int) -> bool:
    """Whether what a child is made from owns a head itself."""
    for entity in Building(view.classes, view).values_made(built, view.scope):
        if entity.fqn.startswith("transformers.") and entity.fqn.endswith(_ENDINGS):
            return True
        is_other = isinstance(entity, ClassEntity) and entity is not view.owner
        if is_other and owns_causal_head(view.classes, entity, depth + 1):
            return True
    return False
