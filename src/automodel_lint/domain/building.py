"""Whether a call makes a module: directly, through a constructor classmethod, or through a factory."""

from __future__ import annotations

import ast

from automodel_lint.inference.classes import Classes, MethodView, builds_module, is_hf_model
from automodel_lint.inference.names import ClassEntity, Entity, External, FunctionEntity, Scope, Value

_MAKERS = ("from_config", "_from_config", "from_pretrained")
_DEEPEST = 3


class Building:
    """Looks at calls made in the methods of one class."""

    def __init__(self, classes: Classes, view: MethodView):
        self.classes, self.view = classes, view

    def builds(self, call: ast.Call, scope: Scope | None = None, depth: int = 0) -> bool:
        """Tell whether a call surely returns a ``torch.nn.Module``."""
        return any(self.is_module(e) for e in self.made(call, scope or self.view.scope, depth))

    def made(self, call: ast.Call, scope: Scope, depth: int = 0) -> list[Entity]:
        """Return the classes that a call makes an instance of, as far as that can be told."""
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in _MAKERS:
            owners = self.classes.names.resolve(func.value, scope)
            return [o for o in owners if isinstance(o, (ClassEntity, External)) and self.is_module(o)]
        found: list[Entity] = []
        for entity in self._callees(func, scope):
            if isinstance(entity, (ClassEntity, External)):
                found.append(entity)
            elif isinstance(entity, FunctionEntity) and depth < _DEEPEST:
                found += self._returned(entity, depth + 1)
        return found

    def _callees(self, func: ast.expr, scope: Scope) -> list[Entity]:
        own = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name)
        if own and func.value.id in (self.view.self_name, "cls"):
            members, _ = self.classes.find(self.view.receiver, func.attr)
            return [
                e
                for member in members
                if member.value is not None
                for e in self.classes.names.resolve(member.value, member.owner.scope)
            ]
        return self.classes.names.resolve(func, scope)

    def _returned(self, entity: FunctionEntity, depth: int) -> list[Entity]:
        if entity.node.returns is not None:
            return self.classes.names.resolve(entity.node.returns, entity.scope)
        scope = entity.scope.entered(entity.node.body, entity.node.args)
        found: list[Entity] = []
        for node in ast.walk(entity.node):
            if isinstance(node, ast.Return) and node.value is not None:
                found += self.values_made(node.value, scope, depth)
        return found

    def values_made(self, expr: ast.expr, scope: Scope, depth: int = 0) -> list[Entity]:
        """Return the classes of what an expression evaluates to: a call, a local bound to one, a choice."""
        if isinstance(expr, ast.Call):
            return self.made(expr, scope, depth)
        if isinstance(expr, ast.IfExp):
            return self.values_made(expr.body, scope, depth) + self.values_made(expr.orelse, scope, depth)
        if isinstance(expr, ast.Name) and depth < _DEEPEST:
            values = [e for e in self.classes.names.resolve(expr, scope) if isinstance(e, Value)]
            return [m for v in values if v.expr is not expr for m in self.values_made(v.expr, v.scope, depth + 1)]
        return []

    def is_module(self, entity: Entity) -> bool:
        """Tell whether a class is known to be a module: of torch, of transformers, or derived from one of them."""
        if isinstance(entity, ClassEntity) and not entity.fqn.startswith("transformers.models.auto."):
            return self.classes.has_module_base(entity)
        name = entity.fqn.rpartition(".")[2]
        if entity.fqn.startswith("transformers.") and name.startswith("AutoModel"):
            return True
        return isinstance(entity, External) and (builds_module(entity.fqn) or is_hf_model(entity))
