"""Names that are bound at module level, in whatever file, as values."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from automodel_lint.inference.bindings import branches, dotted
from automodel_lint.inference.construction.frames import Frame
from automodel_lint.inference.construction.heap import choice
from automodel_lint.inference.construction.values import (
    UNKNOWN,
    Callable_,
    Choice,
    ClassValue,
    External_,
    Known,
    Map,
    Member,
    ModuleName,
    Seq,
    Unknown,
    Value,
)
from automodel_lint.inference.module_tree import Condition
from automodel_lint.inference.names import (
    ClassEntity,
    Entity,
    External,
    FunctionEntity,
    Module,
    ModuleEntity,
    Scope,
)
from automodel_lint.inference.names import Value as Bound

if TYPE_CHECKING:
    from automodel_lint.inference.construction.interpreter import Interpreter


class Globals:
    """Looks module-level names up for an interpreter."""

    def __init__(self, interpreter: Interpreter):
        self.run = interpreter
        self._values: dict[int, Value] = {}
        self._names: dict[tuple, Value] = {}
        self._imports: dict[tuple[str, str], Value] = {}
        self._members: dict[tuple[ClassEntity, str], Value | None] = {}
        self._under_way: set[int] = set()

    def value(self, expr: ast.Name, scope: Scope) -> Value:
        """Return what a name stands for at module level."""
        key = (scope.module, expr.id, scope.frames)
        known = self._names.get(key)
        if known is None:
            entities = self.run.names.resolve(expr, scope)
            if entities:
                known = self.of_entities(entities, expr.id)
            else:
                known = self._unpacked(scope.module, expr.id) or UNKNOWN
            self._names[key] = known
        return known

    def module(self, fqn: str) -> Value:
        """Return a Python module by its dotted name."""
        return ModuleName(fqn)

    def imported(self, target: str, name: str) -> Value:
        """Return what ``from target import name`` binds, and what ``target.name`` is."""
        known = self._imports.get((target, name))
        if known is None:
            known = self.of_entities(self.run.names.from_module(target, name), name)
            self._imports[target, name] = known
        return known

    def of_entities(self, entities: list[Entity], text: str) -> Value:
        """Return the value of what a name may be bound to; the real thing where there is a stand-in, too."""
        found = [self._of(entity) for entity in self._real(entities)]
        if not found:
            return UNKNOWN
        if len(found) == 1:
            return found[0]
        flags = all(isinstance(v, Known) and isinstance(v.value, bool) for v in found)
        if flags:
            test = Condition(text)
            return choice([((test if v.value else Condition(text, False),), v) for v in found])  # type: ignore
        return choice([((Condition(f"{text} is definition {i}"),), v) for i, v in enumerate(found, 1)])

    def _real(self, entities: list[Entity]) -> list[Entity]:
        """Leave out what only takes the place of a missing dependency."""
        kept = []
        for entity in entities:
            if isinstance(entity, ClassEntity) and self.run.classes.is_stand_in(entity):
                continue
            if isinstance(entity, Bound) and (_is_none(entity.expr) or self.run.classes.makes_stand_in(entity)):
                continue
            kept.append(entity)
        outside = [e for e in kept if isinstance(e, (External, ModuleEntity)) and not e.fqn.startswith("builtins.")]
        at_hand = [e for e in kept if isinstance(e, (ClassEntity, FunctionEntity))]
        if outside and at_hand:  # a library's, or else our own under the same name
            return at_hand[:1]
        return kept or list(entities)

    def _unpacked(self, module: Module | None, name: str) -> Value | None:
        """``AVAILABLE, Cls = safe_import(…)``: the part of the value that a name takes."""
        for binding in module.bindings.live(name) if module is not None else ():
            statement = binding.node
            if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], (ast.Tuple, ast.List)):
                continue
            names = [dotted(e) for e in statement.targets[0].elts]
            whole = self._bound(Bound(statement.value, Scope(module)))  # type: ignore[arg-type]
            row = whole.alternatives[0][1] if isinstance(whole, Choice) else whole
            if name in names and isinstance(row, Seq) and len(row.items) == len(names):
                return row.items[names.index(name)]
        return None

    def _of(self, entity: Entity) -> Value:
        if isinstance(entity, ClassEntity):
            return ClassValue(entity)
        if isinstance(entity, FunctionEntity):
            owner = None
            return Callable_(entity.node, entity.scope, owner, None, None, entity.fqn)
        if isinstance(entity, ModuleEntity):
            return ModuleName(entity.fqn)
        if isinstance(entity, External):
            module, _, name = entity.fqn.rpartition(".")
            at_hand = self.run.names.module(module) if module and not entity.fqn.startswith("builtins.") else None
            return self._unpacked(at_hand, name) or External_(entity.fqn)
        return self._bound(entity)

    def _bound(self, entity: Bound) -> Value:
        """Evaluate a module-level constant, once."""
        key = id(entity.expr)
        known = self._values.get(key)
        if known is not None:
            return known
        if key in self._under_way:
            return UNKNOWN
        self._under_way.add(key)
        depth, self.run.depth = self.run.depth, 0
        try:
            value = self.run.expressions.value(entity.expr, Frame(entity.scope))
        finally:
            self.run.depth = depth
            self._under_way.discard(key)
        if isinstance(value, Unknown) and value.module is None and entity.fqn:
            value = External_(entity.fqn)
        if isinstance(value, (Map, Seq)) and entity.fqn:
            self._fill(value, entity)
        self._values[key] = value
        return value

    def class_member(self, cls: ClassEntity, name: str) -> Value | None:
        """Return a name of a class body (methods unbound); ``None`` if no class in the order defines it."""
        if (cls, name) not in self._members:
            self._members[cls, name] = self._class_member(cls, name)
        return self._members[cls, name]

    def _fill(self, table: Map | Seq, entity: Bound) -> None:
        """What a module puts into a table after it is made: ``TABLE["x"] = Cls``, ``TABLE.update(x=Cls)``."""
        name, frame = entity.fqn.rpartition(".")[2], Frame(entity.scope)
        frame.names[name] = table
        for statement in _simple(entity.scope.module.syntax.body):
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
                touched = dotted(statement.targets[0].value)
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                touched = dotted(statement.value.func).rpartition(".")[0]
            else:
                continue
            if touched == name:
                self.run.statements.block([statement], frame)

    def is_enum(self, cls: ClassEntity) -> bool:
        """Tell whether a class makes an enum."""
        order = self.run.mro(cls)
        return any(not isinstance(a, ClassEntity) and a.fqn.startswith("enum.") for a in order)

    def of_member(self, member: Member, name: str) -> Value | None:
        """Return ``value`` or ``name`` of an enum member, while a state dict is followed."""
        enum, _, own = member.fqn.rpartition(".")
        if name == "name":
            return Known(own)
        cls = self.imported(*enum.rpartition(".")[::2]) if name == "value" and self.run.converting else None
        bindings = self.run.classes.local(cls.cls, own) if isinstance(cls, ClassValue) else []
        if not bindings or bindings[-1].value is None:
            return None
        owner = bindings[-1].owner
        inner = Scope(owner.module, (self.run.names.body(owner), *owner.scope.frames))
        return self._bound(Bound(bindings[-1].value, inner))

    def _class_member(self, cls: ClassEntity, name: str) -> Value | None:
        members, opaque = self.run.classes.find(cls, name)
        if not members:
            return UNKNOWN if opaque else None
        owner = members[-1].owner
        if self.is_enum(owner):
            return Known(Member(f"{owner.fqn}.{name}"))
        found = []
        for member in members:
            scope = owner.scope
            if member.function is not None:
                found.append(Callable_(member.function, scope, owner, None, None, f"{owner.fqn}.{name}"))
            elif isinstance(member.binding.node, ast.ClassDef):
                found += [self._of(e) for e in self.run.names.attribute(owner, name)]
            elif member.value is not None:
                inner = Scope(owner.module, (self.run.names.body(owner), *scope.frames))
                found.append(self._bound(Bound(member.value, inner)))
            else:
                found.append(UNKNOWN)
        return found[-1]


def _is_none(expr: ast.expr) -> bool:
    return isinstance(expr, ast.Constant) and expr.value is None


def _simple(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The simple statements of a module, those in branches as well."""
    for statement in body:
        inner = [] if isinstance(statement, (ast.For, ast.While)) else list(branches(statement))
        for branch, _ in inner:
            yield from _simple(branch)
        if not inner:
            yield statement
