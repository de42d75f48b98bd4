"""The methods of ``nn.Module`` that change what a module holds."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from automodel_lint.inference.construction import tensors
from automodel_lint.inference.construction.expressions import key_of
from automodel_lint.inference.construction.heap import choice
from automodel_lint.inference.construction.truth import as_test, negated, parts
from automodel_lint.inference.construction.values import (
    ABSENT,
    NONE,
    TRUE,
    UNKNOWN,
    Choice,
    Known,
    Map,
    Obj,
    Pattern,
    Seq,
    Slots,
    TensorValue,
    Test,
    Thing,
    Value,
)
from automodel_lint.inference.module_tree import Place

if TYPE_CHECKING:
    from automodel_lint.inference.construction.interpreter import Interpreter

RETURNS_SELF = frozenset(
    "to eval train cuda cpu half bfloat16 float double type requires_grad_ apply to_empty share_memory compile".split()
)
# What gives the tensors of a module other names.
_REPARAMETRIZING = frozenset({"spectral_norm", "orthogonal", "register_parametrization", "weight_norm"})
_MOST = 300  # modules that a loop over all of them visits
_ADDS = frozenset({"register_buffer", "register_parameter", "register_module", "add_module"})


class ModuleMethods:
    """Calls methods of modules for an interpreter."""

    def __init__(self, interpreter: Interpreter):
        self.run = interpreter
        self.heap = interpreter.heap

    def call(self, owner: Obj, name: str, args: list[Value], keywords: dict[str, Value], place: Place) -> Value:
        """Return what ``module.name(…)`` gives."""
        if name in _ADDS:
            self._add(owner, name, args, keywords, place)
            return NONE
        if name == "__setattr__" and len(args) == 2:
            self.run.instances.assign(owner, str(key_of(args[0])), args[1], place.node)
            return NONE
        if name == "get_submodule" and args:
            return self._at(owner, args[0])
        if name in ("named_children", "children", "named_modules", "modules"):
            named = name.startswith("named")
            return self._below(owner, named) if name.endswith("modules") else self._children(owner, named)
        if owner.items is not None and name not in RETURNS_SELF:
            return self.run.containers.call(owner, name, args, keywords)
        if name == "parameters":
            return Seq([replace(t, origin=t) for t in tensors_below(owner, set())])
        if name in RETURNS_SELF:
            self._change(owner, name, args, keywords)
            return owner
        return UNKNOWN

    def _change(self, owner: Obj, name: str, args: list[Value], keywords: dict[str, Value]) -> None:
        """Cast or freeze a module that was just built. A cast of the object under construction is not allocation."""
        if name == "requires_grad_":
            for tensor in tensors_below(owner, set()):
                tensors.freeze(self.run, tensor, args[0] if args else TRUE)
        if owner in self.run.constructing or not self.heap.is_fresh(owner):
            return
        for dtype in (tensors.cast_to(name, args, keywords),):
            for tensor in tensors_below(owner, set(), buffers=True) if dtype is not None else ():
                tensors.cast(tensor, dtype)

    def reparametrized(self, fqn: str, owner: Obj, args: list, keywords: dict[str, Value], place: Place) -> Value:
        """Return a module whose weight ``torch.nn.utils`` computes from other tensors, under their names."""
        name, is_new = fqn.rpartition(".")[2], ".parametrizations." in fqn
        weight = key_of(keywords.get("name", args[0] if args else Known("weight")))
        own = owner.slots.get(weight)
        if name != "weight_norm" or not isinstance(own, TensorValue):
            if name in _REPARAMETRIZING:
                owner.opaque = f"{name} gives its tensors other names"
                owner.slots.pop(weight, None)
            return owner
        if is_new:
            holder, names = self._holder(owner, weight, place), ("original0", "original1")
        else:
            holder, names = owner, (f"{weight}_g", f"{weight}_v")
        self.heap.write(owner, weight, ABSENT)
        owner.slots.pop(weight, None)
        for part in names:
            self.heap.write(holder, part, replace(own, shape=None))
        return owner

    def _holder(self, owner: Obj, weight: object, place: Place) -> Obj:
        outer = Obj(None, "torch.nn.ModuleDict", True, place)
        inner = Obj(None, "torch.nn.utils.parametrize.ParametrizationList", True, place)
        outer.slots[weight] = inner
        self.heap.write(owner, "parametrizations", outer)
        return inner

    def _add(self, owner: Obj, method: str, args: list[Value], keywords: dict[str, Value], place: Place) -> None:
        names = {"register_buffer": ("name", "tensor", "persistent"), "register_parameter": ("name", "param")}
        given = dict(zip(names.get(method, ("name", "module")), args, strict=False)) | keywords
        value = given.get("tensor", given.get("param", given.get("module", NONE)))
        key = key_of(given.get("name", UNKNOWN))
        if method == "register_buffer":
            persistent = given.get("persistent", TRUE)
            owner.buffers[key] = not (isinstance(persistent, Known) and persistent.value is False)
            tensor = value
            value = self.kept(
                persistent, lambda keeps: self.run.expressions.each(tensor, lambda v: self._buffer(v, keeps, place))
            )
        self.heap.write(owner, key, self.run.containers.beside(owner, key, value))

    def kept(self, persistent: Value, make: Callable[[bool], Value]) -> Value:
        """Return a buffer that the state dict holds or not, as ``persistent`` says; one of each where that is open."""
        test = as_test(persistent, "persistent", self.heap)
        if not isinstance(test, Test):
            return make(test is TRUE)
        return choice([((test.condition,), make(True)), ((negated(test.condition),), make(False))])

    @staticmethod
    def _buffer(value: Value, persistent: bool, place: Place) -> Value:
        if isinstance(value, Known) and value.value is None:
            return value
        return tensors.as_buffer(value, persistent, place)

    def call_slots(self, view: Slots, name: str, args: list[Value]) -> Value:
        """Call a method of ``module._parameters``, ``_modules``, ``_buffers`` or ``__dict__``."""
        if name in ("get", "pop") and args:
            key = key_of(args[0])
            found = view.owner.slots.get(key)
            if name == "pop" and found is not None:
                self.heap.write(view.owner, key, ABSENT)
                view.owner.slots.pop(key, None)
            return found if found is not None else (args[1] if len(args) > 1 else NONE)
        if name in ("items", "values", "keys") and view.name == "_modules":
            pairs = self._children(view.owner, named=True)
            at = {"keys": 0, "values": 1}.get(name)
            if at is None:
                return pairs
            return Seq([p.items[at] for p in pairs.items], [p.items[at] for p in pairs.star])  # type: ignore
        return UNKNOWN

    def _at(self, owner: Value, path: Value) -> Value:
        if not isinstance(path, Known) or not isinstance(path.value, str):
            return UNKNOWN
        found = owner
        for part in path.value.split("."):
            found = self.run.expressions.each(found, lambda v, p=part: self._child(v, p))
        return found

    def _child(self, owner: Value, name: str) -> Value:
        if isinstance(owner, Obj) and owner.items is not None:
            key = Known(int(name)) if isinstance(owner.items, Seq) and name.isdigit() else Known(name)
            return self.run.containers.item(
                owner.items, key, ast.Subscript(ast.Name(name), ast.Constant(name)), owner.place
            )
        return self.run.instances.attribute(owner, name, ast.Name(name))

    def _below(self, owner: Obj, named: bool) -> Seq:
        """The module itself and all below it, with their paths."""
        known: list[Value] = [Seq([Known(""), owner])]
        star: list[Value] = []
        todo: list[tuple[Value, Value, bool]] = [(Known(""), owner, False)]
        while todo and len(known) + len(star) < _MOST:
            path, value, many = todo.pop(0)
            for _, single in parts(value, self.heap):
                if not isinstance(single, Obj):
                    continue
                row = self._children(single, named=True)
                for pair, again in [*((p, many) for p in row.items), *((p, True) for p in row.star)]:
                    assert isinstance(pair, Seq)
                    below = _joined_path(path, pair.items[0])
                    (star if again else known).append(Seq([below, pair.items[1]]))
                    todo.append((below, pair.items[1], again))
        if named:
            return Seq(known, star)
        return Seq([p.items[1] for p in known], [p.items[1] for p in star])  # type: ignore[attr-defined]

    def _children(self, owner: Obj, named: bool) -> Seq:
        """The direct children; those further down are reached by going over these."""
        pairs = list(member_items(owner))
        known, star = [], []
        for key, value in pairs:
            modules = [(c, v) for c, v in parts(value, self.heap) if isinstance(v, Obj) and v.is_module]
            if not modules:
                continue
            single = choice(modules) if len(modules) > 1 or modules[0][0] else modules[0][1]
            shown: Value = Thing("", pattern=str(key)) if isinstance(key, Pattern) else Known(str(key))
            (star if isinstance(key, Pattern) else known).append(Seq([shown, single]) if named else single)
        return Seq(known, star)


def _joined_path(prefix: Value, name: Value) -> Value:
    texts = [str(v.value) if isinstance(v, Known) else getattr(v, "pattern", "*") for v in (prefix, name)]
    path = ".".join(t for t in texts if t)
    return Known(path) if isinstance(prefix, Known) and isinstance(name, Known) else Thing("", pattern=path)


def member_items(owner: Obj) -> list[tuple[object, Value]]:
    """Return what a module holds by name: its attributes, then the elements of its container."""
    found: list[tuple[object, Value]] = [(k, v) for k, v in owner.slots.items() if k not in owner.hidden]
    items = owner.items
    if isinstance(items, Map):
        found += [(k, v) for k, v in items.slots.items() if v is not ABSENT]
    elif isinstance(items, Seq):
        sure = not items.star and all(_surely_there(v) for v in items.items)
        found += [(i if sure else Pattern("*"), v) for i, v in enumerate(items.items)]
        found += [(Pattern("*"), v) for v in items.star]
    return found


def _surely_there(value: Value) -> bool:
    return value is not ABSENT and all(v is not ABSENT for _, v in getattr(value, "alternatives", ()))


def tensors_below(owner: Obj, seen: set[int], buffers: bool = False) -> list[TensorValue]:
    """Return the parameters of a module and of all below it, and on request the buffers."""
    if id(owner) in seen:
        return []
    seen.add(id(owner))
    found: list[TensorValue] = []
    for _, value in member_items(owner):
        for single in (v for _, v in value.alternatives) if isinstance(value, Choice) else (value,):
            if isinstance(single, TensorValue) and (single.role == "parameter" or (buffers and single.role)):
                found.append(single)
            elif isinstance(single, Obj) and single.is_module:
                found += tensors_below(single, seen, buffers)
    return found
