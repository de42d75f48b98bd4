"""Constructors and methods that replace the input embedding under a head that is tied to it already."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from automodel_lint.domain.building import Building
from automodel_lint.domain.causal_head import HEAD, owns_causal_head
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.tie_flag import FLAG, asks
from automodel_lint.domain.tying import Tying, aliases, head_swaps
from automodel_lint.inference.bindings import dotted, parts_of
from automodel_lint.inference.classes import Ancestor, FunctionView, MethodView, is_super
from automodel_lint.inference.names import ClassEntity, External, FunctionEntity

_EMBEDDINGS = ("embed_tokens", "tok_embeddings", "word_embeddings", "wte", "embed_in", "embeddings")
_OTHER_TOWER = re.compile(r"vision|visual|image|audio|sound|speech|video|vit\b|talker|mtp|draft")
_TIES = re.compile(r"(?!(is|get|has|should)_)(.*_)?(re)?tied?(_.*)?$|(post_init|init_weights)$")
_REFUSES = re.compile(r".*(reject|refuse|forbid|assert).*_tied?(_|$)")
_CONFIG = re.compile(r"(config|dtype|device)\b")
_MAKERS = ("from_pretrained", "from_config", "_from_config")
_DEEPEST = 4


@dataclass(frozen=True)
class Step:
    """Something that running a method does about the tie.

    ``kind`` is ``tie``, ``may-tie`` (code without source that is given the model), ``refuse`` (of a tied config),
    ``head`` (a new one, which is tied to nothing yet) or ``replace`` (of the embedding at ``path``, or of its owner).
    """

    kind: str
    view: MethodView
    node: ast.AST
    path: str = ""


def lost_ties(model: ModelClass) -> list[Step]:
    """Return the replacements after which nothing ties the head again; in the constructor, then in other methods.

    A tie counts whatever condition it stands under, and so does whatever is called a tie by its name.
    """
    init = model.method("__init__")
    if init is None or model.tie_policies == {"UNTIED_ONLY"}:
        return []
    following = _Steps(model)
    steps = list(following.of(init))
    first = next((n for n, step in enumerate(steps) if step.kind == "tie"), None)
    if first is None or any(step.kind == "refuse" for step in steps):
        return []
    found = _left_open(steps[first:])
    for view in _entries(model, init):
        found += _left_open(list(following.of(view)))
    return [step for step in found if model.classes.in_checkout(step.view.owner)]


def _left_open(steps: list[Step]) -> list[Step]:
    """The replacements behind the last tie; none where the head is new as well, and so not tied to what is gone."""
    if any(step.kind == "head" for step in steps):
        return []
    last = max((n for n, step in enumerate(steps) if step.kind in ("tie", "may-tie")), default=-1)
    return [step for step in steps[last + 1 :] if step.kind == "replace"]


def _entries(model: ModelClass, init: MethodView) -> Iterator[MethodView]:
    """The methods of the checkout that no other method of the class calls: where somebody else comes in."""
    views = []
    seen = {"__init__"}
    for ancestor in model.mro:
        if isinstance(ancestor, ClassEntity) and model.classes.in_checkout(ancestor):
            for function in model.classes.methods(ancestor):
                view = None if function.name in seen else model.method(function.name)
                seen.add(function.name)
                if view is not None and view.node.args.args:
                    views.append(view)
    funcs = [(v, c.func) for v in (init, *views) for c in v.calls() if isinstance(c.func, ast.Attribute)]
    called = {func.attr for v, func in funcs if v.is_self_or_class(func.value)}
    return (view for view in views if view.node.name not in called)


class _Steps:
    """Follows one run through a method, the base constructors and the methods of the class that it calls."""

    def __init__(self, model: ModelClass):
        self.model = model
        self.sources = _tied_sources(model)

    def of(self, view: MethodView, depth: int = 0) -> Iterator[Step]:
        """Yield the steps of a method in the order of its text."""
        nodes = [n for n in view.walk() if isinstance(n, (ast.Call, ast.Assign, ast.AnnAssign, ast.If))]
        # The value of an assignment is there before it is assigned.
        for node in sorted(nodes, key=lambda n: (n.lineno, not isinstance(n, ast.Call), n.col_offset)):
            if isinstance(node, ast.Call):
                yield from self._called(node, view, depth)
            elif isinstance(node, ast.If):
                if _refuses_tied(node):
                    yield Step("refuse", view, node)
            elif aliases(node) or head_swaps(node, view.self_name):
                yield Step("tie", view, node)
            else:
                for target, value in parts_of(node):
                    path = self._path(target, view)
                    if path == HEAD and isinstance(value, ast.Call) and HEAD not in ast.unparse(value):
                        yield Step("head", view, node)
                    elif path and value is not None and self._replaces(path, value, view):
                        yield Step("replace", view, node, path)

    # -- calls ----------------------------------------------------------------------------------------------------

    def _called(self, call: ast.Call, view: MethodView, depth: int) -> Iterator[Step]:
        func = call.func
        name = dotted(func).rpartition(".")[2] or (func.attr if isinstance(func, ast.Attribute) else "")
        if _REFUSES.match(name) and FLAG not in name:
            yield Step("refuse", view, call)
        elif isinstance(func, ast.Attribute) and name == "__init__" and self._is_base(func.value, view):
            yield from self._constructed(call, func, view, depth)
        elif (_TIES.match(name) and FLAG not in name) or aliases(call):
            yield Step("tie", view, call)
        elif name in ("add_module", "register_module", "setattr", "set_input_embeddings"):
            yield from self._named(call, name, view)
        elif isinstance(func, ast.Attribute) and (view.is_self_or_class(func.value) or is_super(func.value)):
            callee = view.callee(call)
            if isinstance(callee, MethodView) and callee.node is not view.node and depth < _DEEPEST:
                yield from self.of(callee, depth + 1) if self.model.classes.is_local(callee.owner) else ()
        elif any(self._has_head_in(a, view) for a in call.args) and self._may_tie(call, view):
            yield Step("may-tie", view, call)

    def _has_head_in(self, argument: ast.expr, view: MethodView) -> bool:
        """The model, or its head."""
        name = dotted(argument)
        return name == view.self_name or self._path(name, view) == HEAD

    def _may_tie(self, call: ast.Call, view: MethodView) -> bool:
        """Whether a function that is given the model ties, or may because it has no source."""
        callee = view.callee(call)
        if isinstance(callee, FunctionEntity):
            return Tying(FunctionView(view, callee)).ever_aliases()
        names = self.model.names.fqns(call.func, view.scope)
        return callee is None and not any(name.startswith("builtins.") for name in names)

    def _is_base(self, owner: ast.expr, view: MethodView) -> bool:
        """``super()``, or a base named outright."""
        if is_super(owner):
            return True
        named = self.model.names.resolve(owner, view.scope)
        return any(e in self.model.mro for e in named if isinstance(e, (ClassEntity, External)))

    def _constructed(self, call: ast.Call, func: ast.Attribute, view: MethodView, depth: int) -> Iterator[Step]:
        """A base constructor: one of the checkout is followed, one of transformers ties the head that it builds."""
        classes = self.model.classes
        if is_super(func.value):
            base = classes.next_init(view.receiver, view.owner)
        else:
            named = self.model.names.resolve(func.value, view.scope)
            base = next((e for e in named if isinstance(e, (ClassEntity, External))), None)
        if isinstance(base, ClassEntity) and classes.is_local(base):
            members = classes.local(base, "__init__")
            if members and members[-1].function is not None and depth < _DEEPEST:
                yield from self.of(MethodView(classes, view.receiver, members[-1]), depth + 1)
        elif base is not None and self._has_head(base):
            yield Step("tie", view, call)

    def _has_head(self, base: Ancestor) -> bool:
        """Whether a class of transformers has a head that its constructor ties."""
        if isinstance(base, ClassEntity):
            return owns_causal_head(self.model.classes, base)
        is_model = base.fqn.endswith(("ForCausalLM", "ForConditionalGeneration"))
        return is_model and base.fqn.startswith("transformers.")

    def _named(self, call: ast.Call, name: str, view: MethodView) -> Iterator[Step]:
        """``setattr(self.model, "embed_tokens", …)`` and its relatives, ``self.set_input_embeddings(…)``."""
        if name == "set_input_embeddings":
            owner = call.func.value if isinstance(call.func, ast.Attribute) else None
            whole = owner is not None and view.is_self_or_class(owner)
            if whole and call.args and Building(self.model.classes, view).values_made(call.args[0], view.scope):
                yield Step("replace", view, call, "the input embedding")
            return
        owner = call.args[0] if name == "setattr" and call.args else getattr(call.func, "value", None)
        words = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        if owner is not None and words and len(call.args) >= 2:
            path = self._path(f"{dotted(owner)}.{words[0]}", view) if dotted(owner) else ""
            if path and self._replaces(path, call.args[-1], view):
                yield Step("replace", view, call, path)

    # -- places ---------------------------------------------------------------------------------------------------

    def _path(self, target: str, view: MethodView, depth: int = 0) -> str:
        """The place below the model that a dotted name means; a local name for a part of it is looked through."""
        root, _, rest = target.partition(".")
        if not rest:
            return ""
        if root == view.self_name:
            return rest
        live = view.scope.frames[0].live(root)
        value = live[0].node if len(live) == 1 and live[0].kind == "value" else None
        if isinstance(value, ast.Call):
            func = value.func
            owner = func.value if isinstance(func, ast.Attribute) and func.attr in _MAKERS else func
            return rest if view.is_self_or_class(owner) or is_super(owner) else ""
        inner = self._path(dotted(value), view, depth + 1) if value is not None and depth < _DEEPEST else ""
        return f"{inner}.{rest}" if inner else ""

    def _replaces(self, path: str, value: ast.expr, view: MethodView) -> bool:
        """Whether a freshly made module at ``path`` takes the place of the embedding that the head is tied to."""
        if _OTHER_TOWER.search(path) or self._keeps(path, value, view):
            return False
        building = Building(self.model.classes, view)
        made = [e for e in building.values_made(value, view.scope) if building.is_module(e)]
        if not made:
            return False
        if self.sources:
            return any(f"{source}.".startswith(f"{path}.") for source in self.sources)
        is_embedding = path.rpartition(".")[2] in _EMBEDDINGS
        return is_embedding or any(isinstance(e, ClassEntity) and self._owns_embedding(e) for e in made)

    def _keeps(self, path: str, value: ast.expr, view: MethodView) -> bool:
        """``self.model = Wrapper(self.model)``: what was there goes on, and the tie with it."""
        given = [*value.args, *(k.value for k in value.keywords)] if isinstance(value, ast.Call) else []
        places = [self._path(f"{dotted(argument)}.weight", view) for argument in given if dotted(argument)]
        inner = [place for place in places if place.startswith(f"{path}.")]
        return any(not _CONFIG.search(place) for place in inner)

    def _owns_embedding(self, cls: ClassEntity) -> bool:
        classes = self.model.classes
        for ancestor in classes.mro(cls):
            for function in classes.methods(ancestor) if isinstance(ancestor, ClassEntity) else ():
                targets = {
                    name.rpartition(".")[2] for n in ast.walk(function) for name, v in parts_of(n) if _is_call(v)
                }
                if targets & set(_EMBEDDINGS):
                    return True
        return False


def _refuses_tied(choice: ast.If) -> bool:
    """``if config.tie_word_embeddings: raise …``; one that raises where the flag is *not* set demands it."""
    raises = any(isinstance(s, ast.Raise) for s in choice.body)
    negated = any(isinstance(n, ast.Not) for n in ast.walk(choice.test))
    return raises and not negated and asks(choice.test)


def _is_call(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call)


def _tied_sources(model: ModelClass) -> set[str]:
    """The modules whose weight the head shares, as the class's keys say, its own or inherited ones."""
    found: set[str] = set()
    for name in ("_tied_weights_keys", "_nemo_tied_weights_keys"):
        for member in model.inherited(name)[0]:
            for value in model.member_values(member) or ():
                sources = value.values() if isinstance(value, dict) else ()
                found |= {str(s).removesuffix(".weight") for s in sources}
    return found
