"""Tensors that an adapter writes into a checkpoint without having them from the model: fresh memory, or zeros."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from automodel_lint.domain.adapter import Adapter
from automodel_lint.domain.adapter_code import SAVING, SINGLE, code_of, nodes_with
from automodel_lint.domain.loose_adapter import Alone, LooseAdapter
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.saving import runs_when_saving
from automodel_lint.inference.bindings import dotted, parts_of
from automodel_lint.inference.classes import MethodView, asked

_ALLOCATES = re.compile(r"\b(?:new_)?(?:empty|zeros|rand|randn)(?:_like|_strided)?\(")
_NAMES = frozenset(
    "empty empty_like empty_strided zeros zeros_like rand rand_like randn randn_like new_empty new_zeros".split()
)
_SAME = frozenset({"to", "contiguous", "clone", "detach", "cpu", "cuda", "view", "reshape", "transpose", "unsqueeze"})


def invented(model: ModelClass | LooseAdapter, adapter: Adapter | Alone) -> Iterator[tuple[MethodView, ast.Call]]:
    """Yield the allocations that saving puts into what it returns as they are, by default (not when it quantises)."""
    code = code_of(model, adapter, SAVING, SINGLE)
    for view in code:
        for node in asked(view, _emitted):
            if runs_when_saving(view, node, code):
                yield view, node


def _emitted(view: MethodView) -> tuple[ast.Call, ...]:
    calls = [node for node in nodes_with(view, _ALLOCATES) if isinstance(node, ast.Call) and _allocates(node)]
    uses = _Uses(view) if calls else None
    return tuple(call for call in calls if uses is not None and uses.is_emitted(call))


def _allocates(call: ast.Call) -> bool:
    name = dotted(call.func).rpartition(".")[2] or (call.func.attr if isinstance(call.func, ast.Attribute) else "")
    return name in _NAMES and isinstance(call.func, ast.Attribute)


class _Uses:
    """What becomes of a value in one function."""

    def __init__(self, view: MethodView):
        self.view = view
        self.nodes = [view.node, *view.walk()]
        self.parents = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    def is_emitted(self, call: ast.expr) -> bool:
        """Tell whether a value goes into a state dict as it is."""
        whole = self._grown(call)
        parent = self.parents.get(whole)
        if isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is whole:
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            if any(isinstance(target, ast.Subscript) for target in targets):
                return True
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            return len(names) == 1 and self._is_emitted_as(names[0])
        return self._is_part(whole)

    def _grown(self, node: ast.expr) -> ast.expr:
        """``torch.empty(…).to(device)`` is the same value; so is one side of a conditional."""
        parent = self.parents.get(node)
        if isinstance(parent, ast.Attribute) and parent.attr in _SAME:
            call = self.parents.get(parent)
            return self._grown(call) if isinstance(call, ast.Call) else node
        return self._grown(parent) if isinstance(parent, ast.IfExp) and parent.test is not node else node

    def _is_part(self, node: ast.expr) -> bool:
        """``(name, value)`` in what is returned or collected, ``{name: value}``."""
        parent = self.parents.get(node)
        if isinstance(parent, ast.Dict):
            return any(value is node for value in parent.values)
        if isinstance(parent, ast.DictComp):
            return parent.value is node
        if isinstance(parent, ast.Tuple) and len(parent.elts) == 2 and parent.elts[1] is node:
            around = self.parents.get(parent)
            collected = isinstance(around, ast.Call) and dotted(around.func).endswith(".append")
            return collected or isinstance(around, (ast.List, ast.ListComp, ast.Yield, ast.GeneratorExp))
        return False

    def _is_emitted_as(self, name: str) -> bool:
        """Whether a local that is bound once, and never written into or handed on, goes into a state dict."""
        bound = [n for n in self.nodes for target, _ in parts_of(n) if target == name]
        uses = [n for n in self.nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
        kinds = [self._use(use) for use in uses]
        return len(bound) == 1 and "emitted" in kinds and "filled" not in kinds

    def _use(self, use: ast.Name) -> str:
        whole = self._grown(use)
        parent = self.parents.get(whole)
        if isinstance(parent, ast.Assign) and any(isinstance(target, ast.Subscript) for target in parent.targets):
            return "emitted" if parent.value is whole else "filled"
        if self._is_part(whole):
            return "emitted"
        if isinstance(parent, ast.Attribute) and parent.attr in ("shape", "dtype", "device", "ndim"):
            return "asked"
        return "filled"
