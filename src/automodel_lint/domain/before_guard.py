"""The statements that run before the tie guard: which may, which only delay it, and which spoil the config for it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from automodel_lint.domain.building import Building
from automodel_lint.domain.config_changes import ConfigChanges
from automodel_lint.domain.constructor import ConfigUse, Function, uncast
from automodel_lint.inference.bindings import dotted, parts_of, statements_here, walk_here
from automodel_lint.inference.classes import MethodView, is_super

_SUB_CONFIGS = ("_config", "_cfg")
_GETTERS = ("get_text_config", "get_decoder_config")
# A tower's config is not *the* config; it counts as unwrapped only where it takes the config's place.
_TOWERS = re.compile(r"vision|audio|image|video|visual|speech|projector", re.I)


@dataclass(frozen=True)
class Before:
    """A statement that runs ahead of the guard; ``harm`` says what it spoils, empty if it is harmless."""

    node: ast.stmt
    harm: str = ""


class Statements:
    """Judges the statements that run before the guard, in order."""

    def __init__(self, view: MethodView, use: ConfigUse):
        self.view, self.use = view, use
        self.names = view.classes.names
        self.building = Building(view.classes, view)
        self._before: list[Before] = []
        self._subs: dict[str, tuple[ast.stmt, bool]] = {}  # a name: where bound, whether to a tower's config
        self._current: ast.stmt = ast.Pass()

    def entered(self, statement: ast.With | ast.AsyncWith) -> None:
        """Take note of a ``with`` whose block the guard stands in: only harm counts, the block itself is no delay."""
        for item in statement.items:
            harm = next((h for n in walk_here(item.context_expr) if (h := self._node_harm(n))), "")
            if not harm and item.optional_vars is not None and self._loses_config(item.optional_vars):
                harm = "rebinds the config"
            if harm:
                self._before.append(Before(statement, harm))

    def passed(self, statement: ast.stmt) -> None:
        """Take note of a statement that has run while the guard has not."""
        if not self._may_precede(statement):
            self._current = statement
            self._before.append(Before(statement, self._harm(statement)))

    def forget(self, count: int) -> None:
        """Keep only the first ``count`` statements: those of a handler run in place of the guard, not ahead of it."""
        del self._before[count:]

    def __len__(self) -> int:
        return len(self._before)

    def finished(self, function: Function) -> list[Before]:
        """Return all that ran before; a sub-config that is used as the config later on has been unwrapped too early."""
        unwrapped = {id(s) for name, (s, tower) in self._subs.items() if self._used_as_config(name, tower, function)}
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
        arguments = [*call.args, *(k.value for k in call.keywords)]
        words = {dotted(a.func if isinstance(a, ast.Call) else a).rpartition(".")[2] for a in arguments}
        kinds = {"DeprecationWarning", "FutureWarning", "PendingDeprecationWarning"}
        return "warn" in called and bool(words & kinds)

    def _checks_availability(self, statement: ast.If) -> bool:
        """``if not _HF_AVAILABLE: raise …``: the test reads names of the module only, nothing that was handed in."""
        last = statement.body[-1]
        if statement.orelse or not isinstance(last, ast.Raise):
            return False
        if not all(isinstance(s, (ast.Raise, ast.Assign, ast.Expr)) for s in statement.body):
            return False
        local = self.view.scope.frames[0].names
        names = {n.id for n in ast.walk(statement.test) if isinstance(n, ast.Name)}
        return bool(names) and not any(name in local for name in names)

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
            if any(self._inside_config(inner) for t in targets for inner in ast.walk(t)):
                return "changes the config"
        if isinstance(node, (ast.For, ast.AsyncFor)):
            return self._loop_harm(node)
        return self._call_harm(node) if isinstance(node, ast.Call) else ""

    def _inside_config(self, target: ast.AST) -> bool:
        """``config.x = …``, ``config.text_config.x = …``, ``text_config.x = …``, ``config["x"] = …``."""
        is_place = isinstance(target, (ast.Attribute, ast.Subscript)) and isinstance(target.ctx, (ast.Store, ast.Del))
        return is_place and self._reaches_config(target.value)  # type: ignore[attr-defined]

    def _reaches_config(self, expr: ast.expr) -> bool:
        """The config itself, a sub-config, or something reached through one of them."""
        while True:
            expr = uncast(expr)
            if dotted(expr) in self.use.names or dotted(expr) in self._subs:
                return True
            if isinstance(expr, (ast.Attribute, ast.Subscript)):
                expr = expr.value
            elif isinstance(expr, ast.Call) and dotted(expr.func) in ("getattr", "vars") and expr.args:
                expr = expr.args[0]
            elif isinstance(expr, ast.Call) and method_of(expr) in _GETTERS:
                expr = expr.func.value  # type: ignore[attr-defined]
            else:
                return False

    def _loop_harm(self, loop: ast.For | ast.AsyncFor) -> str:
        source = loop.iter
        calls = [n for n in ast.walk(source) if isinstance(n, ast.Call) and dotted(n.func) == "vars"]
        if any(self._reaches_config(a) for call in calls for a in call.args):
            return "loops over the config's own attributes"
        parts = source.elts if isinstance(source, (ast.Tuple, ast.List)) else []
        if isinstance(loop.target, ast.Name) and any(self._is_sub_config(p) for p in parts):
            self._subs[loop.target.id] = (self._current, True)
        return "rebinds the config" if self._loses_config(loop.target) else ""

    def _loses_config(self, target: ast.expr) -> bool:
        """A loop variable or ``as`` name that takes the place of the config parameter."""
        names = {n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        lost = self.use.parameter in names
        self.use.names -= names
        return lost

    def _call_harm(self, call: ast.Call) -> str:
        given = [*call.args, *(k.value for k in call.keywords)]
        if ConfigChanges.sets_attribute(call):
            if dotted(call.args[0]) == self.use.self_name and len(call.args) == 3:
                name = call.args[1].value if isinstance(call.args[1], ast.Constant) else ""
                return self._bound(f"{self.use.self_name}.{name}", call.args[2]) if name else ""
            return "changes the config" if self._reaches_config(call.args[0]) else ""
        if method_of(call) in ("update", "setdefault", "pop") and self._is_config_dict(call):
            return "changes the config"
        handed = [a for a in given if self._of_config(a)]
        if method_of(call) == "__init__":
            return self._base_constructor(call, bool(handed))
        if self.building.builds(call):
            return f"builds a submodule ({ast.unparse(call.func)})"
        if (handed or self._on_self(call)) and ConfigChanges(self.view, self.use).by(call, handed):
            return "changes the config"
        return "builds a submodule" if self._method_builds(call) else ""

    def _base_constructor(self, call: ast.Call, handed: bool) -> str:
        assert isinstance(call.func, ast.Attribute)
        plain = not is_super(call.func.value) and len(call.args) == 1 and not call.keywords
        if any(self.use.is_original(a) for a in (*call.args, *(k.value for k in call.keywords))):
            self.use.names |= {f"{self.use.self_name}.config"}  # every base that takes a config keeps it there
        return "hands the config to a base constructor" if handed and not plain else ""

    def _on_self(self, call: ast.Call) -> bool:
        return isinstance(call.func, ast.Attribute) and dotted(call.func.value) == self.view.self_name

    def _method_builds(self, call: ast.Call) -> bool:
        """A method of the class that assigns what it builds to ``self``."""
        callee = self.view.callee(call) if self._on_self(call) else None
        if not isinstance(callee, MethodView):
            return False
        building = Building(self.view.classes, callee)
        return any(building.builds(inner) for inner in callee.calls())

    def _is_config_dict(self, call: ast.Call) -> bool:
        """``config.update``, ``config.__dict__.update``, ``vars(config).update``."""
        assert isinstance(call.func, ast.Attribute)
        owner = call.func.value
        if isinstance(owner, ast.Call) and dotted(owner.func) == "vars" and owner.args:
            owner = owner.args[0]
        return dotted(owner).removesuffix(".__dict__") in self.use.names

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
            self._subs.setdefault(name, (self._current, bool(_TOWERS.search(ast.unparse(value)))))
        if self.use.assigned(name, value):
            return "unwraps the config" if is_sub else "rebinds the config"
        return ""

    # -- sub-configs --------------------------------------------------------------------------------------------

    def _is_sub_config(self, expr: ast.expr) -> bool:
        """``config.text_config``, ``getattr(config, "text_config")``, ``config.get_text_config()``, a copy of one."""
        expr = uncast(expr)
        if isinstance(expr, ast.IfExp):
            return self._is_sub_config(expr.body) or self._is_sub_config(expr.orelse)
        if isinstance(expr, ast.BoolOp):
            return any(self._is_sub_config(v) for v in expr.values)
        if isinstance(expr, ast.Attribute):
            return expr.attr.endswith(_SUB_CONFIGS) and self._of_config(expr.value)
        if not isinstance(expr, ast.Call):
            return dotted(expr) in self._subs
        name = dotted(expr.func).rpartition(".")[2]
        if name == "getattr" and len(expr.args) >= 2:
            word = expr.args[1].value if isinstance(expr.args[1], ast.Constant) else _SUB_CONFIGS[0]
            return str(word).endswith(_SUB_CONFIGS) and self._of_config(expr.args[0])
        if name in ("copy", "deepcopy") and len(expr.args) == 1:
            return self._is_sub_config(expr.args[0])
        if name in _GETTERS and isinstance(expr.func, ast.Attribute):
            return self._of_config(expr.func.value)
        return self._is_taken_out_by(expr)

    def _is_taken_out_by(self, call: ast.Call) -> bool:
        """A function of the checkout that gets the config and can return a sub-config of it."""
        if not any(self._of_config(a) for a in (*call.args, *(k.value for k in call.keywords))):
            return False
        callee = self.view.callee(call)
        if callee is None:
            return False
        parameters = [a.arg for a in (*callee.node.args.posonlyargs, *callee.node.args.args)]
        parameters = parameters[isinstance(callee, MethodView) :]
        handed = [*zip(parameters, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
        given = {name for name, value in handed if name and self._of_config(value)}
        return any(_is_part_of(s.value, given) for s in statements_here(callee.node.body) if isinstance(s, ast.Return))

    def _of_config(self, expr: ast.expr) -> bool:
        return bool(self.use.is_original(expr)) or self._is_sub_config(expr)

    def _used_as_config(self, name: str, tower: bool, function: Function) -> bool:
        """A sub-config handed on whole, kept as ``self.config``, or put in the config's place."""
        kept = (f"{self.use.self_name}.config", self.use.parameter)
        for node in ast.walk(function):
            if isinstance(node, ast.Call):
                looks = dotted(node.func) in ("getattr", "hasattr", "isinstance", "vars", "setattr")
                counts = not looks and (not tower or method_of(node) == "__init__")
                if counts and any(dotted(a) == name for a in (*node.args, *(k.value for k in node.keywords))):
                    return True
            elif any(target in kept and value and dotted(value) == name for target, value in parts_of(node)):
                return True
        return False


def _is_part_of(value: ast.expr | None, configs: set[str]) -> bool:
    """``config.text_config``, by name or ``getattr``, also as one side of a choice."""
    if isinstance(value, ast.IfExp):
        return _is_part_of(value.body, configs) or _is_part_of(value.orelse, configs)
    if isinstance(value, ast.Attribute):
        return value.attr.endswith(_SUB_CONFIGS) and dotted(value.value) in configs
    if isinstance(value, ast.Call) and dotted(value.func) == "getattr" and len(value.args) >= 2:
        word = value.args[1].value if isinstance(value.args[1], ast.Constant) else ""
        return str(word).endswith(_SUB_CONFIGS) and dotted(value.args[0]) in configs
    return False


def method_of(call: ast.Call) -> str:
    """Return the attribute that a call is made through (``x.y.z(…)`` gives ``z``), or an empty text."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""
