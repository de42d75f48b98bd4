"""Which tensors a class makes one, by the names that they have in its state dict."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.tying import Tying, aliases, head_swaps, joined
from automodel_lint.inference.bindings import dotted, parts_of
from automodel_lint.inference.classes import FunctionView, Member, MethodView, is_super
from automodel_lint.inference.module_tree import PARAMETER, ModuleNode, ModuleTree, part_matches
from automodel_lint.inference.names import ClassEntity, FunctionEntity

Pair = tuple[str, str]  # alias, source
_GETTERS = {"get_output_embeddings": "lm_head", "get_input_embeddings": "embed_tokens"}
_PROPERTIES = ("property", "cached_property")
_PLAIN = re.compile(r"[A-Za-z_]\w*(\.\w+)+")
_DEEPEST = 6


@dataclass(frozen=True)
class _Frame:
    """A method being read: where its ``self`` hangs in the model, and what its caller has given to its parameters."""

    view: MethodView
    prefix: str = ""
    given: Mapping[str, tuple[ast.expr, _Frame]] = field(default_factory=dict)


class TiedNames:
    """Reads the methods of a class."""

    def __init__(self, model: ModelClass):
        self.model, self.classes = model, model.classes

    def pairs(self) -> list[Pair] | None:
        """Return what ``tie_weights`` joins, or else the constructor; ``None`` if some of it cannot be named.

        What a complete module tree does not have is left out: the other branch of a condition on the kind of model.
        """
        for name in ("tie_weights", "__init__"):
            view = self.model.method(name)
            found = self.pairs_of(view) if view is not None else []
            if found != []:
                return found
        return []

    def pairs_of(self, view: MethodView) -> list[Pair] | None:
        """Return what running a method joins; ``None`` if some of it cannot be named."""
        found = list(self._joined(_Frame(view), 0))
        known = [pair for pair in found if pair is not None and all(fits(self.model.module_tree, n) for n in pair)]
        return None if None in found or (found and not known) else list(dict.fromkeys(known))

    # -- ties -----------------------------------------------------------------------------------------------------

    def _joined(self, frame: _Frame, depth: int) -> Iterator[Pair | None]:
        for node in frame.view.walk():
            if aliases(node) or head_swaps(node, frame.view.self_name):
                pairs = [self._pair(*tensors, frame) for tensors in joined(node, frame.view.self_name)]
                yield from pairs or [None]
            elif isinstance(node, ast.Call) and depth < _DEEPEST:
                called = self._called(node, frame, depth)
                if called is not None and called.view.node is not frame.view.node:
                    local = self.classes.is_local(called.view.owner)
                    if local and Tying(called.view).ever_aliases(surely=True):
                        yield from self._joined(called, depth + 1)

    def _pair(self, alias: ast.expr, source: ast.expr, frame: _Frame) -> Pair | None:
        name = self.path(alias, frame)
        choices = [source.body, source.orelse] if isinstance(source, ast.IfExp) else [source]
        others = {self.path(choice, frame) for choice in choices} - {name}
        if name is None or len(others) != 1:
            return None
        (other,) = others
        is_turned = other is not None and "embed" in name and "head" in other
        return (name, other) if other is not None and not is_turned else None

    # -- places ---------------------------------------------------------------------------------------------------

    def path(self, expr: ast.expr, frame: _Frame, depth: int = 0) -> str | None:
        """Return the name below the model of what an expression gives, empty for the model; ``None`` if untold."""
        if depth > 4 * _DEEPEST:
            return None
        if isinstance(expr, ast.Name):
            return self._named(expr.id, frame, depth + 1)
        if isinstance(expr, ast.Attribute):
            owner = self.path(expr.value, frame, depth + 1)
            return None if owner is None else self._attribute(owner, expr.attr, depth + 1)
        if isinstance(expr, ast.NamedExpr):
            return self.path(expr.value, frame, depth + 1)
        if isinstance(expr, ast.Call):
            return self._result(expr, frame, depth + 1)
        return None

    def _named(self, name: str, frame: _Frame, depth: int) -> str | None:
        """``self``, a parameter that the caller has filled, or a local that is assigned once."""
        if name == frame.view.self_name:
            return frame.prefix
        values = [v for node in frame.view.walk() for bound, v in parts_of(node) if bound == name]
        live = frame.view.scope.frames[0].live(name) if frame.view.scope.frames else []
        if name in frame.given and not values:
            return self.path(frame.given[name][0], frame.given[name][1], depth)
        if len(values) != 1 or values[0] is None or any(b.kind == "opaque" for b in live):
            return None
        return self.path(values[0], frame, depth)

    def _attribute(self, owner: str, name: str, depth: int) -> str | None:
        """A child or tensor; a property stands for what it returns."""
        for cls in self._classes_at(owner):
            for member in self.classes.find(cls, name)[0]:
                if member.function is not None:
                    is_property = any(
                        dotted(d).rpartition(".")[2] in _PROPERTIES for d in member.function.decorator_list
                    )
                    view = MethodView(self.classes, cls, member)
                    return self._returned(_Frame(view, owner), depth) if is_property else None
        return f"{owner}.{name}" if owner else name

    def _classes_at(self, path: str) -> list[ClassEntity]:
        if not path:
            return [self.model.entity]
        nodes = self.model.module_tree.root.child(path)
        return list(dict.fromkeys(node.cls for node in nodes if node.cls is not None))

    def _result(self, call: ast.Call, frame: _Frame, depth: int) -> str | None:
        """``getattr(self, "lm_head")``, a getter, a helper that returns a part of the model."""
        if dotted(call.func) == "getattr" and len(call.args) > 1 and isinstance(call.args[1], ast.Constant):
            owner = self.path(call.args[0], frame, depth)
            return None if owner is None else self._attribute(owner, str(call.args[1].value), depth)
        called = self._called(call, frame, depth)
        found = self._returned(called, depth) if called is not None else None
        if found is None and isinstance(call.func, ast.Attribute) and frame.view.is_self_or_class(call.func.value):
            own = called is not None and self.classes.is_local(called.view.owner)
            return None if own or frame.prefix else self._given_by_transformers(call.func.attr)
        return found

    def _given_by_transformers(self, getter: str) -> str | None:
        """What the getters that ``PreTrainedModel`` brings find, where the whole tree leaves them one choice."""
        tree, wanted = self.model.module_tree, _GETTERS.get(getter)
        if wanted is None or not tree.complete or not self.model.is_pretrained_model:
            return None
        found = {t.module.fqn for t in tree.tensors if t.name == "weight" and t.module.name == wanted}
        return found.pop() if len(found) == 1 else None

    def _returned(self, frame: _Frame, depth: int) -> str | None:
        returned = [node.value for node in frame.view.walk() if isinstance(node, ast.Return)]
        paths = {self.path(value, frame, depth) if value is not None else None for value in returned}
        return paths.pop() if len(paths) == 1 else None

    def _called(self, call: ast.Call, frame: _Frame, depth: int) -> _Frame | None:
        """The method or function that a call leads to, on the model or a part of it, with what it is given."""
        func, prefix = call.func, frame.prefix
        callee = frame.view.callee(call)
        if callee is None and isinstance(func, ast.Attribute) and not is_super(func.value):
            owner = self.path(func.value, frame, depth + 1)
            callee, prefix = (self._method(owner, func.attr), owner) if owner else (None, "")
        if callee is None:
            return None
        view = FunctionView(frame.view, callee) if isinstance(callee, FunctionEntity) else callee
        positional = [*view.node.args.posonlyargs, *view.node.args.args][
            0 if isinstance(callee, FunctionEntity) else 1 :
        ]
        names = [argument.arg for argument in positional]
        given = {n: (a, frame) for n, a in zip(names, call.args, strict=False) if not isinstance(a, ast.Starred)}
        given |= {k.arg: (k.value, frame) for k in call.keywords if k.arg}
        return _Frame(view, prefix, given)

    def _method(self, owner: str, name: str) -> MethodView | None:
        classes = self._classes_at(owner)
        members: list[Member] = self.classes.find(classes[0], name)[0] if len(classes) == 1 else []
        known = len(members) == 1 and members[0].function is not None
        return MethodView(self.classes, classes[0], members[0]) if known else None


def fits(tree: ModuleTree, name: str) -> bool:
    """Tell whether a tree has a parameter of a name, or cannot tell because what would hold it was not followed."""
    *parents, last = name.split(".")
    nodes = [tree.root]
    for part in parents:
        below = [child for node in nodes for child in node.children if part_matches(child.name, part)]
        if not below:
            return any(node.opaque is not None for node in nodes)
        nodes = below
    tensors = [t for node in nodes for t in node.tensors if t.kind == PARAMETER and part_matches(t.name, last)]
    return bool(tensors) or any(_may_hold_more(tree, node) for node in nodes)


def _may_hold_more(tree: ModuleTree, node: ModuleNode) -> bool:
    """Whether a node was not followed, or has lost what it held to something that was not."""
    return node.opaque is not None or not (tree.complete or node.tensors or node.children)


# -- declarations ---------------------------------------------------------------------------------------------------


def declared(model: ModelClass, attribute: str) -> dict[str, str] | None:
    """Return the mapping of names that a class attribute surely is, own or inherited with its source; else ``None``."""
    members, opaque = model.inherited(attribute)
    values = [value for member in members for value in model.member_values(member) or [None]]
    mapping = values[0] if len(values) == 1 else None
    if opaque or not isinstance(mapping, dict) or not mapping:
        return None
    texts = all(isinstance(text, str) and _PLAIN.fullmatch(text) for pair in mapping.items() for text in pair)
    return dict(mapping) if texts else None


def tied_names(model: ModelClass) -> dict[str, str] | None:
    """Return what ``_tied_weights_keys`` of a class has to say, as its code and the other declarations tell it.

    ``None`` if they do not tell, or contradict each other or the module tree.
    """
    pairs = TiedNames(model).pairs()
    own, inherited = declared(model, "_nemo_tied_weights_keys"), declared(model, "_tied_weights_keys")
    code = dict(pairs or ())
    if pairs and len(code) != len(pairs):
        return None
    if not pairs or own is not None:
        found = own or (inherited if pairs is not None else None)
        if found is None or any(found.get(alias) != source for alias, source in code.items()):
            return None
    elif inherited is None and _leaves_to_base(model):
        return None
    else:
        kept = {a: s for a, s in (inherited or {}).items() if all(fits(model.module_tree, n) for n in (a, s))}
        found = {**code, **{a: s for a, s in kept.items() if a not in code}}
    return found if all(fits(model.module_tree, name) for pair in found.items() for name in pair) else None


def _leaves_to_base(model: ModelClass) -> bool:
    """Whether ``tie_weights`` also runs one of transformers, which ties what its own keys say."""
    view = model.method("tie_weights")
    calls = view.calls() if view is not None else ()
    funcs = [call.func for call in calls if isinstance(call.func, ast.Attribute) and is_super(call.func.value)]
    return any(func.attr == "tie_weights" for func in funcs)
