"""In which precision a module chooses its experts, and normalises attention with sinks.

The forward code of a class is followed with the dtypes that its tensors may have: fp32, that of the input (which the
weights share), or one that only a config knows. Where two sides of a condition differ, both are possible.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.precision_flow import INPUT, Flow, Traced
from automodel_lint.inference.classes import Classes, MethodView
from automodel_lint.inference.module_tree import ModuleNode
from automodel_lint.inference.names import ClassEntity, FunctionEntity, Module
from automodel_lint.source import remembered

_NORMALISING = ("softmax", "sigmoid")
_NORMALISES = re.compile(r"(softmax|sigmoid)_?\(", re.I)
_FUNCTIONS = (b"softmax(", b"sigmoid(", b"sigmoid_(")
_CHOOSING = ("topk", "argmax", "kthvalue", "argsort", "sort")
_ROUTER = re.compile(r"rout|gate|gating|expert|moe", re.I)
_CHOICE = re.compile(r"topk\(|argmax\(|kthvalue\(|sort\(|sink")
_SINK = re.compile(r"sink", re.I)
_CHOSEN = "chosen"  # the mark of what a choice of experts gives


@dataclass(frozen=True, eq=False)
class Coarse:
    """A softmax or sigmoid that runs too coarsely, or whose result is cast down before it is used to choose.

    Attributes:
        owner: the class in whose body, or beside whose body, it stands.
        method: the method or function.
        node: the call.
        function: ``softmax`` or ``sigmoid``.
        of: ``router logits`` or ``attention logits with sinks``.
        lowered: whether it is only the result that is cast down.
    """

    owner: ClassEntity
    method: str
    node: ast.Call
    function: str
    of: str
    lowered: bool


def coarse_routing(model: ModelClass) -> Iterator[Coarse]:
    """Yield what is normalised too coarsely in the forward code of the checkout's classes in the module tree."""
    by_class: dict[ClassEntity, list[ModuleNode]] = {}
    for node in model.module_tree.nodes():
        if node.cls is not None and model.classes.is_local(node.cls):
            by_class.setdefault(node.cls, []).append(node)
    for cls, nodes in by_class.items():
        found = _followed(model.classes, _Modules(nodes)) if _may_route(model.classes, cls) else {}
        callers = [_Router(model.classes, _Modules(n)) for n in _holders(by_class, cls)] if found else []
        for key, coarse in found.items():
            reaching = [caller for caller in callers if key in caller.met]
            if not reaching or any(key in caller.routing for caller in reaching):
                yield coarse


def _holders(by_class: dict[ClassEntity, list[ModuleNode]], cls: ClassEntity) -> Iterator[list[ModuleNode]]:
    """The modules that hold one of the class, by their own class: they may hand it fp32."""
    for nodes in by_class.values():
        if any(child.cls is cls for node in nodes for child in node.children):
            yield nodes


@remembered
def _may_route(classes: Classes, cls: ClassEntity) -> bool:
    """Whether the code of a class, or a function that it mentions, normalises something, and chooses or has sinks."""
    own = [a for a in classes.mro(cls) if isinstance(a, ClassEntity) and classes.is_local(a)]
    text = "\n".join(_text(classes, a.module, a.node) for a in own)
    for ancestor in own:
        for name, function in _helpers(classes, ancestor.module):
            if name in text:
                text += _text(classes, function.scope.module, function.node)
    return bool(_NORMALISES.search(text) and _CHOICE.search(text))


def _text(classes: Classes, module: Module, node: ast.AST) -> str:
    return "\n".join(classes.tree.lines(module.path)[node.lineno - 1 : node.end_lineno])  # type: ignore[attr-defined]


@remembered
def _helpers(classes: Classes, module: Module) -> tuple[tuple[str, FunctionEntity], ...]:
    """The functions of the checkout that a file knows, by name, if their own file normalises something."""
    found: list[tuple[str, FunctionEntity]] = []
    normalises: dict[str, bool] = {}
    for name, bindings in module.bindings.names.items():
        for binding in bindings:
            path = classes.names.path_of(binding.target) if binding.kind == "from" else module.path
            if not path or binding.kind not in ("from", "def"):
                continue
            if path not in normalises:
                normalises[path] = any(classes.tree.holds(path, word) for word in _FUNCTIONS)
            if normalises[path]:
                entities = classes.names.in_module(module, name) or []
                found += [(name, e) for e in entities if isinstance(e, FunctionEntity)]
    return tuple((n, f) for n, f in found if classes.names.in_roots(f.scope.module))


class _Modules:
    """Modules of one class; equal to those of another tree that forward code cannot tell from them."""

    def __init__(self, nodes: list[ModuleNode]):
        self.nodes = nodes
        self.key = frozenset(map(_shape, nodes))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Modules) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def _shape(node: ModuleNode) -> tuple:
    tensors = frozenset((t.name, t.dtype is not None and t.dtype.is_fp32) for t in node.tensors)
    return node.name, node.cls, node.type_fqn, node.place.node, tensors, frozenset(map(_shape, node.children))


@remembered
def _followed(classes: Classes, modules: _Modules) -> dict[int, Coarse]:
    return _Router(classes, modules).routing


class _Router(Flow):
    """Follows ``forward`` and notes every softmax and sigmoid, and what its result goes into; all by the call's id.

    Attributes:
        met: whether the call runs in the dtype of the input.
        places: where it stands.
        routing: those that route too coarsely.
    """

    def __init__(self, classes: Classes, modules: _Modules):
        super().__init__(classes, modules.nodes)
        self.met: dict[int, bool] = {}
        self.places: dict[int, Coarse] = {}
        self.routing: dict[int, Coarse] = {}
        cls = modules.nodes[0].cls
        assert cls is not None
        members, opaque = classes.find(cls, "forward")
        if not opaque and members and members[0].function is not None and classes.is_local(members[0].owner):
            self.run(MethodView(classes, cls, members[0]))

    def called(self, view: MethodView, call: ast.Call, name: str, given: Traced, result: Traced) -> Traced:
        """Note what a call of torch computes."""
        if name in _NORMALISING:
            coarse = INPUT in result.dtypes
            self.met[id(call)] = self.met.get(id(call), False) or coarse
            self.places[id(call)] = self._place(view, call, name)
            if any(_SINK.search(word) for word in given.words):
                if name == "softmax" and coarse:
                    self.routing[id(call)] = replace(self.places[id(call)], of="attention logits with sinks")
                return result
            if coarse and _CHOSEN in given.marks and self._is_router(view, given, call):
                self.routing[id(call)] = self.places[id(call)]
            return result.marked(id(call))
        if name in _CHOOSING:
            if self._is_router(view, given, call):
                for key in given.marks & self.met.keys():
                    if self.met[key] or INPUT in given.dtypes:
                        self.routing[key] = replace(self.places[key], lowered=not self.met[key])
            return result.marked(_CHOSEN)
        return result

    def _place(self, view: MethodView, call: ast.Call, name: str) -> Coarse:
        """Where the finding points: the call, or the call of the function of another file that it stands in."""
        way = [*self.way, (view, call)]
        inside = next((v, c) for v, c in reversed(way) if v.module is v.owner.module)
        return Coarse(inside[0].owner, inside[0].node.name, inside[1], name, "router logits", False)

    def _is_router(self, view: MethodView, given: Traced, call: ast.Call) -> bool:
        """Whether names around a choice speak of experts: top-k also serves to choose tokens and blocks."""
        words = {view.owner.name, view.node.name, *given.words, ast.unparse(call)}
        return any(_ROUTER.search(word) for word in words)
