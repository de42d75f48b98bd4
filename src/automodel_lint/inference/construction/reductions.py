"""What is asked about a whole row: is any of it true, what comes first, how long is it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from automodel_lint.inference.construction.heap import choice
from automodel_lint.inference.construction.plain_data import python_of
from automodel_lint.inference.construction.truth import as_test, grouped, negated, parts, shortened, text_of
from automodel_lint.inference.construction.values import (
    ABSENT,
    ANY_INDEX,
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Choice,
    Count,
    Index,
    Known,
    Map,
    Seq,
    Test,
    Thing,
    Value,
)
from automodel_lint.inference.module_tree import Condition, Place

if TYPE_CHECKING:
    from automodel_lint.inference.construction.interpreter import Interpreter


class Reductions:
    """Reduces rows for an interpreter."""

    def __init__(self, interpreter: Interpreter):
        self.run = interpreter
        self.heap = interpreter.heap

    def any(self, args: list[Value], place: Place) -> Value:
        """Return ``any(row)``."""
        return self._one(args, place, "any")

    def all(self, args: list[Value], place: Place) -> Value:
        """Return ``all(row)``."""
        return self._one(args, place, "all")

    def _one(self, args: list[Value], place: Place, name: str) -> Value:
        """Decide ``any`` by one that is true, ``all`` by one that is false; what is open stays open."""
        known, data = python_of(args[0]) if args else (False, None)
        if known:
            return Known(any(data) if name == "any" else all(data))
        if not args or not self.run.converting:
            return self._written(name, args, place)
        row = self.run.loops.elements(args[0], "")
        decisive, other = (TRUE, FALSE) if name == "any" else (FALSE, TRUE)
        tests: list[Test] = []
        for item in (*row.items, *row.star):
            test = self._test(item, place, other)
            if test is decisive:
                return decisive
            if isinstance(test, Test):
                tests.append(test)
        if not tests:
            return other
        if len(tests) == 1:
            return tests[0]
        text = (" or " if name == "any" else " and ").join(grouped(str(t.condition)) for t in tests)
        together = Condition(shortened(text, place.node))
        each = tuple(t.condition for t in tests)
        if name == "all":
            return Test(together, each)
        return Test(together, (), tuple(negated(c) for c in each))

    def _test(self, item: Value, place: Place, absent: Value) -> Value:
        """The truth of an element; one that is not there decides nothing."""
        if isinstance(item, Choice) and any(v is ABSENT for _, v in item.alternatives):
            item = choice([(c, absent if v is ABSENT else v) for c, v in item.alternatives])
        test = as_test(item, text_of(item, place.node), self.heap)
        return test

    def next(self, args: list[Value]) -> Value:
        """Return ``next(row, default)``."""
        if not args or not self.run.converting:
            return Thing("next()") if args else UNKNOWN
        row = self.run.loops.elements(args[0], "")
        default = args[1] if len(args) > 1 else UNKNOWN
        sides: list[tuple[tuple[Condition, ...], Value]] = []
        before: tuple[Condition, ...] = ()
        for item in (*row.items, *row.star):
            there = [(c, v) for c, v in parts(item, self.heap) if v is not ABSENT]
            missing = [c for c, v in parts(item, self.heap) if v is ABSENT]
            sides += [((*before, *c), v) for c, v in there]
            if not missing:
                return choice(sides)
            if len(missing) > 1:
                return UNKNOWN
            before = (*before, *missing[0])
        return choice([*sides, (before, default)])

    def filter(self, args: list[Value], place: Place) -> Value:
        """Return ``filter(function, row)``."""
        if len(args) != 2:
            return UNKNOWN
        row = self.run.loops.elements(args[1], "")
        kept: list[list[Value]] = [[], []]
        for at, values in enumerate((row.items, row.star)):
            for item in values:
                given = item if args[0] is NONE else self.run.calls.apply(args[0], [item], {}, place)
                test = as_test(given, text_of(given, place.node), self.heap)
                if test is TRUE:
                    kept[at].append(item)
                elif isinstance(test, Test):
                    sides = [((test.condition,), item), ((negated(test.condition),), ABSENT)]
                    kept[at].append(choice(sides))
        return Seq(*kept, self.run.depth)

    def reduce(self, args: list[Value], place: Place) -> Value:
        """Return ``functools.reduce(function, row, first)``."""
        row = self.run.loops.elements(args[1], "") if len(args) > 1 else Seq((), [UNKNOWN])
        items = [*args[2:3], *row.items]
        if row.star or not items or any(isinstance(v, Choice) for v in row.items):
            return UNKNOWN
        value = items[0]
        for item in items[1:]:
            value = self.run.calls.apply(args[0], [value, item], {}, place)
        return value

    def length(self, args: list[Value], place: Place) -> Value:
        """Return ``len(row)``; while a state dict is followed, one name stands for many, and no dict is counted."""
        return self.run.distributed(args, lambda row: self._length(row, place))

    def _length(self, args: list[Value], place: Place) -> Value:
        known, data = python_of(args[0]) if args else (False, None)
        if known:
            return Known(len(data)) if hasattr(data, "__len__") else UNKNOWN
        if self.run.converting and args and isinstance(args[0], (Seq, Map)) and _is_whole(args[0]):
            return Known(Count(ANY_INDEX))
        if args and isinstance(args[0], (Seq, Map)) and not getattr(args[0], "star", ()):
            row = args[0].items if isinstance(args[0], Seq) else tuple(args[0].slots.values())
            counted = not (self.run.converting and isinstance(args[0], Map) and row)
            if counted and all(v is not ABSENT and not isinstance(v, Choice) for v in row):
                return Known(len(row))
        return self._written("len", args, place)

    @staticmethod
    def _written(name: str, args: list[Value], place: Place) -> Value:
        call = place.node
        written = [text_of(a, e) for a, e in zip(args, getattr(call, "args", ()), strict=False)]
        return Thing(shortened(f"{name}({', '.join(written)})", call))


def _is_whole(row: Seq | Map) -> bool:
    """Whether a row has something for every index there is."""
    if isinstance(row, Seq):
        return bool(row.star) and not row.items and not any(isinstance(v, Choice) for v in row.star)
    there = [k for k, v in row.slots.items() if not isinstance(v, Choice) and v is not ABSENT]
    return len(there) == len(row.slots) > 0 and all(isinstance(k, Index) for k in there)
