"""What the statements of a constructor do to its config, and what they build."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from automodel_lint.inference.bindings import dotted, parts_of, walk_here
from automodel_lint.inference.classes import MethodView, builds_module, is_super
from automodel_lint.inference.names import ClassEntity, External, FunctionEntity, Names, Scope, all_arguments

_SUB_CONFIGS = ("_config", "_cfg")
_GETTERS = ("get_text_config", "get_decoder_config")


@dataclass(frozen=True)
class Before:
    """A statement that runs ahead of the guard; ``harm`` says what it spoils, empty if it is harmless."""

    node: ast.stmt
    harm: str = ""


class ConfigUse:
    """Which names still mean the config object that the caller handed in."""

    def __init__(self, parameter: str | None, self_name: str):
        self.parameter, self.self_name = parameter, self_name
        self.names = frozenset((parameter,)) if parameter else frozenset()

    def is_original(self, expr: ast.expr | None) -> bool | None:
        """Tell whether an expression is that object; ``None`` if the constructor has no config parameter to compare."""
        if self.parameter is None:
            return None
        return expr is not None and dotted(expr) in self.names

    def assigned(self, name: str, value: ast.expr) -> bool:
        """Follow an assignment to a dotted name; returns whether it takes the object away from its own parameter."""
        if not name or self.parameter is None:
            return False
        if dotted(value) in self.names:
            self.names |= {name}
            return False
        lost = name in self.names and name == self.parameter
        self.names -= {name}
        return lost


def config_parameter(function: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, names: Names) -> str | None:
    """Return the name of a constructor's config parameter.

    It is called ``config``, or annotated with a class whose name ends in ``Config`` (a backend's or an expert
    layer's config is not the model's), or it is the first positional one.
    """
    arguments = all_arguments(function.args)[1:]
    for argument in arguments:
        if argument.arg == "config":
            return argument.arg
    positional = [*function.args.posonlyargs, *function.args.args][1:]
    for argument in positional:
        if argument.arg.endswith(_SUB_CONFIGS[:1]) and argument.arg != "moe_config":
            return argument.arg
    return positional[0].arg if positional else None


def passed_config(call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef, explicit_self: bool):
    """Return what a call hands to the config parameter of ``function``; ``None`` if that cannot be told."""
    positional = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    parameter = "config" if "config" in positional else next(iter(positional[1:]), None)
    if parameter is None or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    for keyword in call.keywords:
        if keyword.arg == parameter:
            return keyword.value
    index = positional.index(parameter) - (0 if explicit_self or positional[0] not in ("self", "cls") else 1)
    return call.args[index] if 0 <= index < len(call.args) else None


class Statements:
    """Judges the statements that run before the guard, in order."""

    def __init__(self, view: MethodView, use: ConfigUse):
        self.view, self.use = view, use
        self.names = view.classes.names
        self._before: list[Before] = []
        self._subs: dict[str, ast.stmt] = {}
        self._current: ast.stmt = ast.Pass()

    def entered(self, statement: ast.With | ast.AsyncWith) -> None:
        """Take note of a ``with`` whose block the guard stands in: only harm counts, the block itself is no delay."""
        for item in statement.items:
            for node in walk_here(item.context_expr):
                if self._node_harm(node):
                    self._before.append(Before(statement, self._node_harm(node)))
            if item.optional_vars is not None and self._loses_config(item.optional_vars):
                self._before.append(Before(statement, "rebinds the config"))

    def passed(self, statement: ast.stmt) -> None:
        """Take note of a statement that has run while the guard has not."""
        if self._may_precede(statement):
            return
        self._current = statement
        harm = self._harm(statement)
        self._before.append(Before(statement, harm))

    def forget(self, count: int) -> None:
        """Keep only the first ``count`` statements: those of a handler run in place of the guard, not ahead of it."""
        del self._before[count:]

    def __len__(self) -> int:
        return len(self._before)

    def finished(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[Before]:
        """Return all that ran before; a sub-config that is used as the config later on has been unwrapped too early."""
        used = {name for name in self._subs if self._used_as_config(name, function)}
        unwrapped = {id(self._subs[name]) for name in used}
        return [
            Before(b.node, "unwraps the config") if not b.harm and id(b.node) in unwrapped else b for b in self._before
        ]

    # -- what may stand before ----------------------------------------------------------------------------------

    def _may_precede(self, statement: ast.stmt) -> bool:
        if isinstance(statement, (ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal)):
            return True
        if isinstance(statement, ast.Expr):
            value = statement.value
            return isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and self._deprecates(value))
        if isinstance(statement, ast.If):
            return self._checks_availability(statement)
        return isinstance(statement, ast.AnnAssign) and statement.value is None

    def _deprecates(self, call: ast.Call) -> bool:
        called = self.names.called(call, self.view.scope) | {dotted(call.func).rpartition(".")[2]}
        if any("deprecat" in name.lower() for name in called):
            return True
        categories = {dotted(a).rpartition(".")[2] for a in (*call.args, *(k.value for k in call.keywords))}
        return "warn" in called and bool(
            categories & {"DeprecationWarning", "FutureWarning", "PendingDeprecationWarning"}
        )

    def _checks_availability(self, statement: ast.If) -> bool:
        """``if not _HF_AVAILABLE: raise …``: the flag is a name of the module, not something read from the config."""
        only_raises = not statement.orelse and all(isinstance(s, (ast.Raise, ast.Assign)) for s in statement.body)
        if not only_raises or not isinstance(statement.body[-1], ast.Raise):
            return False
        test = statement.test
        if not isinstance(test, ast.UnaryOp) or not isinstance(test.op, ast.Not):
            return False
        flag = test.operand.func if isinstance(test.operand, ast.Call) else test.operand
        root = dotted(flag).partition(".")[0]
        return bool(root) and not self.view.scope.frames[0].names.get(root)

    # -- what does harm -----------------------------------------------------------------------------------------

    def _harm(self, statement: ast.stmt) -> str:
        for node in walk_here(statement):
            harm = self._node_harm(node) or self._assignment(node)
            if harm:
                return harm
        return ""

    def _node_harm(self, node: ast.AST) -> str:
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete)):
            targets = node.targets if isinstance(node, (ast.Assign, ast.Delete)) else [node.target]
            if any(self._inside_config(t) for t in targets):
                return "changes the config"
        if isinstance(node, (ast.For, ast.AsyncFor)):
            if self._iterates_config(node.iter):
                return "loops over the config's own attributes"
            return "rebinds the config" if self._loses_config(node.target) else ""
        if isinstance(node, ast.Call):
            return self._call_harm(node)
        return ""

    def _inside_config(self, target: ast.expr) -> bool:
        """``config.x = …``, ``config.text_config.x = …``, ``text_config.x = …``, ``config["x"] = …``."""
        return isinstance(target, (ast.Attribute, ast.Subscript)) and self._reaches_config(target.value)

    def _reaches_config(self, expr: ast.expr) -> bool:
        """The config itself, a sub-config, or something reached through one of them."""
        while True:
            if dotted(expr) in self.use.names or dotted(expr) in self._subs:
                return True
            if not isinstance(expr, (ast.Attribute, ast.Subscript)):
                return False
            expr = expr.value

    def _loses_config(self, target: ast.expr) -> bool:
        """A loop variable or ``as`` name that takes the place of the config parameter."""
        names = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
        lost = self.use.parameter in names
        self.use.names -= names
        return lost

    def _iterates_config(self, expr: ast.expr) -> bool:
        return any(
            isinstance(n, ast.Call)
            and dotted(n.func) == "vars"
            and any(dotted(a) in self.use.names or dotted(a) in self._subs for a in n.args)
            for n in ast.walk(expr)
        )

    def _call_harm(self, call: ast.Call) -> str:
        name = dotted(call.func)
        given = [*call.args, *(k.value for k in call.keywords)]
        if name in ("setattr", "delattr") and given and self._reaches_config(given[0]):
            return "changes the config"
        if method_of(call) in ("update", "__setattr__", "setdefault", "pop") and self._is_config_dict(call):
            return "changes the config"
        hands_config = any(self.use.is_original(a) or dotted(a) in self._subs for a in given)
        if isinstance(call.func, ast.Attribute) and method_of(call) == "__init__":
            base = is_super(call.func.value) or not self._is_plain_module_init(call)
            return "hands the config to a base constructor" if hands_config and base else ""
        if self._builds(call):
            return f"builds a submodule ({ast.unparse(call.func)})"
        if not hands_config:
            return ""
        if self._changes_argument(call):
            return "changes the config"
        return "builds a submodule" if self._method_builds(call) else ""

    def _method_builds(self, call: ast.Call) -> bool:
        """A method of the class that assigns what it builds to ``self``."""
        callee = self.view.callee(call)
        if not isinstance(callee, MethodView):
            return False
        statements = Statements(callee, self.use)
        return any(statements._builds(inner) for inner in callee.calls())

    def _is_config_dict(self, call: ast.Call) -> bool:
        """``config.update``, ``config.__dict__.update``, ``vars(config).update``."""
        assert isinstance(call.func, ast.Attribute)
        owner = call.func.value
        if isinstance(owner, ast.Call) and dotted(owner.func) == "vars" and owner.args:
            owner = owner.args[0]
        return dotted(owner).removesuffix(".__dict__") in self.use.names

    @staticmethod
    def _is_plain_module_init(call: ast.Call) -> bool:
        return len(call.args) == 1 and not call.keywords

    def _builds(self, call: ast.Call) -> bool:
        return self._builds_in(call, self.view.scope, 0)

    def _builds_in(self, call: ast.Call, scope: Scope, depth: int) -> bool:
        for entity in self.names.resolve(call.func, scope):
            if isinstance(entity, ClassEntity) and self.view.classes.has_module_base(entity):
                return True
            if isinstance(entity, External) and builds_module(entity.fqn):
                return True
            if isinstance(entity, FunctionEntity) and self._returns_module(entity, depth):
                return True
        return False

    def _returns_module(self, entity: FunctionEntity, depth: int = 0) -> bool:
        if entity.node.returns is not None:
            return any(builds_module(f) for f in self.names.fqns(entity.node.returns, entity.scope))
        if depth > 2:
            return False
        scope = entity.scope.entered(entity.node.body, entity.node.args)
        values = [n.value for n in ast.walk(entity.node) if isinstance(n, ast.Return)]
        return any(isinstance(v, ast.Call) and self._builds_in(v, scope, depth + 1) for v in values)

    def _changes_argument(self, call: ast.Call) -> bool:
        """A function of the checkout that assigns to an attribute of the config it is given."""
        callee = self.view.callee(call)
        node = callee.node if callee is not None else None
        if node is None:
            return False
        offset = 1 if isinstance(callee, MethodView) else 0
        parameters = [a.arg for a in (*node.args.posonlyargs, *node.args.args)][offset:]
        received = {p for p, a in zip(parameters, call.args, strict=False) if self.use.is_original(a)}
        received |= {k.arg for k in call.keywords if k.arg and self.use.is_original(k.value)}
        for inner in ast.walk(node):
            if isinstance(inner, (ast.Assign, ast.AugAssign)):
                targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
                if any(isinstance(t, ast.Attribute) and dotted(t.value).partition(".")[0] in received for t in targets):
                    return True
            sets = isinstance(inner, ast.Call) and dotted(inner.func) == "setattr" and inner.args
            if sets and dotted(inner.args[0]) in received:
                return True
        return False

    def _assignment(self, node: ast.AST) -> str:
        for name, value in parts_of(node):
            if value is None:
                harm = "rebinds the config" if name == self.use.parameter else ""
                self.use.names -= {name}
            else:
                harm = self._bound(name, value)
            if harm:
                return harm
        return ""

    def _bound(self, name: str, value: ast.expr) -> str:
        is_sub = self._is_sub_config(value)
        if is_sub and name != self.use.parameter:
            self._subs[name] = self._current
        if self.use.assigned(name, value):
            return "unwraps the config" if is_sub else "rebinds the config"
        return ""

    def _is_sub_config(self, expr: ast.expr) -> bool:
        """``config.text_config``, ``getattr(config, "text_config", …)``, ``config.get_text_config()``, or a choice."""
        if isinstance(expr, ast.IfExp):
            return self._is_sub_config(expr.body) or self._is_sub_config(expr.orelse)
        if isinstance(expr, ast.BoolOp):
            return any(self._is_sub_config(v) for v in expr.values)
        if isinstance(expr, ast.Attribute):
            return self._of_config(expr.value) and expr.attr.endswith(_SUB_CONFIGS)
        if isinstance(expr, ast.Call):
            if dotted(expr.func) == "getattr" and len(expr.args) >= 2 and isinstance(expr.args[1], ast.Constant):
                return self._of_config(expr.args[0]) and str(expr.args[1].value).endswith(_SUB_CONFIGS)
            return method_of(expr) in _GETTERS and self._of_config(expr.func.value)  # type: ignore[attr-defined]
        return False

    def _of_config(self, expr: ast.expr) -> bool:
        return bool(self.use.is_original(expr)) or dotted(expr) in self._subs

    def _used_as_config(self, name: str, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """A sub-config handed on whole, kept as ``self.config``, or put in the config's place."""
        kept = (f"{self.use.self_name}.config", self.use.parameter)
        for node in ast.walk(function):
            if isinstance(node, ast.Call):
                looks = dotted(node.func) in ("getattr", "hasattr", "isinstance", "vars")
                if not looks and any(dotted(a) == name for a in (*node.args, *(k.value for k in node.keywords))):
                    return True
            elif any(target in kept and value and dotted(value) == name for target, value in parts_of(node)):
                return True
        return False


def method_of(call: ast.Call) -> str:
    """Return the attribute that a call is made through (``x.y.z(…)`` gives ``z``), or an empty text."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""
