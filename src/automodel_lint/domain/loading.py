"""A model's own ``from_pretrained``: may the caller change the config, and is a flip of the tie flag refused?"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from automodel_lint.domain.constructor import is_config_type
from automodel_lint.domain.tie_flag import FLAG
from automodel_lint.inference.bindings import dotted, parts_of, walk_here
from automodel_lint.inference.classes import MethodView
from automodel_lint.inference.names import FunctionEntity, Scope, Value, all_arguments

FLIP_GUARD = "reject_tie_word_embeddings_flip"
_TAKES = ("pop", "get", "setdefault")
_CONFIG_NAME = re.compile(r"^(hf_|model_)?(config|cfg)$")
_DEEPEST = 2


class Loading:
    """One ``from_pretrained`` with the helpers of the checkout that it calls."""

    def __init__(self, view: MethodView):
        self.view = view
        self.names = view.classes.names

    def refuses_flip(self) -> bool:
        """Tell whether it, or a helper it calls, compares the tie flags of checkpoint and request."""
        return self.refusal() is not None

    def refusal(self) -> tuple[str, ast.Call] | None:
        """Return the call that compares the tie flags, and the file that it stands in; ``None`` if there is none."""
        found = ((s.module.path, c) for c, s in self._calls() if self.names.leads_to(c, s, FLIP_GUARD))
        return next(found, None)

    def changed_by(self) -> str | None:
        """Return how the caller can change the config (in words), or ``None`` if only the checkpoint's own is used."""
        arguments = all_arguments(self.view.node.args)[1:]
        for argument in arguments:
            annotated = argument.annotation is not None and is_config_type(argument.annotation)
            if (_CONFIG_NAME.match(argument.arg) or annotated or argument.arg == FLAG) and self._uses(argument.arg):
                return f"takes a `{argument.arg}`"
        caller = self.view.node.args.kwarg.arg if self.view.node.args.kwarg else ""
        dropped = self._dropped()
        for node in self.view.walk() if caller else ():
            for word in ("config", FLAG):
                if id(node) not in dropped and _takes(node, caller, word):
                    return f"takes {'a `config`' if word == 'config' else f'`{FLAG}`'} out of `**{caller}`"
        return self._forwards(self.view, {a.arg for a in arguments}, 0)

    def _uses(self, name: str) -> bool:
        """Whether a parameter does more than be refused (``if config is not None: raise``)."""
        refused = {
            id(n)
            for s in self.view.node.body
            if isinstance(s, ast.If) and not s.orelse and all(isinstance(b, ast.Raise) for b in s.body)
            for n in ast.walk(s)
        }
        loads = (n for n in self.view.walk() if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        return any(n.id == name and id(n) not in refused for n in loads)

    def _dropped(self) -> set[int]:
        """Values that nobody looks at: statements of their own, and what is bound to ``_``."""
        found = {id(n.value) for n in self.view.walk() if isinstance(n, ast.Expr)}
        return found | {id(v) for n in self.view.walk() for name, v in parts_of(n) if name == "_"}

    # -- what the caller gives reaches the config ---------------------------------------------------------------------

    def _forwards(self, view: MethodView | FunctionEntity, given: set[str], depth: int) -> str | None:
        scope = _scope(view)
        configs = {"config", "cfg"}
        for node in _walk(view):
            self._follow(node, given, configs, scope)
            found = self._sets(node, given, configs)
            if found is None and isinstance(node, ast.Call):
                found = self._call(node, given, configs, scope)
                if found is None and depth < _DEEPEST and isinstance(view, MethodView):
                    found = self._helper(view, node, given, depth)
            if found is not None:
                return found
        return None

    def _call(self, call: ast.Call, given: set[str], configs: set[str], scope: Scope) -> str | None:
        spread = [k.value for k in call.keywords if k.arg is None and _is_given(k.value, given)]
        if spread and self._makes_config(call, scope):
            return f"forwards `**{ast.unparse(spread[0])}` into `{ast.unparse(call.func)}`"
        owner, _, method = dotted(call.func).rpartition(".")
        handed = [*call.args, *(k.value for k in call.keywords if k.arg is None)]
        if method == "update" and owner in configs and any(_is_given(a, given) for a in handed):
            return f"updates `{owner}` from the caller's arguments"
        return None

    @staticmethod
    def _sets(node: ast.AST, given: set[str], configs: set[str]) -> str | None:
        """``config.tie_word_embeddings = tie``, and a loop that sets every one of the caller's arguments."""
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Attribute):
            sets = [n for n in ast.walk(node) if isinstance(n, ast.Call) and dotted(n.func) == "setattr" and n.args]
            if _is_given(node.iter.func.value, given) and any(dotted(n.args[0]) in configs for n in sets):
                return f"sets every one of `{ast.unparse(node.iter)}` on the config"
        for name, value in parts_of(node):
            owner, _, attribute = name.rpartition(".")
            if attribute == FLAG and owner in configs and value is not None and _mentions(value, given):
                return f"sets `{name}` from the caller's arguments"
        return None

    def _helper(self, view: MethodView, call: ast.Call, given: set[str], depth: int) -> str | None:
        callee = view.callee(call)
        if callee is None or callee.node.name in ("from_pretrained", "from_config", "__init__"):
            return None
        arguments = callee.node.args
        bound = 1 if isinstance(callee, MethodView) else 0
        positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)][bound:]
        handed = {p for p, a in zip(positional, call.args, strict=False) if _is_given(a, given)}
        handed |= {k.arg for k in call.keywords if k.arg and _is_given(k.value, given)}
        if arguments.kwarg is not None and any(k.arg is None and _is_given(k.value, given) for k in call.keywords):
            handed.add(arguments.kwarg.arg)
        return self._forwards(callee, handed, depth + 1) if handed else None

    def _follow(self, node: ast.AST, given: set[str], configs: set[str], scope: Scope) -> None:
        """Names that hold the caller's arguments (aliases, copies, dicts taken out of them), and names of configs."""
        for name, value in parts_of(node):
            if value is None:
                continue
            if _is_given(value, given) or _copied_from(value, given):
                given.add(name)
            elif not _mentions(value, given):
                given.discard(name)
            if isinstance(value, ast.Call) and self._makes_config(value, scope):
                configs.add(name)

    def _makes_config(self, call: ast.Call, scope: Scope) -> bool:
        """``…Config.from_pretrained(…)``, ``cls.config_class.from_pretrained(…)``, ``…Config(…)``."""
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("from_pretrained", "from_dict"):
            return self._is_config_class(call.func.value, scope)
        return self._is_config_class(call.func, scope) and not isinstance(call.func, ast.Attribute)

    def _is_config_class(self, expr: ast.expr, scope: Scope) -> bool:
        words = self.names.fqns(expr, scope) | {dotted(expr)}
        for entity in self.names.resolve(expr, scope):
            if isinstance(entity, Value) and entity.expr is not expr:
                words.add(dotted(entity.expr))
        bound = [b.node for f in scope.frames for b in f.live(dotted(expr)) if isinstance(b.node, ast.expr)]
        words |= {dotted(node) for node in bound}
        return any(word.rpartition(".")[2].endswith(("Config", "config_class")) for word in words)

    def _calls(self) -> Iterator[tuple[ast.Call, Scope]]:
        seen: list[ast.AST] = []
        todo: list[tuple[MethodView | FunctionEntity, int]] = [(self.view, 0)]
        while todo:
            view, depth = todo.pop()
            if view.node in seen:
                continue
            seen.append(view.node)
            scope = _scope(view)
            for node in _walk(view):
                if isinstance(node, ast.Call):
                    yield node, scope
                    callee = view.callee(node) if depth < 3 and isinstance(view, MethodView) else None
                    if callee is not None:
                        todo.append((callee, depth + 1))


def _scope(view: MethodView | FunctionEntity) -> Scope:
    """The names that the body of ``view`` sees."""
    return view.scope if isinstance(view, MethodView) else view.scope.entered(view.node.body, view.node.args)


def _walk(view: MethodView | FunctionEntity) -> Iterator[ast.AST]:
    for statement in view.node.body:
        yield from walk_here(statement)


def _takes(node: ast.AST, mapping: str, key: str) -> bool:
    """``kwargs.pop("config", …)``, ``kwargs.get("config")``, ``kwargs["config"]``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TAKES:
        first = node.args[0] if node.args else None
        return dotted(node.func.value) == mapping and isinstance(first, ast.Constant) and first.value == key
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return dotted(node.value) == mapping and isinstance(node.slice, ast.Constant) and node.slice.value == key
    return False


def _is_given(value: ast.expr, given: set[str]) -> bool:
    """The caller's arguments themselves, or a dict taken whole out of them: ``kwargs.pop("config_kwargs", {})``."""
    if isinstance(value, (ast.BoolOp, ast.IfExp)):
        parts = value.values if isinstance(value, ast.BoolOp) else [value.body, value.orelse]
        return any(_is_given(part, given) for part in parts)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _TAKES:
        return dotted(value.func.value) in given
    if isinstance(value, ast.Subscript):
        return dotted(value.value) in given
    return dotted(value) in given


def _mentions(value: ast.expr, given: set[str]) -> bool:
    return any(isinstance(n, ast.Name) and n.id in given for n in ast.walk(value))


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


def _keeps_options(test: ast.expr) -> bool:
    """``key in ("revision", "token")``: only options that are written out pass, and the flag is none of them."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.In):
        return False
    words = {n.value for n in ast.walk(test.comparators[0]) if isinstance(n, ast.Constant)}
    return not words & {FLAG, "config"}
