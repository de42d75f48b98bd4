"""Masks and media that a ``forward`` accepts, and that nothing behind it ever looks at."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from automodel_lint.domain.child_calls import Below
from automodel_lint.domain.forward import NAME, Forward
from automodel_lint.domain.missing_methods import places_below
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import branches, nodes_on, parts_of, statements_here
from automodel_lint.inference.classes import FunctionView, MethodView
from automodel_lint.inference.module_tree import ModuleNode
from automodel_lint.inference.names import FunctionEntity, all_arguments

_MASK = re.compile(r"(^|_)masks?$")
_MEDIA = re.compile(
    r"^(pixel|image|images|imgs|video|videos|audio|sound|vision)_|(^|_)(pixels?|images?|videos?|audios?)$|_grid_|"
    r"grid_(thw|hw)s?$|^(input|audio|sound|image|video)_features$|second_per_grid"
)
_KINDS = {"video": "video", "image": "image", "pixel": "image", "audio": "audio", "sound": "audio"}
_DEEPEST = 6


@dataclass(frozen=True, eq=False)
class Dropped:
    """An ``argument`` of a ``forward`` that is lost in ``view``: there or on the way there it is only handed on."""

    argument: str
    view: MethodView
    parameter: str


def dropped_arguments(model: ModelClass, forward: Forward) -> Iterator[Dropped]:
    """Yield the mask and media arguments of a ``forward`` that end nowhere."""
    for argument in all_arguments(forward.view.node.args):
        if is_mask_or_media(argument.arg) and argument not in (
            forward.view.node.args.vararg,
            forward.view.node.args.kwarg,
        ):
            lost = _Follower(model).lost(forward.view, argument.arg, [model.module_tree.root])
            if lost is not None and not _is_refused(*lost):
                yield Dropped(argument.arg, *lost)


def is_mask_or_media(name: str) -> bool:
    """Tell by its name whether an argument says which tokens count, or is what is seen and heard."""
    return bool(_MASK.search(name) or _MEDIA.search(name))


def _is_refused(view: MethodView, parameter: str) -> bool:
    """Whether a function does nothing but raise for another argument of the same medium: no grid is needed of it."""
    medium = _medium(parameter)
    others = {a.arg for a in all_arguments(view.node.args) if medium and _medium(a.arg) == medium} - {parameter}
    choices = [s for s in statements_here(view.node.body) if isinstance(s, ast.If)] if others else []
    refusing = [c.test for c in choices if any(isinstance(s, ast.Raise) for s in c.body)]
    for name in sorted(others):
        tests = [test for test in refusing if _asks_only_for(test, {name})]
        read = sum(isinstance(n, ast.Name) and n.id == name for n in view.walk())
        if tests and read == sum(isinstance(n, ast.Name) and n.id == name for test in tests for n in ast.walk(test)):
            return True
    return False


def _asks_only_for(test: ast.expr, names: set[str]) -> bool:
    """``name is not None`` for one of the names, whatever else is the case."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(_asks_only_for(value, names) for value in test.values)
    is_not = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot)
    return is_not and isinstance(test.left, ast.Name) and test.left.id in names  # type: ignore[attr-defined]


def _medium(name: str) -> str | None:
    return next((medium for word, medium in _KINDS.items() if word in name), None)


Lost = tuple[MethodView, str]


class _Follower:
    """Follows one argument through a function and all that it is handed on to."""

    def __init__(self, model: ModelClass):
        self.model, self.classes = model, model.classes
        self._running: list[tuple[ast.AST, str]] = []

    def lost(self, view: MethodView, name: str, at: Sequence[ModuleNode]) -> Lost | None:
        """Return where an argument is lost that a function gets; ``None`` if something uses it, or may."""
        key = (view.node, name)
        if key in self._running or len(self._running) > _DEEPEST:
            return None
        self._running.append(key)
        uses = _Uses(view, name)
        found: Lost | None = None if uses.looked_at else (view, name)
        for call, argument in uses.handed if found is not None else ():
            found = self._lost_behind(view, call, argument, at)
            if found is None:
                break
        self._running.pop()
        return found

    def _lost_behind(
        self, view: MethodView, call: ast.Call, argument: ast.expr, at: Sequence[ModuleNode]
    ) -> Lost | None:
        found: Lost | None = None
        callees = self._callees(view, call, at)
        for callee, nodes in callees or ():
            parameter = _parameter(callee, call, argument)
            found = self.lost(callee, parameter, nodes) if parameter is not None else None
            if found is None:
                return None
        return found

    def _callees(
        self, view: MethodView, call: ast.Call, at: Sequence[ModuleNode]
    ) -> list[tuple[MethodView, Sequence[ModuleNode]]] | None:
        """All that a call can lead to, each with the modules whose code it is; ``None`` if that cannot be told."""
        callee = view.callee(call)
        if isinstance(callee, FunctionEntity):
            return [(FunctionView(view, callee), at)] if self._is_ours(callee.scope.module.name) else None
        if callee is not None:
            return [(callee, at)] if self.classes.in_checkout(callee.owner) else None
        path = None if isinstance(view, FunctionView) else Below(view).path(_called(call.func))
        found: list[tuple[MethodView, Sequence[ModuleNode]]] = []
        for node in at if path else ():
            below = places_below(node, path or "")
            if not below:
                return None
            for child in below:
                members, opaque = self.classes.find(child.cls, NAME) if child.cls is not None else ([], True)
                if opaque or len(members) != 1 or members[0].function is None:
                    return None
                if not self.classes.in_checkout(members[0].owner):
                    return None
                found.append((MethodView(self.classes, child.cls, members[0]), [child]))  # type: ignore[arg-type]
        return found or None

    def _is_ours(self, module: str) -> bool:
        found = self.classes.names.module(module)
        return found is not None and self.classes.names.in_roots(found)


def _called(func: ast.expr) -> ast.expr:
    """``self.model.forward`` calls ``self.model``."""
    return func.value if isinstance(func, ast.Attribute) and func.attr == NAME else func


def _parameter(callee: MethodView, call: ast.Call, argument: ast.expr) -> str | None:
    """The parameter that an argument of a call fills: its own, or ``**kwargs``."""
    signature = callee.node.args
    names = [a.arg for a in (*signature.posonlyargs, *signature.args)]
    if callee.self_name and names[:1] == [callee.self_name] and not isinstance(callee, FunctionView):
        names = names[1:]
    if argument in call.args:
        index = call.args.index(argument)
        starred = any(isinstance(a, ast.Starred) for a in call.args[:index])
        return names[index] if index < len(names) and not starred else None
    keyword = next(k.arg for k in call.keywords if k.value is argument)
    if any(a.arg == keyword for a in (*signature.posonlyargs, *signature.args, *signature.kwonlyargs)):
        return keyword
    return signature.kwarg.arg if signature.kwarg else None


def _last_line(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> int:
    """The last line of a function in which its parameter is still the one that was given."""
    for statement in function.body:
        bound = {target for target, _ in parts_of(statement)}
        if name in bound and not any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(statement.value)):  # type: ignore[attr-defined]
            return statement.lineno - 1
    return function.end_lineno or function.lineno


class _Uses:
    """What a function does with one of its parameters.

    ``handed`` are the calls that it is an argument of, as it is; ``looked_at`` says whether anything else is done with
    it. To put it under another name is nothing as long as that is not used; to ask whether it is there is nothing as
    long as nothing but that follows.
    """

    def __init__(self, view: MethodView, name: str):
        self.handed: list[tuple[ast.Call, ast.expr]] = []
        self.looked_at = False
        self._view, self._names = view, set[str]()
        self._last = _last_line(view.node, name)
        self._parents: dict[int, ast.AST] = {}
        self._todo = [name, "locals", "vars"]
        while self._todo and not self.looked_at:
            current = self._todo.pop(0)
            if current not in self._names:
                self._names.add(current)
                self._look(current)

    def _look(self, name: str) -> None:
        """Look at the nodes around the lines that mention a name; all else is no use of it."""
        first = self._view.node.body[0].lineno
        text = self._view.classes.tree.lines(self._view.module.path)[first - 1 : self._last]
        lines = {number for number, line in enumerate(text, first) if name in line}
        found: list[ast.Name] = []
        for node in nodes_on(self._view.node, lines) if lines else ():
            self._parents.update((id(child), node) for child in ast.iter_child_nodes(node))
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                found.append(node)
        everything = name in ("locals", "vars")
        self.looked_at = bool(found) if everything else not all(self._is_nothing(load) for load in found)

    def _is_nothing(self, load: ast.Name) -> bool:
        """Whether a read is none in itself: handed on as it is, put under another name, asked whether it is there."""
        parent = self._parents.get(id(load))
        if isinstance(parent, ast.keyword):
            call = self._parents.get(id(parent))
            return parent.arg is not None and isinstance(call, ast.Call) and self._hand(call, load)
        if isinstance(parent, ast.Call) and load in parent.args:
            return self._hand(parent, load)
        if isinstance(parent, ast.Expr):
            return True
        return self._is_renamed(load) or self._is_question(load)

    def _hand(self, call: ast.Call, load: ast.Name) -> bool:
        self.handed.append((call, load))
        return True

    def _is_renamed(self, load: ast.AST) -> bool:
        """``other = name``, ``_ = (name, …)``: used if the other names are."""
        parent = self._parents.get(id(load))
        while isinstance(parent, (ast.Tuple, ast.IfExp)):
            load, parent = parent, self._parents.get(id(parent))
        if not isinstance(parent, (ast.Assign, ast.AnnAssign)) or parent.value is not load:
            return False
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        names = [n for t in targets for n in (t.elts if isinstance(t, ast.Tuple) else [t])]
        if not all(isinstance(n, ast.Name) for n in names):
            return False
        self._todo += [n.id for n in names if isinstance(n, ast.Name)]
        return True

    def _is_question(self, load: ast.Name) -> bool:
        """``if name is None: name = …``: nothing but the name itself depends on it."""
        parent = self._parents.get(id(load))
        if not isinstance(parent, ast.Compare) or not isinstance(parent.ops[0], (ast.Is, ast.IsNot)):
            return False
        choice = self._parents.get(id(parent))
        if not isinstance(choice, ast.If) or choice.test is not parent:
            return False
        inside = [statement for branch, _ in branches(choice) for statement in branch]
        return all(isinstance(s, ast.Assign) and [ast.unparse(t) for t in s.targets] == [load.id] for s in inside)
