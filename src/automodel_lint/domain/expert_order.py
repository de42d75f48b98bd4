"""Whether an adapter puts experts together in the order of texts, in which expert 10 comes before expert 2."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from automodel_lint.domain.adapter import Adapter
from automodel_lint.domain.adapter_code import code_of, lines_of, nodes_with
from automodel_lint.domain.key_text import pattern_text, takes_digits
from automodel_lint.domain.loose_adapter import Alone, LooseAdapter
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import dotted
from automodel_lint.inference.classes import MethodView, asked

_SORTS = re.compile(r"\bsorted\(|\.sort\(")
_JOINS = re.compile(r"\b(?:torch\.)?(?:stack|cat|concat|concatenate|vstack|hstack)\(")
_EXPERT = re.compile(r"expert|\be?ids?\b|_ids?\b|\bidx", re.I)
_SPLITS = ("split", "rsplit", "partition", "rpartition")
_MATCHES = ("match", "search", "fullmatch")
_DEEPEST = 8

Path = tuple[str, int]  # a container by its name, and how many times it was indexed
TEXT, NUMBER = "text", "number"  # a text that stands for a number, and a number


def text_sorts(model: ModelClass | LooseAdapter, adapter: Adapter | Alone) -> Iterator[tuple[MethodView, ast.Call]]:
    """Yield the calls that sort the texts by which the tensors of experts are kept, where these are then joined."""
    for view in code_of(model, adapter):
        yield from ((view, node) for node in asked(view, _text_sorts))


def _text_sorts(view: MethodView) -> tuple[ast.Call, ...]:
    sorts = [(node, _sorted(node)) for node in nodes_with(view, _SORTS) if isinstance(node, ast.Call)]
    sorts = [(node, listed) for node, listed in sorts if listed is not None]
    if not sorts or not any(_JOINS.search(line) for line in lines_of(view)):
        return ()
    keys = _Keys(view)
    return tuple(node for node, listed in sorts if keys.listed(listed) == TEXT)  # type: ignore[arg-type]


def _sorted(call: ast.Call) -> ast.expr | None:
    """What a call sorts by its own order."""
    if any(keyword.arg == "key" for keyword in call.keywords):
        return None
    if dotted(call.func) == "sorted":
        return call.args[0] if call.args else None
    return call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "sort" else None


class _Bound(NamedTuple):
    """What a name stands for from a line on: a value, one part of it, or what a loop takes out of a collection."""

    line: int
    value: ast.expr
    index: int | None = None
    looped: str = ""


class _Keys:
    """What the containers of one function are keyed by."""

    def __init__(self, view: MethodView):
        self.view = view
        self.nodes = [view.node, *view.walk()]
        self.bound: dict[str, list[_Bound]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                self._bind(node.targets[0], node.value)
            elif isinstance(node, (ast.NamedExpr, ast.AnnAssign)) and node.value is not None:
                self._bind(node.target, node.value)
            elif isinstance(node, (ast.For, ast.comprehension)):
                self._loop(node.target, node.iter)

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.bound.setdefault(target.id, []).append(_Bound(target.lineno, value))
        elif isinstance(target, ast.Tuple):
            same = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
            for index, element in enumerate(target.elts):
                if isinstance(element, ast.Name):
                    part = _Bound(target.lineno, value.elts[index]) if same else _Bound(target.lineno, value, index)  # type: ignore[attr-defined]
                    self.bound.setdefault(element.id, []).append(part)

    def _loop(self, target: ast.expr, looped: ast.expr) -> None:
        owner, how = looped, "keys"
        if isinstance(looped, ast.Call) and isinstance(looped.func, ast.Attribute):
            if looped.func.attr not in ("keys", "values", "items"):
                return
            owner, how = looped.func.value, looped.func.attr
        pair = isinstance(target, ast.Tuple) and how == "items" and len(target.elts) == 2
        parts = zip(target.elts, ("keys", "values")) if pair else [(target, how)]  # type: ignore[attr-defined]  # noqa: B905
        for element, part in parts:
            if isinstance(element, ast.Name):
                self.bound.setdefault(element.id, []).append(_Bound(element.lineno, owner, looped=part))

    def _last(self, name: ast.Name) -> _Bound | None:
        """What was bound to a name last before a place."""
        before = [bound for bound in self.bound.get(name.id, ()) if bound.line <= name.lineno]
        return max(before, key=lambda bound: bound.line, default=None)

    def listed(self, expr: ast.expr, depth: int = 0) -> str | None:
        """Return what a collection holds: texts that stand for numbers, numbers, or nobody knows (``None``)."""
        if depth > _DEEPEST:
            return None
        if isinstance(expr, ast.Call):
            if isinstance(expr.func, ast.Attribute) and expr.func.attr in ("keys", "items"):
                return self._keyed(self._path(expr.func.value))
            if dotted(expr.func) in ("list", "set", "tuple", "dict", "sorted") and len(expr.args) == 1:
                return self.listed(expr.args[0], depth + 1)
            return None
        if isinstance(expr, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            about = " ".join(ast.unparse(test) for generator in expr.generators for test in generator.ifs)
            return TEXT if "expert" in about and _are_keys(expr) else self._kind(expr.elt, about, depth + 1)
        if isinstance(expr, ast.BinOp) and isinstance(expr.op, (ast.BitOr, ast.BitAnd)):
            return _one({self.listed(side, depth + 1) for side in (expr.left, expr.right)})
        known = self._keyed(self._path(expr))
        last = self._last(expr) if isinstance(expr, ast.Name) and known is None else None
        return self.listed(last.value, depth + 1) if last is not None and not last.looped else known

    def _keyed(self, path: Path | None) -> str | None:
        """What a container is keyed by, if all that is put into it agrees."""
        if path is None:
            return None
        return _one({self._kind(key, path[0], 0) for key, owner in self._stores() if self._path(owner) == path})

    def _stores(self) -> Iterator[tuple[ast.expr, ast.expr]]:
        """Every key that is put into a container, with the container."""
        for node in self.nodes:
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                yield node.slice, node.value
            elif isinstance(node, ast.Call) and _calls(node, ("setdefault", "add", "append")) and node.args:
                yield node.args[0], node.func.value  # type: ignore[attr-defined]

    def _path(self, expr: ast.expr, depth: int = 0) -> Path | None:
        """Which container an expression is, seen through aliases, loops and ``setdefault``."""
        if depth > _DEEPEST:
            return None
        if isinstance(expr, ast.Subscript):
            return _inside(self._path(expr.value, depth + 1))
        if isinstance(expr, ast.Call):
            known = isinstance(expr.func, ast.Attribute) and expr.func.attr in ("setdefault", "get")
            return _inside(self._path(expr.func.value, depth + 1)) if known else None  # type: ignore[attr-defined]
        if isinstance(expr, ast.Name):
            last = self._last(expr)
            if last is not None and last.looped:
                return _inside(self._path(last.value, depth + 1)) if last.looped == "values" else None
            seen = last is not None and isinstance(last.value, (ast.Name, ast.Subscript, ast.Call))
            return (self._path(last.value, depth + 1) if seen and last is not None else None) or (expr.id, 0)
        name = dotted(expr)
        return (name, 0) if name else None

    def _kind(self, expr: ast.expr, about: str, depth: int, part: int | None = None) -> str | None:
        """Whether an expression (or one part of it) is a number, or a text that stands for one."""
        if depth > _DEEPEST:
            return None
        if isinstance(expr, ast.Constant):
            return NUMBER if isinstance(expr.value, int) else None
        if isinstance(expr, ast.JoinedStr):
            made = any(isinstance(value, ast.FormattedValue) for value in expr.values)
            return TEXT if made and _EXPERT.search(about) else None
        if isinstance(expr, ast.Call):
            if dotted(expr.func) in ("int", "len"):
                return NUMBER
            if dotted(expr.func) == "str" and expr.args:
                return TEXT if self._kind(expr.args[0], about, depth + 1) else None
        found = self._matched(expr, part)
        if found is not None:
            return found
        if self._is_piece(expr) or (part is not None and isinstance(expr, ast.Call) and _calls(expr, _SPLITS)):
            return TEXT if _EXPERT.search(about) else None
        if isinstance(expr, ast.Name):
            last = self._last(expr)
            known = last is not None and not last.looped
            return self._kind(last.value, f"{about} {expr.id}", depth + 1, last.index) if known and last else None
        return None

    def _matched(self, expr: ast.expr, part: int | None) -> str | None:
        """A group of a match that takes digits: ``match.group(2)``, ``match[2]``, ``a, b = match.groups()``."""
        match: ast.expr | None = None
        group: int | str | None = None
        if isinstance(expr, ast.Subscript) and isinstance(expr.slice, ast.Constant):
            match, group = expr.value, expr.slice.value
            if isinstance(match, ast.Call) and _calls(match, ("groups",)) and isinstance(group, int):
                match, group = match.func.value, group + 1  # type: ignore[attr-defined]
        elif isinstance(expr, ast.Call) and _calls(expr, ("group",)) and len(expr.args) == 1:
            match = expr.func.value  # type: ignore[attr-defined]
            group = expr.args[0].value if isinstance(expr.args[0], ast.Constant) else None
        elif isinstance(expr, ast.Call) and _calls(expr, ("groups", "group")) and part is not None:
            match, group = expr.func.value, part + 1  # type: ignore[attr-defined]
        last = self._last(match) if isinstance(match, ast.Name) else None
        made = last.value if last is not None else match
        if group is None or not isinstance(made, ast.Call) or not _calls(made, _MATCHES):
            return None
        pattern = pattern_text(self.view, made)
        return TEXT if pattern is not None and takes_digits(pattern, group) else None

    def _is_piece(self, expr: ast.expr) -> bool:
        """``key.split(".")[5]``, the list under whatever name."""
        if not isinstance(expr, ast.Subscript):
            return False
        last = self._last(expr.value) if isinstance(expr.value, ast.Name) else None
        made = last.value if last is not None else expr.value
        return isinstance(made, ast.Call) and _calls(made, _SPLITS)


def _are_keys(comprehension: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> bool:
    """``[key for key in state_dict if …]``: whole names of tensors."""
    loop = comprehension.generators[0]
    called = isinstance(loop.iter, ast.Call) and isinstance(loop.iter.func, ast.Attribute)
    owner = loop.iter.func.value if called else loop.iter  # type: ignore[attr-defined]
    first = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) else loop.target
    return dotted(comprehension.elt) == dotted(first) != "" and "state_dict" in dotted(owner)


def _inside(path: Path | None) -> Path | None:
    return (path[0], path[1] + 1) if path is not None else None


def _one(kinds: set[str | None]) -> str | None:
    return kinds.pop() if len(kinds) == 1 else None


def _calls(call: ast.Call, names: tuple[str, ...]) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in names
