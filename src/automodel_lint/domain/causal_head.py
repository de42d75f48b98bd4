"""Whether a class owns a causal language-model head, as contracts.md defines it."""

from __future__ import annotations

import ast
from collections.abc import Callable

from automodel_lint.domain.building import Building
from automodel_lint.inference.bindings import Binding, dotted, parts_of, statements_here
from automodel_lint.inference.classes import Classes, Member, MethodView
from automodel_lint.inference.module_tree import ModuleNode, ModuleTree
from automodel_lint.inference.names import ClassEntity

HEAD = "lm_head"
_ENDINGS = ("ForCausalLM", "ForConditionalGeneration")
_LANGUAGE_CHILDREN = ("language_model", "text_model", "llm", "thinker", "lm", "model", "decoder")
# Library roots that cannot supply a head, source or not.
_HEADLESS = ("torch.", "builtins.", "typing.", "abc.", "collections.")
_HEADLESS_NAMES = ("PreTrainedModel", "GenerationMixin", "PushToHubMixin", "GradientCheckpointingLayer")


def owns_causal_head(classes: Classes, cls: ClassEntity, tree: Callable[[], ModuleTree] | None = None) -> bool:
    """Tell whether ``cls``, a base, or a language-model child of it has an ``lm_head``.

    ``tree`` gives the module tree of ``cls``, and is asked only where the class itself shows no head. Without one, or
    where that is opaque, the children are told by the calls that make them.
    """
    return _owns_head(classes, cls, tree, 0)


def _owns_head(classes: Classes, cls: ClassEntity, tree: Callable[[], ModuleTree] | None, depth: int) -> bool:
    order = classes.mro(cls)
    known = [a for a in order if isinstance(a, ClassEntity)]
    if any(_shows_head(classes, ancestor) for ancestor in known):
        return True
    below = _has_head_below(tree().root) if tree is not None else None
    if below is None and depth < 2:
        below = any(_child_shows_head(classes, ancestor, depth) for ancestor in known)
    if below:
        return True
    unseen = [a for a in order if not isinstance(a, ClassEntity) and not _headless(a.fqn)]
    return bool(unseen) and any(a.fqn.endswith(_ENDINGS) for a in (*unseen, cls))


def _has_head_below(node: ModuleNode) -> bool | None:
    """Whether a module or a language-model child below it has a head; ``None`` if one of them is opaque."""
    if any(child.name == HEAD for child in node.children):
        return True
    found = [_has_head_below(child) for child in node.children if child.name in _LANGUAGE_CHILDREN]
    if True in found:
        return True
    return None if node.opaque is not None or None in found else False


def _headless(fqn: str) -> bool:
    return fqn.startswith(_HEADLESS) or fqn.rpartition(".")[2] in _HEADLESS_NAMES


def _shows_head(classes: Classes, cls: ClassEntity) -> bool:
    """A property ``lm_head``, or a method that assigns one, to the object or a language-model child."""
    if any(isinstance(m.value, ast.Call) and dotted(m.value.func) == "property" for m in classes.local(cls, HEAD)):
        return True
    if not classes.tree.holds(cls.module.path, HEAD.encode()):
        return False
    functions = list(classes.methods(cls))
    if any(function.name == HEAD and function.decorator_list for function in functions):
        return True
    return any(_assigns_head(MethodView(classes, cls, Member(cls, Binding("def", f)))) for f in functions)


def _assigns_head(view: MethodView) -> bool:
    """``self.lm_head = …`` with something built; neither ``None`` nor, in a setter, a parameter handed through."""
    me = view.self_name
    heads = {f"{me}.{HEAD}", *(f"{me}.{child}.{HEAD}" for child in _LANGUAGE_CHILDREN)}
    is_setter = view.node.name.startswith("set_")
    for statement in statements_here(view.node.body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            if _is_named_setter(statement.value, me, HEAD):
                return True
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            for name, value in parts_of(statement):
                handed = isinstance(value, ast.Constant) or (is_setter and isinstance(value, ast.Name))
                if name in heads and not handed:
                    return True
    return False


def _child_shows_head(classes: Classes, cls: ClassEntity, depth: int) -> bool:
    """Whether a language-model child is made by a call to something that owns a head."""
    for function in classes.methods(cls):
        view = MethodView(classes, cls, Member(cls, Binding("def", function)))
        children = {f"{view.self_name}.{child}" for child in _LANGUAGE_CHILDREN}
        for statement in statements_here(function.body):
            if isinstance(statement, (ast.Assign, ast.AnnAssign)):
                for name, value in parts_of(statement):
                    if name in children and value is not None and _builds_head(value, view, depth):
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


def _builds_head(built: ast.expr, view: MethodView, depth: int) -> bool:
    """Whether what a child is made from owns a head itself."""
    for entity in Building(view.classes, view).values_made(built, view.scope):
        if entity.fqn.startswith("transformers.") and entity.fqn.endswith(_ENDINGS):
            return True
        is_other = isinstance(entity, ClassEntity) and entity is not view.owner
        if is_other and _owns_head(view.classes, entity, None, depth + 1):
            return True
    return False
