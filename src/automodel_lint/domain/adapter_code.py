"""The code that a state-dict adapter runs: its entries, and whatever of the checkout they reach."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from automodel_lint.domain.adapter import Adapter
from automodel_lint.domain.loose_adapter import Alone, LooseAdapter
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.findings import Finding, Severity
from automodel_lint.inference.bindings import nodes_on
from automodel_lint.inference.classes import FunctionView, MethodView
from automodel_lint.inference.module_tree import Place
from automodel_lint.inference.names import ClassEntity, FunctionEntity, Scope
from automodel_lint.source import Dep, remembered

LOADING = "from_hf"
SAVING = "to_hf"
SINGLE = "convert_single_tensor_to_hf"
ENTRIES = (SAVING, LOADING, SINGLE)

Answer = TypeVar("Answer")
_Called = tuple[list[str], list[str], list[MethodView]]
_CALLED = re.compile(r"(?<![\w.)\]\"'])([A-Za-z_][\w.]*)\(")
_WORD = re.compile(r"\w+")
_LIBRARIES = frozenset({"torch", "re", "os", "gc", "logging", "logger"})
_LONGEST = 60
_MOST = 120  # functions that are looked into behind one adapter


def code_of(model: ModelClass | LooseAdapter, adapter: Adapter | Alone, *entries: str) -> tuple[MethodView, ...]:
    """Return what the entries of an adapter (all of them, if none is named) can run, the entries first.

    Methods of the adapter and of those that it holds, whatever class they are inherited from; its properties; functions
    of the checkout that are called by name.
    """
    code = Code.of(model)
    found = {v.node: v for entry in entries or ENTRIES for v in code.reached(adapter.classes, entry)}
    return tuple(found.values())


def own_code(model: ModelClass | LooseAdapter, adapter: Adapter | Alone, *entries: str) -> tuple[MethodView, ...]:
    """Return what the entries run of the code of models: what all adapters share is not judged for one of them."""
    known = adapter.__dict__.setdefault("_own_code", {})
    if entries not in known:
        with model.project.tree.recording() as read:
            code = code_of(model, adapter, *entries)
            owned = tuple(view for view in code if model.project.model_package(module_path(view)) is not None)
        known[entries] = (owned, frozenset(read))
    else:
        model.project.tree.note(*known[entries][1])
    return known[entries][0]


def lines_of(view: MethodView) -> list[str]:
    """Return the text of a function."""
    return view.classes.tree.lines(module_path(view))[view.node.lineno - 1 : view.node.end_lineno]


class Code:
    """What the adapters of a project reach, each worked out once."""

    def __init__(self, model: ModelClass | LooseAdapter):
        self.classes, self.tree = model.classes, model.project.tree
        self._calls: dict[ast.AST, tuple[_Called, frozenset[Dep]]] = {}
        self._views: dict[ast.AST, MethodView] = {}

    @classmethod
    def of(cls, model: ModelClass | LooseAdapter) -> Code:
        """Return the one of the model's project."""
        known = model.project.__dict__
        if "_adapter_code" not in known:
            known["_adapter_code"] = cls(model)
        return known["_adapter_code"]

    @remembered
    def reached(self, owners: tuple[ClassEntity, ...], entry: str) -> tuple[MethodView, ...]:
        """Return the methods and functions that one entry of the classes can run, the entry first."""
        todo = [view for owner in owners for view in self._methods(owner, entry)]
        found: dict[ast.AST, MethodView] = {}
        while todo and len(found) < _MOST:
            view = todo.pop(0)
            if view.node not in found and self.classes.is_local(view.owner):
                found[view.node] = view
                own, based, functions = self._called(view)
                todo += [v for name in own for v in self._methods(view.receiver, name)]
                todo += [v for name in based for v in self._methods(view.receiver, name, view.owner)]
                todo += functions
        return tuple(found.values())

    def _methods(self, owner: ClassEntity, name: str, after: ClassEntity | None = None) -> Iterator[MethodView]:
        members, _ = self.classes.find(owner, name, after)
        yield from (MethodView(self.classes, owner, m) for m in members if m.function is not None)

    def _called(self, view: MethodView) -> _Called:
        known = self._calls.get(view.node)
        if known is None:
            with self.tree.recording() as deps:
                called = self._looked_up(view)
            known = self._calls[view.node] = (called, frozenset(deps))
        else:
            self.tree.note(*known[1])
        return known[0]

    def _looked_up(self, view: MethodView) -> _Called:
        """What a method reads off ``self`` and off ``super()``, and the functions that it calls.

        A property runs when it is read, and a method may be handed on: so every name counts, called or not. The names
        are taken from the text, which costs a tenth of a walk.
        """
        body = view.node.body[1:] if ast.get_docstring(view.node, clean=False) else view.node.body
        first, last = (body[0].lineno if body else 1), view.node.end_lineno or 0
        text = "\n".join(self.tree.lines(module_path(view))[first - 1 : last])
        receiver = re.escape(view.self_name) or "self"
        own = dict.fromkeys(re.findall(rf"\b(?:{receiver}|cls)\.(\w+)", text))
        based = dict.fromkeys(re.findall(r"\bsuper\([^()]*\)\.(\w+)", text))
        local = set(_WORD.findall(" ".join(text.split("import ")[1:])))  # names that it imports itself, and some more
        functions = [f for name in dict.fromkeys(_CALLED.findall(text)) for f in self._functions(name, view, local)]
        return list(own), list(based), functions

    def _functions(self, name: str, view: MethodView, local: set[str]) -> list[MethodView]:
        root = name.partition(".")[0]
        module = view.module
        if root in _LIBRARIES or not (root in module.bindings.names or root in local):
            return []
        expr = ast.parse(name, mode="eval").body
        found = self.classes.names.resolve(expr, view.scope if root in local else Scope(module))
        views = [self._view_of(view, f) for f in found if isinstance(f, FunctionEntity)]
        return views if len(found) == 1 else []

    def _view_of(self, caller: MethodView, function: FunctionEntity) -> MethodView:
        known = self._views.get(function.node)
        if known is None:
            known = self._views[function.node] = FunctionView(caller, function)
        return known


def module_path(view: MethodView) -> str:
    """Return the file that a method or function stands in."""
    return view.module.path


def nodes_with(view: MethodView, wanted: re.Pattern[str]) -> Iterator[ast.AST]:
    """Yield the nodes on the lines of a function that match a pattern; functions inside are entered."""
    hits = {number for number, line in enumerate(lines_of(view), view.node.lineno) if wanted.search(line)}
    if hits:
        yield from nodes_on(view.node, hits)


def finding_in(
    model: ModelClass | LooseAdapter, view: MethodView, node: ast.AST, severity: Severity | None = None, **fields: Any
) -> Finding:
    """Return a finding at a node of an adapter's code; ``cls`` is the class that holds it.

    A function's finding is filed under the adapter class beside it: others have functions of the same name. ``cls`` is
    the function where it is the node itself.
    """
    named = isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
    alone = isinstance(view, FunctionView)
    owner = view.node.name if alone else view.owner.name
    cls = (_adapter_beside(view) if alone else None) or owner
    symbol = cls if alone else f"{owner}.{view.node.name}"
    return model.finding_in(module_path(view), node, symbol, severity, cls=owner if named else cls, **fields)


def _adapter_beside(view: MethodView) -> str | None:
    """The adapter class in the file of a function: what a function of that name belongs to."""
    classes = (node for node in view.module.syntax.body if isinstance(node, ast.ClassDef))
    converting = (c for c in classes if any(isinstance(f, ast.FunctionDef) and f.name in ENTRIES for f in c.body))
    return next((cls.name for cls in converting), None)


def finding_at_place(model: ModelClass, adapter: Adapter, place: Place | None, **fields: Any) -> Finding:
    """Return a finding at a place in an adapter's own code, at its class where it has none."""
    folders = {os.path.dirname(cls.module.path) for cls in adapter.classes}
    if place is not None and os.path.dirname(place.path) in folders:
        line = place.line
        for view in code_of(model, adapter):
            if module_path(view) == place.path and view.node.lineno <= line <= (view.node.end_lineno or line):
                return finding_in(model, view, place.node, **fields)
    assert adapter.entity is not None
    return model.finding(owner=adapter.entity, **fields)


def shown(node: ast.AST) -> str:
    """Return code as a message shows it: in one line, and not all of a long one."""
    text = ast.unparse(node).split("\n")[0]
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
