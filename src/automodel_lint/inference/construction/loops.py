"""Going over something: element by element where they are known, once for all where only their kind is."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from automodel_lint.inference.construction.frames import Frame
from automodel_lint.inference.construction.heap import choice
from automodel_lint.inference.construction.truth import grouped, parts
from automodel_lint.inference.construction.values import (
    ABSENT,
    UNKNOWN,
    Choice,
    Known,
    Map,
    Obj,
    Pattern,
    Seq,
    TensorValue,
    Thing,
    Value,
)

if TYPE_CHECKING:
    from automodel_lint.inference.construction.interpreter import Interpreter


class Loops:
    """Iterates for an interpreter."""

    def __init__(self, interpreter: Interpreter):
        self.run = interpreter
        self.heap = interpreter.heap

    def elements(self, value: Value, text: str) -> Seq:
        """Return what going over a value gives; what is not known one by one is in ``star``."""
        if isinstance(value, Choice):
            rows = [(cond, self.elements(single, text)) for cond, single in parts(value, self.heap)]
            return _one_row(rows)
        if isinstance(value, Seq):
            return value
        if isinstance(value, Map):
            there = [(k, v) for k, v in value.slots.items() if v is not ABSENT]
            known = [where_there(v, Known(k)) for k, v in there if not isinstance(k, Pattern)]
            return Seq(known, [where_there(v, Thing("", pattern=k)) for k, v in there if isinstance(k, Pattern)])
        if isinstance(value, Obj) and value.items is not None:
            return self.elements(value.items, text)
        if isinstance(value, Known):
            return self._known(value.value)
        if isinstance(value, TensorValue) and value.names is not None:
            return Seq((), [value])
        if isinstance(value, Thing):
            return Seq((), [Thing("")])
        return Seq((), [UNKNOWN])

    def _known(self, value: Any) -> Seq:
        if isinstance(value, (list, tuple, str, range, frozenset, set, dict)) and len(value) <= self.run.unrolled:
            return Seq([Known(v) for v in value])
        return Seq((), [self.run.any_index() if isinstance(value, range) else Thing("")])

    def over(
        self, source: Value, target: ast.expr, iterated: ast.expr, frame: Frame, body: Callable[[bool], Any]
    ) -> None:
        """Run ``body`` for every element bound to ``target``, until it says so.

        It is told whether the element stands for many.
        """
        row = self.elements(source, "")
        for item in row.items:
            if self._once(item, target, frame, lambda: body(False)):
                return
        for item in row.star:
            self.run.depth += 1
            try:
                self._once(item, target, frame, lambda: body(True))
            finally:
                self.run.depth -= 1

    def _once(self, item: Value, target: ast.expr, frame: Frame, body: Callable[[], Any]) -> bool:
        if not isinstance(item, Choice) or all(v is not ABSENT for _, v in item.alternatives):
            self.run.statements.bind(target, item, frame)
            return bool(body())
        there = [(cond, v) for cond, v in parts(item, self.heap) if v is not ABSENT]
        for conditions, single in there:

            def run(single: Value = single) -> None:
                self.run.statements.bind(target, single, frame)
                body()

            [(_, wrote)] = self.heap.fork([(conditions, (), run)])
            self.heap.join([(conditions, wrote)] if not conditions else [(conditions, wrote), (_not(conditions), {})])
        return False


def where_there(entry: Value, shown: Value) -> Value:
    """Return what stands for an entry of a dict, absent where the entry is."""
    if not isinstance(entry, Choice) or all(v is not ABSENT for _, v in entry.alternatives):
        return shown
    return choice([(c, ABSENT if v is ABSENT else shown) for c, v in entry.alternatives])


def _not(conditions: tuple) -> tuple:
    from automodel_lint.inference.module_tree import Condition

    if len(conditions) == 1:
        return (Condition(conditions[0].text, not conditions[0].holds),)
    return (Condition(" and ".join(grouped(str(c)) for c in conditions), False),)


def _one_row(rows: list[tuple[tuple, Seq]]) -> Seq:
    length = max((len(row.items) for _, row in rows), default=0)
    items = [choice([(c, row.items[i] if i < len(row.items) else ABSENT) for c, row in rows]) for i in range(length)]
    star = [
        choice([(cond, value), (_not(cond), ABSENT)]) if cond else value for cond, row in rows for value in row.star
    ]
    return Seq(items, star)
