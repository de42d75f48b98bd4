"""A model's own ``from_pretrained``: may the caller change the config, and is a flip of the tie flag refused?"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.domain.tying import FLAG, FLIP_GUARD
from automodel_lint.inference.bindings import dotted, parts_of, walk_here
from automodel_lint.inference.classes import MethodView
from automodel_lint.inference.names import FunctionEntity, Scope, all_arguments

_TAKES = ("pop", "get", "setdefault")


class Loading:
    """One ``from_pretrained`` with the helpers of the checkout that it calls."""

    def __init__(self, view: MethodView):
        self.view = view
        self.names = view.classes.names

    def refuses_flip(self) -> bool:
        """Tell whether it, or a helper it calls, compares the tie flags of checkpoint and request."""
        return any(self.names.leads_to(c, scope, FLIP_GUARD) for c, scope in self._calls())

    def changed_by(self) -> str | None:
        """Return how the caller can change the config (in words), or ``None`` if only the checkpoint's own is used."""
        arguments = {a.arg for a in all_arguments(self.view.node.args)}
        for word in ("config", FLAG):
            if word in arguments:
                return f"takes a `{word}`"
        caller = self.view.node.args.kwarg.arg if self.view.node.args.kwarg else ""
        dropped = {id(n.value) for n in self.view.walk() if isinstance(n, ast.Expr)}
        for node in self.view.walk() if caller else ():
            if id(node) in dropped:
                continue
            if _takes(node, caller, "config"):
                return f"takes a `config` out of `**{caller}`"
            if _takes(node, caller, FLAG):
                return f"takes `{FLAG}` out of `**{caller}`"
        own = {a.arg for a in [*self.view.node.args.posonlyargs, *self.view.node.args.args][:1]}
        return self._forwards(self.view, arguments - own, 0)

    def _forwards(self, view: MethodView | FunctionEntity, given: set[str], depth: int) -> str | None:
        """Caller-given keyword arguments, or a dict taken out of them, that reach the making of a config."""
        scope = view.scope if isinstance(view, MethodView) else view.scope.entered(view.node.body, view.node.args)
        for node in _walk(view):
            self._follow(node, given)
            if isinstance(node, ast.For) and _sets_each(node, given):
                return f"sets every one of `{ast.unparse(node.iter)}` on the config"
            if not isinstance(node, ast.Call):
                continue
            spread = [dotted(k.value) for k in node.keywords if k.arg is None and dotted(k.value) in given]
            spread += [ast.unparse(k.value) for k in node.keywords if k.arg is None and _taken_from(k.value, given)]
            if spread and self._makes_config(node, scope):
                return f"forwards `**{spread[0]}` into `{ast.unparse(node.func)}`"
            changes = self._changes_config(node, given)
            if changes:
                return changes
            if spread and depth < 2 and isinstance(view, MethodView):
                found = self._helper(view, node, depth)
                if found:
                    return found
        return None

    def _helper(self, view: MethodView, call: ast.Call, depth: int) -> str | None:
        callee = view.callee(call)
        if callee is None or callee.node.args.kwarg is None or callee.node.name in ("from_pretrained", "from_config"):
            return None
        return self._forwards(callee, {callee.node.args.kwarg.arg}, depth + 1)

    @staticmethod
    def _follow(node: ast.AST, given: set[str]) -> None:
        """Names that hold the caller's arguments: aliases, copies, dicts taken out of them or filled from them."""
        for name, value in parts_of(node):
            if value is not None and (
                dotted(value) in given or _taken_from(value, given) or _copied_from(value, given)
            ):
                given.add(name)

    def _makes_config(self, call: ast.Call, scope: Scope) -> bool:
        """``…Config.from_pretrained(…)``, ``cls.config_class.from_pretrained(…)``, ``…Config(…)``."""
        name = dotted(call.func)
        owner, _, method = name.rpartition(".")
        if method in ("from_pretrained", "from_dict"):
            assert isinstance(call.func, ast.Attribute)
            fqns = self.names.fqns(call.func.value, scope) | {owner}
            return any(f.rpartition(".")[2].endswith(("Config", "config_class")) for f in fqns)
        return any(f.rpartition(".")[2].endswith("Config") for f in self.names.fqns(call.func, scope))

    @staticmethod
    def _changes_config(call: ast.Call, given: set[str]) -> str | None:
        owner, _, method = dotted(call.func).rpartition(".")
        handed = [dotted(a) for a in call.args] + [dotted(k.value) for k in call.keywords if k.arg is None]
        if method == "update" and "config" in owner.lower() and any(h in given for h in handed):
            return f"updates `{owner}` from the caller's arguments"
        return None

    def _calls(self) -> Iterator[tuple[ast.Call, Scope]]:
        seen: list[ast.AST] = []
        todo: list[tuple[MethodView | FunctionEntity, int]] = [(self.view, 0)]
        while todo:
            view, depth = todo.pop()
            if view.node in seen:
                continue
            seen.append(view.node)
            scope = view.scope if isinstance(view, MethodView) else view.scope.entered(view.node.body, view.node.args)
            for node in _walk(view):
                if isinstance(node, ast.Call):
                    yield node, scope
                    callee = view.callee(node) if depth < 3 and isinstance(view, MethodView) else None
                    if callee is not None:
                        todo.append((callee, depth + 1))


def _keeps_options(test: ast.expr) -> bool:
    """``key in ("revision", "token")``: only options that are written out pass, and the flag is none of them."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.In):
        return False
    words = {n.value for n in ast.walk(test.comparators[0]) if isinstance(n, ast.Constant)}
    return not words & {FLAG, "config"}


def _walk(view: MethodView | FunctionEntity) -> Iterator[ast.AST]:
    for statement in view.node.body:
        yield from walk_here(statement)


def _sets_each(loop: ast.For, given: set[str]) -> bool:
    """``for key, value in kwargs.items(): setattr(config, key, value)``."""
    source = loop.iter
    if not isinstance(source, ast.Call) or not isinstance(source.func, ast.Attribute):
        return False
    sets = [n for n in ast.walk(loop) if isinstance(n, ast.Call) and dotted(n.func) == "setattr" and n.args]
    return dotted(source.func.value) in given and any("config" in dotted(n.args[0]).lower() for n in sets)


def _takes(node: ast.AST, mapping: str, key: str) -> bool:
    """``kwargs.pop("config", …)``, ``kwargs.get("config")``, ``kwargs["config"]``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TAKES:
        first = node.args[0] if node.args else None
        return dotted(node.func.value) == mapping and isinstance(first, ast.Constant) and first.value == key
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return dotted(node.value) == mapping and isinstance(node.slice, ast.Constant) and node.slice.value == key
    return False


def _taken_from(value: ast.expr, given: set[str]) -> bool:
    """A dict taken whole out of the arguments: ``kwargs.pop("config_kwargs", {})``."""
    if isinstance(value, ast.BoolOp):
        return any(_taken_from(v, given) for v in value.values)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _TAKES:
        return dotted(value.func.value) in given
    return isinstance(value, ast.Subscript) and dotted(value.value) in given


def _copied_from(value: ast.expr, given: set[str]) -> bool:
    """``dict(kwargs)``, ``kwargs.copy()``, ``{**kwargs}``, or a comprehension over all of them.

    A comprehension that keeps a written-out list of loading options (and not the flag) is no copy.
    """
    if isinstance(value, ast.Call):
        owner, _, method = dotted(value.func).rpartition(".")
        if method in ("copy", "deepcopy") and owner in given:
            return True
        return method in ("dict", "copy", "deepcopy") and any(dotted(a) in given for a in value.args)
    if isinstance(value, ast.Dict):
        return any(k is None and dotted(v) in given for k, v in zip(value.keys, value.values, strict=True))
    if isinstance(value, ast.DictComp):
        source = value.generators[0].iter
        if isinstance(source, (ast.Tuple, ast.List, ast.Set)):
            words = [e.value for e in source.elts if isinstance(e, ast.Constant)]
            return FLAG in words or "config" in words
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute):
            return dotted(source.func.value) in given and not any(map(_keeps_options, value.generators[0].ifs))
    return False
