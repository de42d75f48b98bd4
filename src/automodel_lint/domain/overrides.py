"""Whether a caller's ``moe_overrides`` can reach the code that builds a default expert config."""

from __future__ import annotations

import ast

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import dotted, parts_of
from automodel_lint.inference.classes import FunctionView, MethodView, is_super
from automodel_lint.inference.names import ClassEntity, Entity, FunctionEntity, Value, all_arguments

OVERRIDES = "moe_overrides"
_LIBRARIES = ("builtins", "torch", "transformers")
_TAKES = ("pop", "get", "setdefault")
_DEEPEST = 6


def takes_overrides(model: ModelClass) -> bool:
    """Tell whether a class reads ``moe_overrides`` or forwards its free keyword arguments to what does.

    Code that cannot be followed may read them.
    """
    views = [model.method(name) for name in ("__init__", "from_config")]
    return any(has_parameter(v) or _Forwarding(v, free_arguments(v)).serve() for v in views if v is not None)


def has_parameter(view: MethodView) -> bool:
    """Tell whether a function names the overrides among its parameters."""
    return any(a.arg == OVERRIDES for a in all_arguments(view.node.args))


def free_arguments(view: MethodView) -> frozenset[str]:
    """Return the name under which a function gets the keyword arguments that it does not name."""
    return frozenset((view.node.args.kwarg.arg,) if view.node.args.kwarg else ())


class _Forwarding:
    """Follows the names that hold a caller's free keyword arguments through a function and what it calls."""

    def __init__(self, view: MethodView, free: frozenset[str], depth: int = 0):
        self.view, self.depth, self.classes = view, depth, view.classes
        self.free = self._derived(free) if free else free

    def _derived(self, free: frozenset[str]) -> frozenset[str]:
        """Add the locals that the free arguments were copied to."""
        assigned = [part for node in self.view.walk() for part in parts_of(node)]
        for _ in assigned:
            more = {name for name, value in assigned if value is not None and _keeps(value, free)}
            if more <= free:
                break
            free |= more
        return free

    def serve(self) -> bool:
        """Tell whether the overrides are read here, or where this leads to."""
        return any(self._reads(n) or (isinstance(n, ast.Call) and self._leads_on(n)) for n in self.view.walk())

    def _reads(self, node: ast.AST) -> bool:
        """``config.moe_overrides``; ``kwargs.pop("moe_overrides")`` if free arguments have come this far."""
        if isinstance(node, ast.Attribute):
            return node.attr == OVERRIDES
        if isinstance(node, ast.Call) and dotted(node.func) == "getattr":
            return any(_is_name_of_it(argument) for argument in node.args)
        return bool(self.free) and (_is_name_of_it(node) or self._stands_for_it(node))

    def _stands_for_it(self, node: ast.AST) -> bool:
        """A constant of the module that holds the name."""
        if not isinstance(node, ast.Name) or not node.id.isupper():
            return False
        entities = self.classes.names.resolve(node, self.view.scope)
        return any(isinstance(e, Value) and _is_name_of_it(e.expr) for e in entities)

    def _leads_on(self, call: ast.Call) -> bool:
        callee = self.view.callee(call)
        if isinstance(callee, FunctionEntity):
            return self._enters(FunctionView(self.view, callee), call)
        if callee is not None:
            return self._enters(callee, call)
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        if not any(_holds(argument, self.free) for argument in arguments) or self.view.is_self_or_class(call.func):
            return False
        if isinstance(call.func, ast.Attribute) and is_super(call.func.value):
            members, opaque = self.classes.find(self.view.receiver, call.func.attr, after=self.view.owner)
            return opaque or any(self._enters(MethodView(self.classes, self.view.receiver, m), call) for m in members)
        targets = self._targets(call.func)
        return not targets or any(self._may_serve(target, call) for target in targets)

    def _targets(self, func: ast.expr) -> list[Entity]:
        """What a call may lead to; a class may be known by an attribute of the object (``self.model_class(…)``)."""
        names = self.classes.names
        if isinstance(func, ast.Attribute) and self.view.is_self_or_class(func.value):
            members, _ = self.classes.find(self.view.receiver, func.attr)
            return [e for m in members if m.value is not None for e in names.resolve(m.value, m.owner.scope)]
        return names.resolve(func, self.view.scope)

    def _may_serve(self, target: Entity, call: ast.Call) -> bool:
        """Follow free arguments into a class or function; one whose source is not at hand may read them."""
        if isinstance(target, ClassEntity):
            members, opaque = self.classes.find(target, "__init__")
            views = [MethodView(self.classes, target, m) for m in members if m.function is not None]
            return opaque or any(self._enters(view, call) for view in views)
        if isinstance(target, FunctionEntity):
            return self._enters(FunctionView(self.view, target), call)
        return target.fqn.partition(".")[0] not in _LIBRARIES

    def _enters(self, view: MethodView, call: ast.Call) -> bool:
        """Follow a call into a function whose source is at hand."""
        if view.module.name.partition(".")[0] in _LIBRARIES or self.depth > _DEEPEST:
            return False
        starred = any(keyword.arg is None and _holds(keyword.value, self.free) for keyword in call.keywords)
        if starred and has_parameter(view):
            return True
        free = self._filled(view, call) | (free_arguments(view) if starred else frozenset())
        return _Forwarding(view, free, self.depth + 1).serve()

    def _filled(self, view: MethodView, call: ast.Call) -> frozenset[str]:
        """The parameters of a function that a call fills with the free arguments, as one dict."""
        bound = 0 if isinstance(view, FunctionView) else 1
        positional = [a.arg for a in (*view.node.args.posonlyargs, *view.node.args.args)][bound:]
        given = [*zip(positional, call.args, strict=False), *((k.arg, k.value) for k in call.keywords if k.arg)]
        return frozenset(name for name, value in given if _holds(value, self.free))


def _is_name_of_it(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value == OVERRIDES


def _keeps(value: ast.expr, free: frozenset[str]) -> bool:
    """Whether a value may be the free arguments, or a part of them, not an object that was made with them."""
    made = dotted(value.func).rpartition(".")[2] if isinstance(value, ast.Call) else ""
    return not made[:1].isupper() and _holds(value, free)


def _holds(expr: ast.expr, free: frozenset[str]) -> bool:
    """Whether an expression has the free arguments in it, not just one that is taken out of them."""
    taken = {
        id(node.value)
        for node in ast.walk(expr)
        if isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr in _TAKES)
    }
    return any(isinstance(n, ast.Name) and n.id in free and id(n) not in taken for n in ast.walk(expr))
