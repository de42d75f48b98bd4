"""Where an adapter tells the layout of tensors by what a checkpoint is called, or where it lies."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from automodel_lint.domain.adapter import Adapter
from automodel_lint.domain.adapter_code import code_of, lines_of
from automodel_lint.domain.loose_adapter import Alone, LooseAdapter
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import dotted, parts_of, walk_here
from automodel_lint.inference.classes import FunctionView, MethodView, asked

_NAMES = re.compile(r"name_or_path|model_name\b|checkpoint_(?:name|path|dir)|model_path|_repo_id")
_ADDS = ("append", "extend", "add")
_EDITS = ("lower", "upper", "strip", "replace", "split")
_TESTS = ("startswith", "endswith", "find", "count", "match", "search", "fullmatch")
_KEYS = re.compile(r"(?:^|_)keys$|weight_map")
_INFERS = re.compile(r"infer|detect|layout|format|uses|has_")


def name_tests(model: ModelClass | LooseAdapter, adapter: Adapter | Alone) -> Iterator[tuple[MethodView, ast.expr]]:
    """Yield the first test in each function that compares the name or path of a checkpoint with a text.

    Where the names of the tensors were looked at first, and the name only decides what they leave open, it is fine.
    """
    for view in code_of(model, adapter):
        test = asked(view, _first_test)
        if test is not None:
            yield view, test


def _first_test(view: MethodView) -> ast.expr | None:
    return _Tests(view).first() if any(_NAMES.search(line) for line in lines_of(view)) else None


class _Tests:
    """What one function asks about the name of a checkpoint."""

    def __init__(self, view: MethodView):
        self.view = view
        self.nodes = sorted(
            (n for n in walk_here(view.node) if hasattr(n, "lineno")), key=lambda n: (n.lineno, n.col_offset)
        )
        self.names = self._tainted()

    def first(self) -> ast.expr | None:
        """Return the first test, unless the tensors' names have been looked at before it."""
        for node in self.nodes:
            if self._leaves_by_keys(node):
                return None
            if self._is_test(node):
                return node  # type: ignore[return-value]
        return None

    def _tainted(self) -> set[str]:
        """The local names that hold a checkpoint's name, or several of them."""
        arguments = {a.arg for a in self.view.node.args.args + self.view.node.args.kwonlyargs if _NAMES.search(a.arg)}
        names = arguments if isinstance(self.view, FunctionView) or arguments else set()
        for _ in range(4):
            before = len(names)
            for node in self.nodes:
                for target, value in parts_of(node):
                    if value is not None and self._holds(value, names):
                        names.add(target)
                loops = [node] if isinstance(node, ast.For) else getattr(node, "generators", [])
                names |= {dotted(loop.target) for loop in loops if self._holds(loop.iter, names)}
                added = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ADDS
                if added and self._any(node.args, names):  # type: ignore[attr-defined]
                    names.add(dotted(node.func.value))  # type: ignore[attr-defined]
            if len(names) == before:
                break
        return names - {""}

    def _holds(self, expr: ast.expr, names: set[str]) -> bool:
        """Whether an expression is the name of a checkpoint, or holds it: nothing that was read from the checkpoint."""
        if isinstance(expr, (ast.Name, ast.Attribute)):
            return dotted(expr) in names or (isinstance(expr, ast.Attribute) and "name_or_path" in expr.attr)
        if isinstance(expr, ast.Call):
            if dotted(expr.func) == "getattr" and len(expr.args) > 1:
                return self._names_attribute(expr.args[1])
            if isinstance(expr.func, ast.Attribute) and expr.func.attr in _EDITS:
                return self._holds(expr.func.value, names)
            return dotted(expr.func) in ("str", "os.path.basename", "list") and self._any(expr.args, names)
        if isinstance(expr, ast.BoolOp):
            return self._any(expr.values, names)
        if isinstance(expr, ast.IfExp):
            return self._any([expr.body, expr.orelse], names)
        if isinstance(expr, (ast.List, ast.Tuple, ast.Set)):
            return self._any(expr.elts, names)
        return isinstance(expr, ast.Subscript) and self._holds(expr.value, names)

    def _any(self, values: list[ast.expr], names: set[str]) -> bool:
        return any(self._holds(value, names) for value in values)

    def _names_attribute(self, expr: ast.expr) -> bool:
        """``getattr(config, "name_or_path")``, or one of the names that a loop goes through."""
        if isinstance(expr, ast.Constant):
            return "name_or_path" in str(expr.value)
        for node in self.nodes if isinstance(expr, ast.Name) else ():
            if isinstance(node, ast.For) and dotted(node.target) == expr.id:  # type: ignore[attr-defined]
                return any("name_or_path" in str(n.value) for n in ast.walk(node.iter) if isinstance(n, ast.Constant))
        return False

    def _is_test(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = node.left, node.comparators[0]
            if isinstance(node.ops[0], (ast.In, ast.NotIn, ast.Eq, ast.NotEq)):
                return self._about(left, right) or self._about(right, left)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TESTS:
            if dotted(node.func.value) == "re" and len(node.args) > 1:
                return self._about(node.args[0], node.args[1])
            return bool(node.args) and self._about(node.args[0], node.func.value)
        return False

    def _about(self, text: ast.expr, name: ast.expr) -> bool:
        """A text (or several, or one that a comprehension goes through) against the name of a checkpoint."""
        texts = [n for n in ast.walk(text) if isinstance(n, ast.Constant) and isinstance(n.value, str) and n.value]
        looped = isinstance(text, ast.Name) and any(
            isinstance(n, (ast.GeneratorExp, ast.ListComp)) and dotted(n.generators[0].target) == text.id
            for n in self.nodes
        )
        plain = isinstance(text, (ast.Constant, ast.Tuple, ast.List, ast.Set))
        return ((plain and bool(texts)) or looped) and self._holds(name, self.names)

    def _leaves_by_keys(self, node: ast.AST) -> bool:
        """Whether a node hands the names of tensors to what decides: ``layout = infer(keys)``, ``if "x" in keys``."""
        calls = [n for _, value in parts_of(node) if value is not None for n in ast.walk(value)]
        for call in calls:
            if isinstance(call, ast.Call):
                words = {_last(part) for word in (call.func, *call.args) for part in ast.walk(word)}
                given = any("state_dict" in word for word in words) and _INFERS.search(_last(call.func))
                if given or any(_KEYS.search(word) for word in words):
                    return True
        return isinstance(node, ast.If) and any(_KEYS.search(_last(n)) for n in ast.walk(node.test))


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
