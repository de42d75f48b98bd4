"""Objects: how a class is instantiated, and how attributes are read, set and deleted."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from automodel_lint.inference.bindings import dotted
from automodel_lint.inference.classes import MACHINERY
from automodel_lint.inference.classes import Unknown as UnknownBase
from automodel_lint.inference.construction import tensors, torch_modules
from automodel_lint.inference.construction.frames import Frame
from automodel_lint.inference.construction.heap import choice
from automodel_lint.inference.construction.texts import Texts
from automodel_lint.inference.construction.truth import parts
from automodel_lint.inference.construction.values import (
    ABSENT,
    NONE,
    UNKNOWN,
    Callable_,
    Choice,
    ClassValue,
    External_,
    Known,
    Map,
    Member,
    Method,
    ModuleName,
    Obj,
    Partial,
    Seq,
    Slots,
    Super,
    TensorValue,
    Thing,
    Unknown,
    Value,
)
from automodel_lint.inference.module_tree import Place
from automodel_lint.inference.names import ClassEntity, External

if TYPE_CHECKING:
    from automodel_lint.inference.construction.interpreter import Interpreter

ANYTHING = "**"  # the keyword under which a mapping of which nothing is known is handed on
# Bases without source whose constructors build nothing.
_EMPTY_BASES = MACHINERY | {"PreTrainedModel", "PretrainedConfig", "PreTrainedConfig", "GradientCheckpointingLayer"}
# What a module holds, as dicts.
_VIEWS = ("_parameters", "_modules", "_buffers", "__dict__")
# Decorators that make a method a computed attribute.
_PROPERTIES = ("property", "cached_property", "functools.cached_property")


class Instances:
    """Makes and changes objects for an interpreter."""

    def __init__(self, interpreter: Interpreter):
        self.run = interpreter
        self.heap = interpreter.heap
        self._dataclasses: dict[ClassEntity, bool] = {}
        self._decorated: dict[ast.AST, frozenset[str]] = {}
        self._setters: dict[tuple[ClassEntity, str], Callable_ | None] = {}

    # -- making ---------------------------------------------------------------------------------------------------

    def make(self, cls: ClassEntity, args: list[Value], keywords: dict[str, Value], place: Place) -> Value:
        """Return what ``Cls(*args, **keywords)`` gives."""
        run = self.run
        if run.hf.is_config(cls):
            return run.hf.made_config(cls, args, keywords)
        is_module = run.is_module_class(cls)
        if not is_module and cls.module.name.startswith("transformers."):
            return UNKNOWN
        if not is_module and not args and not keywords and self.is_dataclass(cls):
            made = self._default_instance(cls, run.site or place)
        else:
            made = Obj(cls, cls.fqn, is_module, run.site or place)
            self._constructed(made, cls, args, keywords)
        if not is_module:
            run.built.append(run.recorded(made))
        return made

    def _constructed(self, made: Obj, cls: ClassEntity, args: list[Value], keywords: dict[str, Value]) -> None:
        run = self.run
        torch_modules.prepare(run, made, cls)
        if made.is_module and cls in run.making:
            made.opaque = f"{cls.name} contains itself"
            return
        run.making.append(cls)
        run.constructing.append(made)
        try:
            self.construct(made, None, args, keywords)
        finally:
            run.making.pop()
            run.constructing.pop()

    def _default_instance(self, cls: ClassEntity, place: Place) -> Obj:
        """``BackendConfig()`` is the same wherever it is made: one is kept for all classes of the checkout."""
        known = self.run.classes.defaults.get(cls)
        if known is None:
            kept = Obj(cls, cls.fqn, False, place)
            with self.run.classes.tree.recording() as read:
                self.heap.anywhere(lambda: self._constructed(kept, cls, [], {}))
            known = self.run.classes.defaults[cls] = (kept, frozenset(read))
        else:
            self.run.classes.tree.note(*known[1])
        made = self.replaced(known[0], {})  # type: ignore[arg-type]
        assert isinstance(made, Obj)
        made.place = place
        return made

    def construct(self, made: Obj, after: ClassEntity | None, args: list[Value], keywords: dict[str, Value]) -> Value:
        """Run the next ``__init__`` along the method resolution order behind ``after``."""
        run = self.run
        assert made.cls is not None
        order = list(run.mro(made.cls))
        if after is not None and after in order:
            order = order[order.index(after) + 1 :]
        for ancestor in order:
            if isinstance(ancestor, ClassEntity):
                if ancestor.fqn == "torch.nn.modules.module.Module":
                    return NONE
                if run.hf.is_root(ancestor):
                    return run.hf.construct_root(made, args, keywords)
                init = run.classes.local(ancestor, "__init__")
                functions = [m.function for m in init if m.function is not None]
                if functions:
                    function = Callable_(functions[-1], ancestor.scope, ancestor, made)
                    return run.calls.invoke(function, args, keywords)
                if self.is_dataclass(ancestor):
                    return self._fill(made, args, keywords)
            elif self._construct_outside(made, ancestor, args, keywords):
                return NONE
        return NONE

    def _construct_outside(self, made: Obj, ancestor: External | UnknownBase, args: list, keywords: dict) -> bool:
        """Run the constructor of a base without source; tell whether it ends the chain."""
        name = ancestor.fqn.rpartition(".")[2]
        if torch_modules.construct(self.run, made, ancestor.fqn, args, keywords):
            return True
        if name in _EMPTY_BASES or name.endswith("Mixin") or ancestor.fqn.startswith(("builtins.", "typing.")):
            if name == "PreTrainedModel":
                self.run.hf.construct_root(made, args, keywords)
            return False
        if not made.is_module or self.run.is_harmless(ancestor.fqn):
            return False
        made.opaque = made.opaque or self.run.why_opaque(ancestor.fqn)
        return True

    def _fill(self, made: Obj, args: list[Value], keywords: dict[str, Value]) -> Value:
        """Set the fields of a dataclass from what is given, and the rest from their defaults."""
        assert made.cls is not None
        given = dict(keywords)
        for (name, _, _), value in zip(self.fields(made.cls), args, strict=False):
            given.setdefault(name, value)
        for name, default, owner in self.fields(made.cls):
            if name in given:
                made.slots[name] = given[name]
            elif ANYTHING in given:
                made.slots[name] = Thing(name)
            elif default is not None:
                made.slots[name] = self._default(default, owner)
        after = self.run.globals.class_member(made.cls, "__post_init__")
        if isinstance(after, Callable_):
            self.run.calls.invoke(Callable_(after.node, after.scope, after.owner, made), [], {})
        return NONE

    def _default(self, default: ast.expr, owner: ClassEntity) -> Value:
        if isinstance(default, ast.Call) and "dataclasses.field" in self.run.names.fqns(default.func, owner.scope):
            words = {k.arg: k.value for k in default.keywords}
            if "default" in words:
                return self.run.expressions.value(words["default"], Frame(owner.scope))
            if "default_factory" in words:
                factory = self.run.expressions.value(words["default_factory"], Frame(owner.scope))
                return self.run.calls.apply(factory, [], {}, Place(owner.module.path, default))
            return UNKNOWN
        return self.run.expressions.value(default, Frame(owner.scope))

    def is_dataclass(self, cls: ClassEntity) -> bool:
        """Tell whether a class statement is decorated as a dataclass, or makes a named tuple."""
        if cls not in self._dataclasses:
            makers = [d.func if isinstance(d, ast.Call) else d for d in cls.node.decorator_list]
            fqns = {f for m in makers for f in self.run.names.fqns(m, cls.scope)}
            named = any(dotted(b).rpartition(".")[2] == "NamedTuple" for b in cls.node.bases)
            self._dataclasses[cls] = named or any(f.endswith((".dataclass", ".dataclasses.dataclass")) for f in fqns)
        return self._dataclasses[cls]

    def fields(self, cls: ClassEntity) -> list[tuple[str, ast.expr | None, ClassEntity]]:
        """Return the fields of a dataclass in order: name, default, the class that declares it."""
        found: dict[str, tuple[str, ast.expr | None, ClassEntity]] = {}
        for ancestor in reversed(self.run.mro(cls)):
            if isinstance(ancestor, ClassEntity):
                for statement in ancestor.node.body:
                    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                        found[statement.target.id] = (statement.target.id, statement.value, ancestor)
        return list(found.values())

    # -- reading --------------------------------------------------------------------------------------------------

    def attribute(self, owner: Value, name: str, expr: ast.AST) -> Value:
        """Return ``owner.name`` for a single owner."""
        if isinstance(owner, Obj):
            return self._of_object(owner, name)
        if isinstance(owner, Thing):
            self.run.read_plainly.add(f"{owner.text}.{name}")
            return self.run.hf.field(owner, name)
        if isinstance(owner, ModuleName):
            return self.run.globals.imported(owner.fqn, name)
        if isinstance(owner, External_):
            last = owner.fqn.rpartition(".")[2]
            return Known(last) if name in ("__name__", "__qualname__") else External_(f"{owner.fqn}.{name}")
        if isinstance(owner, ClassValue):
            return self._of_class(owner, name)
        if isinstance(owner, Super):
            return self._of_super(owner, name)
        if isinstance(owner, (Seq, Map, Slots, TensorValue, Known, Partial)):
            if isinstance(owner, TensorValue):
                return tensors.attribute(owner, name)
            if isinstance(owner, Known):
                told = self.run.globals.of_member(owner.value, name) if isinstance(owner.value, Member) else None
                return told or Texts.attribute(owner, name) or Method(owner, name)
            return Method(owner, name)
        if isinstance(owner, Callable_):
            return UNKNOWN
        return Method(owner, name) if isinstance(owner, Unknown) else UNKNOWN

    def _of_object(self, owner: Obj, name: str) -> Value:
        found = owner.slots.get(name)
        defined = self.run.globals.class_member(owner.cls, name) if owner.cls is not None else None
        if isinstance(defined, Callable_) and not self._decorators(defined).isdisjoint(_PROPERTIES):
            return self.run.calls.invoke(Callable_(defined.node, defined.scope, defined.owner, owner), [], {})
        if isinstance(found, (TensorValue, Choice)):
            return self.run.expressions.each(found, as_read)
        if found is not None:
            return found
        if name == "__class__":
            return ClassValue(owner.cls) if owner.cls is not None else UNKNOWN
        if name in _VIEWS:
            return Slots(owner, name)
        if isinstance(defined, Callable_):
            return self.bound(defined, owner)
        if defined is not None and defined is not UNKNOWN:
            return defined
        return Method(owner, name)

    def _decorators(self, function: Callable_) -> frozenset[str]:
        if function.node not in self._decorated:
            found = frozenset(dotted(d) for d in getattr(function.node, "decorator_list", ()))
            self._decorated[function.node] = found
        return self._decorated[function.node]

    def bound(self, function: Callable_, owner: Value) -> Value:
        """Return a method as an attribute of an object or a class."""
        kinds = self._decorators(function)
        if "staticmethod" in kinds:
            return function
        if "classmethod" in kinds:
            cls = ClassValue(owner.cls) if isinstance(owner, Obj) and owner.cls is not None else owner
            return Callable_(function.node, function.scope, function.owner, cls, None, function.fqn)
        if isinstance(owner, ClassValue):
            return function
        return Callable_(function.node, function.scope, function.owner, owner, None, function.fqn)

    def _of_class(self, owner: ClassValue, name: str) -> Value:
        if name in ("__name__", "__qualname__"):
            return Known(owner.cls.name)
        found = self.run.globals.class_member(owner.cls, name)
        if isinstance(found, Callable_):
            return self.bound(found, owner)
        return found if found is not None and found is not UNKNOWN else Method(owner, name)

    def _of_super(self, owner: Super, name: str) -> Value:
        if name == "__init__":
            return Method(owner, name)
        cls = owner.instance.cls if isinstance(owner.instance, (Obj, ClassValue)) else None
        if cls is None:
            return UNKNOWN
        members, _ = self.run.classes.find(cls, name, after=owner.after)
        functions = [m for m in members if m.function is not None]
        if functions:
            member = functions[-1]
            assert member.function is not None
            method = Callable_(member.function, member.owner.scope, member.owner)
            return self.bound(method, owner.instance)
        return Method(owner.instance, name)

    # -- changing -------------------------------------------------------------------------------------------------

    def assign(self, owner: Value, name: str, value: Value, at: ast.AST) -> None:
        """Execute ``owner.name = value``; of a choice of owners each gets it under its own conditions."""
        if isinstance(owner, Obj):
            self._assign(owner, name, value)
            return
        singles = parts(owner, self.heap)
        for conditions, single in singles:
            if isinstance(single, TensorValue):
                self._set_on_tensor(single, name, value)
            if isinstance(single, (Obj, Thing)):
                before = single.slots.get(name, ABSENT)
                if len(singles) > 1 and len(conditions) > 0 and self._shared(single, singles):
                    value = choice([(conditions, value), ((), before)])
                self._assign(single, name, value)

    def _set_on_tensor(self, tensor: TensorValue, name: str, value: Value) -> None:
        if name == "data" and isinstance(value, TensorValue):
            tensor.dtype = value.dtype  # the same parameter with other contents
        elif name == "requires_grad":
            tensors.freeze(self.run, tensor, value)

    @staticmethod
    def _shared(single: Value, singles: list) -> bool:
        return sum(1 for _, other in singles if other is single) > 1

    def _assign(self, owner: Obj | Thing, name: str, value: Value) -> None:
        if name == "__class__":
            if isinstance(owner, Obj) and isinstance(value, ClassValue) and self.heap.is_fresh(owner):
                owner.cls, owner.type_fqn = value.cls, value.cls.fqn
            return
        if isinstance(owner, Obj):
            singles = [v for _, v in value.alternatives] if isinstance(value, Choice) else (value,)
            if not any(map(_is_member, singles)) and self._set_by_property(owner, name, value):
                return
            before = owner.slots.get(name)
            if value is UNKNOWN and isinstance(before, Obj) and before.is_module:
                value = Unknown("something that cannot be followed takes its place")
            value = self._kept_role(owner, name, value)
        self.heap.write(owner, name, value)

    def _kept_role(self, owner: Obj, name: str, value: Value) -> Value:
        """A plain tensor assigned over a buffer is that buffer."""
        if isinstance(value, TensorValue) and not value.role:
            before = owner.slots.get(name)
            if name in owner.buffers:
                return tensors.as_buffer(value, owner.buffers[name])
            if isinstance(before, TensorValue) and before.wrapped:
                return replace(tensors.as_buffer(value, before.persistent), wrapped=True)
        return value

    def _set_by_property(self, owner: Obj, name: str, value: Value) -> bool:
        if owner.cls is None:
            return False
        key = (owner.cls, name)
        if key not in self._setters:
            self._setters[key] = self._setter(owner.cls, name)
        setter = self._setters[key]
        if setter is None:
            return False
        self.run.calls.invoke(replace(setter, bound=owner), [value], {})
        return True

    def _setter(self, cls: ClassEntity, name: str) -> Callable_ | None:
        for member in self.run.classes.find(cls, name)[0]:
            function = member.function
            if function is not None and any(dotted(d) == f"{name}.setter" for d in function.decorator_list):
                return Callable_(function, member.owner.scope, member.owner)
        return None

    def delete(self, owner: Value, name: str) -> None:
        """Execute ``del owner.name``."""
        if isinstance(owner, Obj) and name in owner.slots:
            self.heap.write(owner, name, ABSENT)

    def replaced(self, owner: Value, keywords: dict[str, Value]) -> Value:
        """Return a shallow copy of an object with some attributes set (``dataclasses.replace``, ``copy.copy``)."""
        if isinstance(owner, Choice):
            return choice([(cond, self.replaced(v, keywords)) for cond, v in parts(owner, self.heap)])
        if isinstance(owner, Obj):
            made = Obj(owner.cls, owner.type_fqn, owner.is_module, owner.place)
            made.buffers, made.hidden, made.opaque = dict(owner.buffers), set(owner.hidden), owner.opaque
            made.items = owner.items
        elif isinstance(owner, Thing):
            made = Thing(owner.text, owner.cls, owner.pattern)  # type: ignore[assignment]
        elif isinstance(owner, Map):
            return Map({**owner.slots, **keywords})
        elif isinstance(owner, Seq):
            return Seq(owner.items, owner.star, self.run.depth)
        else:
            return owner
        made.slots.update(owner.slots)
        made.slots.update(keywords)
        return made


def _is_member(value: Value) -> bool:
    """Whether ``nn.Module`` itself keeps a value: a module, a parameter, a buffer."""
    return (isinstance(value, Obj) and value.is_module) or (isinstance(value, TensorValue) and bool(value.role))


def as_read(value: Value) -> Value:
    """Return what reading an attribute gives: a tensor that was made a buffer by its name is a plain one elsewhere."""
    if isinstance(value, TensorValue) and value.role == "buffer" and not value.wrapped:
        return replace(value, role="")
    return value


def is_property(function: Callable_) -> bool:
    """Tell whether a function of a class body is a computed attribute."""
    return any(dotted(d) in _PROPERTIES for d in getattr(function.node, "decorator_list", ()))
