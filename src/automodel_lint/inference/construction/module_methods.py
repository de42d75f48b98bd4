"""The methods of ``nn.Module`` that change what a module holds."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from automodel_lint.inference.construction import tensors
from automodel_lint.inference.construction.expressions import key_of
from automodel_lint.inference.construction.heap import choice
from automodel_lint.inference.construction.truth import parts
from automodel_lint.inference.construction.values import (
    ABSENT,
    NONE,
    TRUE,
    UNKNOWN,
    Known,
    Map,
    Obj,
    Pattern,
    Seq,
    Slots,
    Thing,
    Value,
)
from automodel_lint.inference.module_tree import Place

if TYPE_CHECKING:
    from automodel_lint.inference.construction.interpreter import Interpreter

_RETURNS_SELF = frozenset(
    "to eval train cuda cpu half bfloat16 float double type requires_grad_ apply to_empty share_memory compile".split()
)
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
            return self._children(owner, named=name.startswith("named"))
        if owner.items is not None and name not in _RETURNS_SELF:
            return self.run.containers.call(owner, name, args, keywords)
        if name in _RETURNS_SELF:
            return owner
        return UNKNOWN

    def _add(self, owner: Obj, method: str, args: list[Value], keywords: dict[str, Value], place: Place) -> None:
        names = {"register_buffer": ("name", "tensor", "persistent"), "register_parameter": ("name", "param")}
        given = dict(zip(names.get(method, ("name", "module")), args, strict=False)) | keywords
        value = given.get("tensor", given.get("param", given.get("module", NONE)))
        key = key_of(given.get("name", UNKNOWN))
        if method == "register_buffer":
            persistent = given.get("persistent", TRUE)
            keeps = not (isinstance(persistent, Known) and persistent.value is False)
            owner.buffers[key] = keeps
            value = self.run.expressions.each(value, lambda v: self._buffer(v, keeps, place))
        self.heap.write(owner, key, value)

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
            return self.run.containers.item(owner.items, key, ast.Subscript(ast.Name(name), ast.Constant(name)))
        return self.run.instances.attribute(owner, name, ast.Name(name))

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
