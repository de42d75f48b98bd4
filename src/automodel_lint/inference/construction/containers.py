"""Lists, dicts and the module containers that are built on them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from automodel_lint.inference.construction import payload
from automodel_lint.inference.construction.arithmetic import combined
from automodel_lint.inference.construction.expressions import key_of
from automodel_lint.inference.construction.frames import Frame
from automodel_lint.inference.construction.heap import choice, same
from automodel_lint.inference.construction.loops import where_there
from automodel_lint.inference.construction.truth import narrowed, negated, parts, shortened, text_of
from automodel_lint.inference.construction.values import (
    ABSENT,
    NONE,
    UNKNOWN,
    Choice,
    Filling,
    Known,
    Map,
    Obj,
    Pattern,
    Row,
    Seq,
    Slots,
    Stored,
    TensorValue,
    Thing,
    Unknown,
    Value,
)
from automodel_lint.inference.module_tree import Condition, Place, part_matches

if TYPE_CHECKING:
    from automodel_lint.inference.construction.interpreter import Interpreter


_SIGNS = {"union": "|", "difference": "-", "intersection": "&"}
_UNFILLED = Unknown(called="its class stands in a table that is filled at run time")


class Containers:
    """Reads and changes containers for an interpreter."""

    def __init__(self, interpreter: Interpreter):
        self.run = interpreter
        self.heap = interpreter.heap

    # -- reading --------------------------------------------------------------------------------------------------

    def item(self, owner: Value, key: Value, expr: ast.Subscript, place: Place) -> Value:
        """Return ``owner[key]`` for a single owner."""
        if isinstance(owner, Obj) and owner.items is not None:
            return self.item(owner.items, key, expr, place)
        if isinstance(owner, Map):
            return self.each_key(key, lambda single: self._entry(owner, single, expr, place))
        if isinstance(owner, TensorValue) and owner.names is not None:
            return replace(owner, role="", shape=None)
        if isinstance(owner, Seq):
            return self._element(owner, key)
        if isinstance(owner, Known) and isinstance(key, Known):
            try:
                return Known(owner.value[key.value])
            except (TypeError, LookupError) as error:
                return self.run.fails(error)
        if isinstance(owner, Slots):
            return owner.owner.slots.get(key_of(key), UNKNOWN)
        if isinstance(owner, Thing):
            return Thing(shortened(f"{owner.text}[{text_of(key, expr.slice)}]", expr))
        return self.run.hf.item(owner, key, place)

    def each_key(self, key: Value, function: Callable[[Value], Value]) -> Value:
        """Do something under every key that there may be, on its own side; return the choice of what it gives."""
        if not isinstance(key, Choice) or not self.run.converting:
            return function(key)
        found = parts(key, self.heap)
        sides = [(conditions, single) for conditions, single in found if single is not ABSENT]
        results = self.heap.fork([(c, (), lambda k=single: function(k)) for c, single in sides])
        written = [(c, wrote) for (c, _), (_, wrote) in zip(sides, results, strict=True)]
        self.heap.join([*written, *((c, {}) for c, single in found if single is ABSENT)])
        return choice([(c, given) for (c, _), (given, _) in zip(sides, results, strict=True)])

    def _entry(self, owner: Map, key: Value, expr: ast.Subscript, place: Place) -> Value:
        at = key_of(key)
        if not isinstance(at, Pattern):
            found = owner.slots.get(at)
            if isinstance(owner, Filling) and (found is None or _may_be_absent(found)):
                return self._filled(owner, at, found or ABSENT, place)
            if found is None:
                starred = [v for k, v in owner.slots.items() if isinstance(k, Pattern)]
                missing = UNKNOWN if owner.slots else _UNFILLED
                return starred[0] if starred else (self.run.fails(KeyError()) if self.run.trying else missing)
            return found
        if not owner.slots:
            return _UNFILLED
        matching = {k: v for k, v in owner.slots.items() if isinstance(k, Pattern) or part_matches(at, str(k))}
        return one_of(matching or owner.slots, text_of(key, expr.slice))

    def _filled(self, owner: Filling, key: Any, found: Value, place: Place) -> Value:
        """What a ``defaultdict`` makes where it has nothing."""
        value = _present(found, self.run.calls.apply(owner.factory, [], {}, place))
        self.heap.write(owner, key, value)
        return value

    def _element(self, owner: Seq, key: Value) -> Value:
        if isinstance(key, Known) and isinstance(key.value, int) and not owner.star:
            index = key.value
            inside = -len(owner.items) <= index < len(owner.items)
            return owner.items[index] if inside else self.run.fails(IndexError())
        candidates = [v for v in (*owner.items, *owner.star) if v is not ABSENT]
        if not candidates:
            return UNKNOWN
        if len(candidates) == 1:
            return candidates[0]
        return choice([((Condition(f"element {i}"),), v) for i, v in enumerate(candidates)])

    def sliced(self, owner: Value, expr: ast.Subscript, frame: Frame) -> Value:
        """Return ``owner[a:b]``."""
        if isinstance(owner, Obj) and isinstance(owner.items, Seq):
            made = Obj(owner.cls, owner.type_fqn, True, owner.place)
            made.items = self.sliced(owner.items, expr, frame)  # type: ignore[assignment]
            return made
        if isinstance(owner, Seq):
            assert isinstance(expr.slice, ast.Slice)
            bounds = (expr.slice.lower, expr.slice.upper, expr.slice.step)
            ends = [self.run.expressions.value(b, frame) if b is not None else NONE for b in bounds]
            if all(isinstance(e, Known) for e in ends) and not owner.star:
                lower, upper, step = (e.value for e in ends)  # type: ignore[attr-defined]
                return Seq(owner.items[lower:upper:step], depth=owner.depth)
            return Seq((), (*owner.items, *owner.star), owner.depth)
        if isinstance(owner, Known):
            return self.run.texts.sliced(owner, expr, frame)
        if isinstance(owner, Thing):
            return Thing(shortened(f"{owner.text}[{ast.unparse(expr.slice)}]", expr))
        if isinstance(owner, TensorValue):
            return owner if owner.names is None else replace(owner, role="", shape=None)
        return UNKNOWN

    # -- changing -------------------------------------------------------------------------------------------------

    def set_item(self, owner: Value, key: Value, value: Value) -> None:
        """Execute ``owner[key] = value``."""
        if isinstance(owner, Obj):
            if owner.items is not None:
                self.set_item(owner.items, key, value)
        elif isinstance(owner, Map):
            self.each_key(key, lambda single: self._put(owner, single, value))
        elif isinstance(owner, TensorValue):
            payload.wrote(owner, [value])
        elif isinstance(owner, Slots):
            self._set_slot(owner, key_of(key), value)
        elif isinstance(owner, Seq):
            if isinstance(key, Known) and isinstance(key.value, int) and not owner.star:
                items = list(owner.items)
                if -len(items) <= key.value < len(items):
                    items[key.value] = value
                    self.heap.write(owner, "items", Row(tuple(items)))
            else:
                others = (*owner.items, *owner.star) if self.run.converting else ()
                self.heap.write(owner, "star", Row((*others, value)))
                self.heap.write(owner, "items", Row(()))

    def _put(self, owner: Map, key: Value, value: Value) -> Value:
        at = key_of(key)
        value = narrowed(value, self.heap)
        self.run.overwritten |= payload.replaced(owner.slots.get(at), value)
        self.heap.write(owner, at, self.beside(owner, at, value))
        return NONE

    def _set_slot(self, view: Slots, key: Any, value: Value) -> None:
        """``self._buffers["x"] = t`` registers, ``self.__dict__["x"] = m`` hides."""
        if view.name == "__dict__":
            view.owner.hidden.add(key)
        elif isinstance(value, TensorValue) and view.name == "_buffers":
            view.owner.buffers[key] = True
            value = replace(value, role="buffer")
        elif isinstance(value, TensorValue) and view.name == "_parameters":
            value = replace(value, role="parameter")
        self.heap.write(view.owner, key, value)

    def beside(self, owner: Stored, key: Any, value: Value) -> Value:
        """Return what a slot holds after a write: under a key that is not known, what was there may still be."""
        before = owner.slots.get(key)
        if not isinstance(key, Pattern) or before is None or before is ABSENT or before is value:
            return value
        together = payload.together(before, value) if self.run.converting else None
        if together is not None:
            return together
        first = Condition(f"another {key}" if key != "*" else "another key")
        return choice([((first,), before), ((negated(first),), value)])

    def delete_item(self, owner: Value, key: Any) -> None:
        """Execute ``del owner[key]``."""
        if isinstance(owner, Obj) and owner.items is not None:
            self.delete_item(owner.items, key)
        elif isinstance(owner, Map) and key in owner.slots:
            self._drop(owner, key)
        elif isinstance(owner, Seq) and isinstance(key, int) and not owner.star:
            items = list(owner.items)
            if -len(items) <= key < len(items):
                del items[key]
                self.heap.write(owner, "items", Row(tuple(items)))

    def _drop(self, owner: Map, key: Any) -> None:
        self.heap.write(owner, key, ABSENT)
        owner.slots.pop(key, None)

    def append(self, owner: Seq, value: Value, front: bool = False) -> None:
        """Add one element, or any number of them where a loop around it does so again and again."""
        slot = "star" if self.run.depth > owner.depth or owner.star else "items"
        row = owner.slots[slot].values  # type: ignore[attr-defined]
        self.heap.write(owner, slot, Row((value, *row) if front and slot == "items" else (*row, value)))

    def extend(self, owner: Seq, more: Seq) -> None:
        """Add all elements of another row."""
        for value in more.items:
            self.append(owner, value)
        if more.star:
            self.heap.write(owner, "star", Row((*owner.star, *more.star)))

    # -- methods --------------------------------------------------------------------------------------------------

    def call(self, owner: Value, name: str, args: list[Value], keywords: dict[str, Value]) -> Value:
        """Call a method of a list, a dict or a container of modules."""
        if isinstance(owner, Obj):
            assert owner.items is not None
            found = self.call(owner.items, name, args, keywords)
            return owner if name in ("append", "extend") else found
        if isinstance(owner, Seq):
            return self._list_method(owner, name, args)
        assert isinstance(owner, Map)
        return self._dict_method(owner, name, args, keywords)

    def _list_method(self, owner: Seq, name: str, args: list[Value]) -> Value:
        if name == "add" and args and any(same(args[0], v) for v in owner.items):
            return NONE  # the set has it already
        if name in ("append", "add") and args:
            self.append(owner, args[0])
        elif name == "insert" and len(args) == 2:
            self.append(owner, args[1], front=isinstance(args[0], Known) and args[0].value == 0)
        elif name in ("extend", "update") and args:
            self.extend(owner, self.run.loops.elements(args[0], ""))
        elif name == "pop":
            return self._popped(owner, args)
        elif name in ("remove", "discard", "clear", "difference_update", "intersection_update"):
            self._reduce(owner, name, args)
        elif name in ("union", "difference", "intersection") and args:
            return combined(owner, self.run.loops.elements(args[0], ""), _SIGNS[name])
        elif name == "copy":
            return Seq(owner.items, owner.star, self.run.depth)
        elif name in ("count", "index"):
            return Thing(f"{name}()")
        return NONE

    def _reduce(self, owner: Seq, name: str, args: list[Value]) -> None:
        """Take elements out of a row."""
        if name == "clear":
            self.heap.write(owner, "items", Row(()))
            self.heap.write(owner, "star", Row(()))
            return
        gone = Seq(args[:1]) if name in ("remove", "discard") else self.run.loops.elements(args[0], "")
        left = combined(owner, gone, "&" if name == "intersection_update" else "-")
        if isinstance(left, Seq):
            self.heap.write(owner, "items", Row(left.items))
        else:
            self.heap.write(owner, "star", Row((*owner.star, UNKNOWN)))

    def _popped(self, owner: Seq, args: list[Value]) -> Value:
        index = args[0].value if args and isinstance(args[0], Known) else -1
        items = list(owner.items)
        if owner.star or not isinstance(index, int) or not -len(items) <= index < len(items):
            return choice([((), v) for v in (*owner.items, *owner.star)]) if owner.items or owner.star else UNKNOWN
        value = items.pop(index)
        self.heap.write(owner, "items", Row(tuple(items)))
        return value

    def _dict_method(self, owner: Map, name: str, args: list[Value], keywords: dict[str, Value]) -> Value:
        if name in ("get", "pop", "setdefault") and args:
            default = args[1] if len(args) > 1 else keywords.get("default", NONE)
            return self.each_key(args[0], lambda key: self._looked_up(owner, name, key, default))
        if name == "update":
            self._update(owner, args, keywords)
            return NONE
        if name in ("items", "values", "keys"):
            return self._view(owner, name)
        if name == "copy":
            return Map(dict(owner.slots))
        if name == "clear":
            for key in list(owner.slots):
                self._drop(owner, key)
            return NONE
        return UNKNOWN

    def _looked_up(self, owner: Map, name: str, asked: Value, default: Value) -> Value:
        key = key_of(asked)
        if isinstance(key, Pattern):
            return one_of(owner.slots, text_of(asked, ast.Name("key")), default)
        found = owner.slots.get(key, ABSENT)
        value = _present(found, default)
        if name == "pop" and found is not ABSENT:
            self._drop(owner, key)
        if name == "setdefault" and value is not found:
            self.heap.write(owner, key, value)
        return value

    def _update(self, owner: Map, args: list[Value], keywords: dict[str, Value]) -> None:
        for given in args:
            if self.run.converting:
                self.each_key(given, lambda single: self._merge(owner, single))
                continue
            for _, single in parts(given, self.heap):
                self._merge(owner, single)
        for key, value in keywords.items():
            self.heap.write(owner, key, value)

    def _merge(self, owner: Map, given: Value) -> Value:
        if isinstance(given, Map):
            for key, value in given.slots.items():
                if value is not ABSENT:
                    before = owner.slots.get(key, ABSENT)
                    self.run.overwritten |= payload.replaced(before, value)
                    self.heap.write(owner, key, _present(value, before))
        elif isinstance(given, Seq):
            for pair in (*given.items, *given.star):
                self.each_key(pair, lambda single: self._pair(owner, single))
        elif isinstance(given, Known) and isinstance(given.value, dict):
            for key, value in given.value.items():
                self.heap.write(owner, key, Known(value))
        elif given is not ABSENT and self.run.converting:  # whatever is in it
            self.heap.write(owner, Pattern("*"), self.beside(owner, Pattern("*"), UNKNOWN))
        return NONE

    def _pair(self, owner: Map, pair: Value) -> Value:
        if isinstance(pair, Seq) and len(pair.items) == 2:
            self.set_item(owner, pair.items[0], pair.items[1])
        return NONE

    def _view(self, owner: Map, name: str) -> Seq:
        known: list[Value] = []
        star: list[Value] = []
        for key, value in owner.slots.items():
            if value is ABSENT:
                continue
            shown: Value = Thing("", pattern=str(key)) if isinstance(key, Pattern) else Known(key)
            element = value if name == "values" else where_there(value, shown)
            if name == "items":
                there = [(c, v) for c, v in parts(value, self.heap) if v is not ABSENT]
                pair = Seq([shown, choice(there) if _may_be_absent(value) else value])
                element = where_there(value, pair)
            (star if isinstance(key, Pattern) else known).append(element)
        return Seq(known, star)


def _may_be_absent(value: Value) -> bool:
    return value is ABSENT or (isinstance(value, Choice) and any(v is ABSENT for _, v in value.alternatives))


def _present(found: Value, default: Value) -> Value:
    """Return what is found, and the default on the sides where nothing is."""
    if isinstance(found, Choice) and _may_be_absent(found):
        return choice([(c, default if v is ABSENT else v) for c, v in found.alternatives])
    return default if found is ABSENT else found


def one_of(slots: dict[Any, Value], text: str, default: Value | None = None) -> Value:
    """Return the choice that an open key makes; the last side is what is left when it is none of the others."""
    keys = [k for k, v in slots.items() if v is not ABSENT]
    sides: list[tuple[tuple[Condition, ...], Value]] = []
    others: tuple[Condition, ...] = ()
    for key in keys:
        asked = Condition(text, key) if isinstance(key, bool) else Condition(f"{text} == {key!r}")
        is_last = key is keys[-1] and default is None and others
        sides.append((others if is_last else (*others, asked), slots[key]))
        others = (*others, negated(asked))
    if default is not None:
        sides.append((others, default))
    return choice(sides) if len(sides) > 1 else (sides[0][1] if sides else UNKNOWN)
