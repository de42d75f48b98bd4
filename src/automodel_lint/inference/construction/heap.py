"""What is written where, which conditions are open, and how the two sides of a branch become one again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from automodel_lint.inference.construction.values import (
    _SERIAL,
    ABSENT,
    Choice,
    Known,
    Obj,
    Row,
    Stored,
    TensorValue,
    Value,
)
from automodel_lint.inference.module_tree import Condition

Conditions = tuple[Condition, ...]
MOST = 24  # alternatives of one value; beyond, those that say the same are not told apart any more


class Heap:
    """The slots of all stored values, with undo, and the conditions under which the present code runs."""

    def __init__(self) -> None:
        self.conditions: list[Condition] = []
        self.facts: dict[str, bool] = {}
        self.equal: dict[str, str] = {}  # what surely equals which literal
        self.writes = 0
        self.converting = False  # whether what stands for any number stands for one at least
        self.version = 0  # of what objects hold, while a state dict is followed
        self.begun = 0  # the serial from which on things are made in passing
        self._journals: list[tuple[int, dict[tuple[int, Any], tuple[Stored, Any, Value]]]] = []

    # -- slots --------------------------------------------------------------------------------------------------

    def write(self, owner: Stored, key: Any, value: Value) -> None:
        """Set a slot; a value made before the innermost branch began is remembered as it was."""
        self.writes += 1
        if self.converting and (isinstance(owner, Obj) or owner.serial < self.begun):
            self.version += 1
            if isinstance(value, Stored) and not isinstance(value, Obj):
                value.serial = 0  # from now on it is a part of an object
        if self._journals:
            started, journal = self._journals[-1]
            if owner.serial < started:
                journal.setdefault((id(owner), key), (owner, key, owner.slots.get(key, ABSENT)))
        owner.slots[key] = value

    def begin(self) -> None:
        """Let what is made from now on be made in passing."""
        self.begun = next(_SERIAL)

    def is_fresh(self, owner: Stored | TensorValue) -> bool:
        """Tell whether something was made in the innermost branch, so that changes of it need no condition."""
        return not self._journals or owner.serial >= self._journals[-1][0]

    def _begin(self) -> None:
        self._journals.append((next(_SERIAL), {}))

    def _end(self) -> dict[tuple[int, Any], tuple[Stored, Any, Value, Value]]:
        """Undo what was written since the matching begin; return it as (owner, key, before, after)."""
        _, journal = self._journals.pop()
        written = {}
        for at, (owner, key, before) in journal.items():
            written[at] = (owner, key, before, owner.slots.get(key, ABSENT))
            self._put(owner, key, before)
            if isinstance(owner, Obj) or owner.serial < self.begun:
                self.version += 1
        return written

    @staticmethod
    def _put(owner: Stored, key: Any, value: Value) -> None:
        if value is ABSENT:
            owner.slots.pop(key, None)
        else:
            owner.slots[key] = value

    # -- conditions ---------------------------------------------------------------------------------------------

    def fact(self, condition: Condition) -> bool | None:
        """Return whether a condition surely holds where the present code runs, ``None`` if that is open."""
        if not self.facts:
            return None
        text, holds = condition
        known = self.facts.get(text)
        if known is not None:
            return known is holds
        if not self.equal or " == " not in text:
            return None
        left, right = equality(text)
        if left and self.equal.get(left, right) != right:  # it equals another literal
            return not holds
        return None

    def agrees(self, conditions: Conditions) -> bool:
        """Tell whether an alternative is possible where the present code runs."""
        fact = self.fact
        return all(fact(condition) is not False for condition in conditions)

    def under(self, conditions: Conditions, implied: Iterable[Condition], run: Callable[[], Any]) -> Any:
        """Run something with more conditions open; ``implied`` are facts that follow from them."""
        depth, facts, equal = len(self.conditions), self.facts, self.equal
        self.facts = facts.copy()
        for condition in conditions:
            if condition not in self.conditions:
                self.conditions.append(condition)
            self.facts[condition.text] = condition.holds
        self.facts.update(implied)
        pairs = [equality(text) for text, holds in (*conditions, *implied) if holds and " == " in text]
        if pairs:
            self.equal = {**equal, **{left: right for left, right in pairs if left}}
        try:
            return run()
        finally:
            del self.conditions[depth:]
            self.facts, self.equal = facts, equal

    def anywhere(self, run: Callable[[], Any]) -> Any:
        """Run something as if no condition were open."""
        facts, equal, self.facts, self.equal = self.facts, self.equal, {}, {}
        try:
            return run()
        finally:
            self.facts, self.equal = facts, equal

    # -- branches -----------------------------------------------------------------------------------------------

    def fork(
        self, sides: list[tuple[Conditions, tuple[Condition, ...], Callable[[], Any]]]
    ) -> list[tuple[Any, dict[tuple[int, Any], tuple[Stored, Any, Value, Value]]]]:
        """Run each side from the same state; return what each gave and wrote. The state is as before."""
        results = []
        for conditions, implied, run in sides:
            self._begin()
            try:
                given = self.under(conditions, implied, run)
            except BaseException:
                self._end()
                raise
            results.append((given, self._end()))
        return results

    def join(self, sides: list[tuple[Conditions, dict[tuple[int, Any], tuple[Stored, Any, Value, Value]]]]) -> None:
        """Make the state what it is after a branch: for each slot one alternative per side."""
        touched: dict[tuple[int, Any], tuple[Stored, Any, Value]] = {}
        for _, written in sides:
            for at, (owner, key, before, _) in written.items():
                touched.setdefault(at, (owner, key, before))
        for at, (owner, key, before) in touched.items():
            values = [(cond, written[at][3] if at in written else before) for cond, written in sides]
            self._put_joined(owner, key, self.joined(values))

    def _put_joined(self, owner: Stored, key: Any, value: Value) -> None:
        if value is ABSENT:
            if self._journals:
                self.write(owner, key, ABSENT)
            owner.slots.pop(key, None)
        else:
            self.write(owner, key, value)

    def joined(self, sides: list[tuple[Conditions, Value]]) -> Value:
        """Return the value that stands for one of ``sides``."""
        if all(value is sides[0][1] for _, value in sides):
            return sides[0][1]
        if any(isinstance(value, Row) for _, value in sides):
            return self._joined_rows(sides)
        return choice(sides)

    def _joined_rows(self, sides: list[tuple[Conditions, Value]]) -> Row:
        """Rows are joined element by element; what only one side has is absent on the others."""
        rows = [(cond, value.values if isinstance(value, Row) else ()) for cond, value in sides]
        length = max(len(row) for _, row in rows)
        return Row(
            tuple(choice([(cond, row[i] if i < len(row) else ABSENT) for cond, row in rows]) for i in range(length))
        )


@lru_cache(maxsize=8192)
def equality(text: str) -> tuple[str, str]:
    """Return both sides of ``x == <literal>``; two empty texts for any other condition."""
    left, equals, right = text.rpartition(" == ")
    if (
        equals
        and " or " not in text
        and " and " not in text
        and (right[:1] in "'\"0123456789-" or right in ("True", "False", "None"))
    ):
        return left, right
    return "", ""


def choice(sides: Iterable[tuple[Conditions, Value]]) -> Value:
    """Return one value for several alternatives: flattened, the impossible left out, the same told once."""
    flat: list[tuple[Conditions, Value]] = []
    for conditions, value in sides:
        if not isinstance(value, Choice):
            flat.append((conditions, value))
            continue
        for more, single in value.alternatives:
            both = merged(conditions, more)
            if both is not None:
                flat.append((both, single))
    if not flat:
        return ABSENT
    first = flat[0][1]
    if all(same(first, value) for _, value in flat):
        return first
    if len(flat) > 2:
        flat = _simplified(flat)
    if len(flat) > MOST:
        flat = _fewer(flat)
    return Choice(flat)


def _simplified(flat: list[tuple[Conditions, Value]]) -> list[tuple[Conditions, Value]]:
    """``x`` if a and b, ``x`` if a and not b: that is ``x`` if a."""
    groups: dict[object, list[Conditions]] = {}
    values: dict[object, Value] = {}
    for conditions, value in flat:
        key = (type(value.value), value.value) if _is_word(value) else id(value)  # type: ignore[attr-defined]
        groups.setdefault(key, []).append(conditions)
        values[key] = value
    if len(groups) == len(flat):
        return flat
    return [(conditions, values[key]) for key, group in groups.items() for conditions in resolved(group)]


def _is_word(value: Value) -> bool:
    return isinstance(value, Known) and isinstance(value.value, (str, int, float, bool, type(None)))


def resolved(group: list[Conditions]) -> list[Conditions]:
    """Return alternatives as few as can be: two that differ in the side of one condition only are one."""
    kept = [frozenset(c) for c in group]
    order = {condition: i for conditions in group for i, condition in enumerate(conditions)}
    again = len(kept) > 1
    while again:
        again = False
        for at, first in enumerate(kept):
            for other in kept[at + 1 :]:
                apart = first ^ other
                if not apart or (len(apart) == 2 and len({c.text for c in apart}) == 1 and len(first) == len(other)):
                    kept = [c for c in kept if c is not first and c is not other] + [first & other]
                    again = True
                    break
            if again:
                break
    return [tuple(sorted(c, key=lambda condition: order[condition])) for c in kept]


def _fewer(flat: list[tuple[Conditions, Value]]) -> list[tuple[Conditions, Value]]:
    kept: list[tuple[Conditions, Value]] = []
    for conditions, value in flat:
        if not any(same(value, other) for _, other in kept):
            kept.append((conditions, value))
    return kept[:MOST]


def same(first: Value, second: Value) -> bool:
    """Tell whether two values surely are one."""
    if first is second:
        return True
    return (
        isinstance(first, Known)
        and isinstance(second, Known)
        and type(first.value) is type(second.value)
        and first.value == second.value
    )


def merged(first: Conditions, second: Conditions) -> Conditions | None:
    """Return the conditions of both; ``None`` if they exclude each other."""
    if not first or not second:
        return first or second
    known = dict(first)
    result = list(first)
    for condition in second:
        holds = known.get(condition.text)
        if holds is None:
            result.append(condition)
        elif holds is not condition.holds:
            return None
    return tuple(result)
