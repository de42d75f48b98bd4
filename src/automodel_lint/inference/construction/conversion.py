"""Follows the names of a state dict through an adapter: what ``to_hf`` and ``from_hf`` would make of them.

The adapter is the one that construction made; its method runs in the same interpreter, over tensors that remember the
names of those they were made of. An index in a name is one number that stands for all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product

from automodel_lint.inference.classes import Classes
from automodel_lint.inference.construction import payload
from automodel_lint.inference.construction.choices import distributed
from automodel_lint.inference.construction.expressions import key_of
from automodel_lint.inference.construction.heap import Conditions, equality, merged, resolved
from automodel_lint.inference.construction.interpreter import Interpreter, TooLong
from automodel_lint.inference.construction.truth import parts
from automodel_lint.inference.construction.values import (
    ABSENT,
    ANY_INDEX,
    Callable_,
    Choice,
    Index,
    Known,
    Map,
    Obj,
    Pattern,
    Seq,
    TensorValue,
    Value,
)
from automodel_lint.inference.key_map import Image, Key, KeyMap
from automodel_lint.inference.module_tree import Condition, Dtype, Place
from automodel_lint.inference.names import Names

_UNROLLED = 512  # elements that a loop over plain data is written out for
_MOST_CONDITIONS = 9  # that are told apart for one name
_INDEX = re.compile(r"\d{7,}")


@dataclass(eq=False)
class Given:
    """A tensor that goes in: its name (a pattern), and what is known of it.

    ``spelled`` is the name with a number for every index, where it is known which.
    """

    name: str
    conditions: tuple[Conditions, ...] = ((),)
    shape: str | None = None
    dtype: Dtype | None = None
    spelled: str = ""

    def __post_init__(self) -> None:
        self.spelled = self.spelled or real(self.name)


class Converter(Interpreter):
    """An interpreter that follows a state dict."""

    converting = True
    unrolled = _UNROLLED

    def __init__(self, classes: Classes, torch_names: Names):
        super().__init__(classes, torch_names)
        self.heap.converting = True
        self.texts_made: dict[str, Place] = {}

    def restart(self) -> None:
        """Begin anew: what was learnt about classes and modules stays."""
        self.steps, self.trying, self.overwritten = 0, [], set()
        self.texts_made = {}
        self.heap.begin()
        self.heap.version += 1

    def any_index(self) -> Value:
        """Return the number that stands for any index."""
        return Known(Index(ANY_INDEX))

    def distributed(self, values: Sequence[Value], function: Callable[[list[Value]], Value]) -> Value:
        """Apply a function of single values to every combination that is possible."""
        return distributed(values, self.heap, function)

    def note_text(self, text: str, place: Place) -> None:
        """Remember where a text was put together."""
        self.texts_made[text] = place


def key_map(run: Converter, adapter: Obj, method: str, given: Iterable[Given], conditions: Conditions = ()) -> KeyMap:
    """Return what a method of an adapter makes of a state dict where some conditions on the config hold.

    The keys of the map are the names as spelled: with a number for every index. One interpreter may be asked again.
    """
    given = list(given)
    run.restart()
    state = Map({g.spelled: _tensor(g, adapter.place) for g in given})
    found, reason = _Reading(run), None
    try:  # read off on the spot: afterwards everything is as before, the state dict that came in as well
        run.heap.fork([(conditions, (), lambda: found.result(_called(run, adapter, method, [state]), ()))])
    except TooLong:
        reason = f"{method} is too long to be followed"
    except RecursionError:
        reason = f"{method} is nested too deeply to be followed"
    keys = {}
    for one in given:
        keys[one.spelled] = found.key(one, reason)
    derived = {name for pairs in found.made.values() for name, _ in pairs}
    invented = dict.fromkeys(pattern(name) for name in found.invented if name not in derived)
    return KeyMap(keys, tuple(invented), tuple(found.order))


def single_map(run: Converter, adapter: Obj, method: str, given: Iterable[Given]) -> KeyMap:
    """Return what a method makes of tensors that it is handed one by one, with their names: pairs of both."""
    keys = {}
    for one in given:
        run.restart()
        found, reason = _Reading(run), None
        args: list[Value] = [Known(one.spelled), _tensor(one, adapter.place)]

        def read(found: _Reading = found, args: list[Value] = args) -> None:
            found.pairs(_called(run, adapter, method, args), ())

        try:
            run.heap.fork([((), (), read)])
        except (TooLong, RecursionError):
            reason = f"{method} is too long to be followed"
        keys[one.spelled] = found.key(one, reason)
    return KeyMap(keys)


def common_shape(shapes: list[str | None]) -> str | None:
    """Return what the shapes of one tensor's variants have in common; ``None`` if not even their rank."""
    if len(set(shapes)) == 1:
        return shapes[0]
    rows = [payload.sizes_as_written(shape) for shape in shapes]
    if any(row is None for row in rows) or len({len(row) for row in rows if row is not None}) != 1:
        return None
    sizes = [set(column) for column in zip(*(row for row in rows if row is not None), strict=True)]
    return f"[{', '.join(c.pop() if len(c) == 1 else f'size_{at}' for at, c in enumerate(sizes))}]"


def real(name: str) -> str:
    """Return a pattern with a number for every index."""
    return name.replace("*", str(ANY_INDEX))


def pattern(name: str) -> str:
    """Return a name with a star for every number that stands for any."""
    return _INDEX.sub("*", name)


def _tensor(given: Given, place: Place) -> TensorValue:
    return TensorValue(given.dtype, given.shape, place, names={given.spelled})


def _called(run: Converter, adapter: Obj, method: str, args: list[Value]) -> Value:
    function = run.instances.attribute(adapter, method, adapter.place.node)
    if not isinstance(function, Callable_):
        return ABSENT
    return run.calls.invoke(function, args, {})


@dataclass(eq=False)
class _Reading:
    """Reads the result of a conversion off, by the names that went in."""

    run: Converter
    made: dict[str, list[tuple[str, Conditions]]] = field(default_factory=dict)  # by name: what came out, and when
    unknown: set[str] = field(default_factory=set)  # names that went into something whose key is not known
    invented: list[str] = field(default_factory=list)
    order: dict[str, None] = field(default_factory=dict)  # all that came out
    lost: str | None = None  # why something may have come out that nobody saw

    def result(self, value: Value, conditions: Conditions) -> None:
        """Read a state dict."""
        if isinstance(value, Choice):
            for more, single in value.alternatives:
                both = merged(conditions, more)
                if both is not None:
                    self.result(single, both)
        elif isinstance(value, Map):
            for key, entry in value.slots.items():
                self._entry(key, entry, conditions)
        else:
            self.lost = "the state dict that it returns cannot be followed"

    def pairs(self, value: Value, conditions: Conditions) -> None:
        """Read pairs of a name and a tensor."""
        if isinstance(value, Choice):
            for more, single in value.alternatives:
                both = merged(conditions, more)
                if both is not None and single is not ABSENT:
                    self.pairs(single, both)
        elif isinstance(value, Seq) and len(value.items) == 2 and not value.star and not _is_row(value.items[0]):
            for more, single in parts(value.items[0], self.run.heap):
                both = merged(conditions, more)
                if both is not None:
                    self._entry(key_of(single), value.items[1], both)
        elif isinstance(value, Seq):
            for item in (*value.items, *value.star):
                self.pairs(item, conditions)
        else:
            self.lost = "the pairs that it returns cannot be followed"

    def _entry(self, key: object, entry: Value, conditions: Conditions) -> None:
        for more, single in entry.alternatives if isinstance(entry, Choice) else [((), entry)]:
            both = merged(conditions, more)
            if both is None or single is ABSENT:
                continue
            names = single.names if isinstance(single, TensorValue) else None
            if not isinstance(key, str) or (isinstance(key, Pattern) and not _counts(key)):
                self.unknown |= names or set()
                if not names:
                    self.lost = "it puts something under a name that cannot be told"
                continue
            self.order[key] = None
            if names is None:
                self.lost = f"what it puts under {pattern(key)} cannot be followed"
            elif not names:
                self.invented.append(key)
            for name in names or ():
                self.made.setdefault(name, []).append((key, both))

    def key(self, given: Given, reason: str | None) -> Key:
        """Return what came out of a name."""
        made = self.made.get(given.spelled, [])
        if given.spelled in self.unknown:
            reason = reason or "a name that comes out of it cannot be told"
        if given.spelled in self.run.overwritten:
            reason = reason or "another tensor takes the name that comes out of it"
        if not made:
            reason = reason or self.lost
        images = () if reason else _images(made, given.conditions)
        if images is None:
            images, reason = (), "what comes out depends on too many conditions"
        return Key(given.name, images, reason, self._place(given, made))

    def _place(self, given: Given, made: list[tuple[str, Conditions]]) -> Place | None:
        for key, _ in made:
            place = self.run.texts_made.get(key)
            if place is not None and key != given.spelled:
                return place
        return None


def _is_row(value: Value) -> bool:
    """Whether a value is a row itself: two pairs are no pair."""
    return isinstance(value, Seq) or (isinstance(value, Choice) and any(_is_row(v) for _, v in value.alternatives))


def _counts(key: str) -> bool:
    """Whether what is not known of a name is one segment, or the end of one: a number."""
    segments = key.split(".")
    return segments[0].isidentifier() and all(s == "*" or "*" not in s[:-1] for s in segments)


def _images(made: list[tuple[str, Conditions]], possible: tuple[Conditions, ...]) -> tuple[Image, ...] | None:
    """Return the sets of names that come out, each with its conditions; ``None`` if there are too many conditions."""
    texts = list(dict.fromkeys(text for _, cs in made for c in cs for text in atoms(c.text)))
    if len(texts) > _MOST_CONDITIONS:
        return None
    found: dict[tuple[str, ...], list[Conditions]] = {}
    for sides in product((True, False), repeat=len(texts)):
        chosen = tuple(Condition(text, side) for text, side in zip(texts, sides, strict=True))
        if not _agrees(chosen) or not any(merged(chosen, p) is not None for p in possible):
            continue
        facts = dict(chosen)
        names = [key for key, cs in made if all(holds(c.text, facts) is c.holds for c in cs)]
        found.setdefault(tuple(sorted(set(names))), []).append(chosen)
    if len(found) == 1:
        return (_image(next(iter(found))),)
    return tuple(_image(names, _shown(c)) for names, group in found.items() for c in resolved(group))


def _image(spelled: tuple[str, ...], conditions: Conditions = ()) -> Image:
    return Image(tuple(dict.fromkeys(map(pattern, spelled))), conditions, spelled)


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def atoms(text: str) -> list[str]:
    """Return the conditions that a compound one consists of."""
    return [ast.unparse(e) for e in _atoms(_parsed(text))] if _is_compound(_parsed(text)) else [text]


def _is_compound(expr: ast.expr | None) -> bool:
    return isinstance(expr, ast.BoolOp) or (isinstance(expr, ast.UnaryOp) and isinstance(expr.op, ast.Not))


def _atoms(expr: ast.expr | None) -> list[ast.expr]:
    if isinstance(expr, ast.BoolOp):
        return [atom for value in expr.values for atom in _atoms(value)]
    if isinstance(expr, ast.UnaryOp) and isinstance(expr.op, ast.Not):
        return _atoms(expr.operand)
    return [expr] if expr is not None else []


def holds(text: str, facts: dict[str, bool]) -> bool:
    """Tell whether a condition holds where its atoms are as ``facts`` say."""
    expr = _parsed(text)
    return _holds(expr, facts) if expr is not None and _is_compound(expr) else facts[text]


def _holds(expr: ast.expr, facts: dict[str, bool]) -> bool:
    if isinstance(expr, ast.BoolOp):
        sides = (_holds(value, facts) for value in expr.values)
        return all(sides) if isinstance(expr.op, ast.And) else any(sides)
    if isinstance(expr, ast.UnaryOp) and isinstance(expr.op, ast.Not):
        return not _holds(expr.operand, facts)
    return facts[ast.unparse(expr)]


def _agrees(chosen: Conditions) -> bool:
    """Whether conditions are possible together: nothing equals two literals."""
    left = [equality(c.text)[0] for c in chosen if c.holds and " == " in c.text]
    left = [text for text in left if text]
    return len(left) == len(set(left))


def _shown(conditions: Conditions) -> Conditions:
    return tuple(Condition(pattern(c.text), c.holds) for c in conditions)
