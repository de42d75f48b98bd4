"""Expressions: what each comes out as."""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, Any

from automodel_lint.inference.bindings import literal_truth
from automodel_lint.inference.construction.arithmetic import combined, computed, negative
from automodel_lint.inference.construction.frames import Frame
from automodel_lint.inference.construction.heap import Conditions, choice, merged
from automodel_lint.inference.construction.truth import (
    as_test,
    compared,
    grouped,
    is_none,
    is_open,
    known_truth,
    narrowed,
    negated,
    opposite,
    parts,
    shortened,
    text_of,
)
from automodel_lint.inference.construction.values import (
    ABSENT,
    FALSE,
    TRUE,
    UNKNOWN,
    Callable_,
    Choice,
    Index,
    Known,
    Map,
    Pattern,
    Row,
    Seq,
    Test,
    Thing,
    Value,
)
from automodel_lint.inference.module_tree import Condition, Place

if TYPE_CHECKING:
    from automodel_lint.inference.construction.interpreter import Interpreter


_SETS = {ast.BitOr: "|", ast.BitAnd: "&", ast.Sub: "-"}


class Expressions:
    """Evaluates expressions for an interpreter."""

    def __init__(self, interpreter: Interpreter):
        self.run = interpreter
        self.heap = interpreter.heap
        self._constants: dict[ast.Constant, Known] = {}
        self._kinds: dict[type, Callable[[Any, Frame], Value]] = {
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Call: interpreter.calls.call,
            ast.IfExp: self._conditional,
            ast.BoolOp: self._bool,
            ast.Compare: self._compare,
            ast.UnaryOp: self._unary,
            ast.BinOp: self._binary,
            ast.List: self._sequence,
            ast.Tuple: self._sequence,
            ast.Set: lambda e, f: as_set(self.elements(e.elts, f)),
            ast.Dict: self._dict,
            ast.Subscript: self._subscript,
            ast.JoinedStr: lambda e, f: self.run.texts.formatted(e, f),
            ast.ListComp: self._comprehension,
            ast.SetComp: self._comprehension,
            ast.GeneratorExp: self._comprehension,
            ast.DictComp: self._comprehension,
            ast.Lambda: lambda e, f: Callable_(e, f.scope, f.owner, None, f, "", self.run.calls.defaults_of(e, f)),
            ast.Yield: self._yield,
            ast.YieldFrom: self._yield,
            ast.NamedExpr: self._named,
        }

    def value(self, expr: ast.expr, frame: Frame) -> Value:
        """Return what an expression comes out as."""
        kind = self._kinds.get(type(expr))
        if kind is None:
            return UNKNOWN
        value = kind(expr, frame)
        return narrowed(value, self.heap) if isinstance(value, Choice) else value

    def _constant(self, expr: ast.Constant, frame: Frame) -> Value:
        known = self._constants.get(expr)
        if known is None:
            known = self._constants[expr] = Known(expr.value)
        return known

    def test(self, expr: ast.expr, frame: Frame) -> Value:
        """Return ``TRUE``, ``FALSE`` or an open :class:`Test`."""
        decided = literal_truth(expr)
        if decided is not None:
            return TRUE if decided else FALSE
        value = self.value(expr, frame)
        truth = known_truth(value)  # most are decided, and need no text
        if truth is not None:
            return TRUE if truth else FALSE
        return as_test(value, shortened(text_of(value, expr), expr), self.heap)

    # -- names ----------------------------------------------------------------------------------------------------

    def _name(self, expr: ast.Name, frame: Frame) -> Value:
        level: Frame | None = frame
        while level is not None:
            found = level.names.get(expr.id)
            if found is not None:
                return UNKNOWN if found is ABSENT else found
            level = level.closure
        return self.run.globals.value(expr, frame.scope)

    def _attribute(self, expr: ast.Attribute, frame: Frame) -> Value:
        owner = self.value(expr.value, frame)
        if not isinstance(owner, Choice):
            return self.run.instances.attribute(owner, expr.attr, expr)
        found = [(c, v) for c, v in parts(owner, self.heap) if v is not ABSENT and not is_none(v)]  # ``None`` has none
        return choice([(cond, self.run.instances.attribute(v, expr.attr, expr)) for cond, v in found])

    def each(self, value: Value, function: Callable[[Value], Value]) -> Value:
        """Apply a function to every alternative of a value."""
        if not isinstance(value, Choice):
            return function(value)
        return choice([(cond, function(single)) for cond, single in parts(value, self.heap) if single is not ABSENT])

    # -- choices --------------------------------------------------------------------------------------------------

    def _conditional(self, expr: ast.IfExp, frame: Frame) -> Value:
        test = self.test(expr.test, frame)
        if not isinstance(test, Test):
            return self.value(expr.body if test is TRUE else expr.orelse, frame)
        return self.branch(test, lambda: self.value(expr.body, frame), lambda: self.value(expr.orelse, frame))

    def branch(self, test: Test, yes: Callable[[], Value], no: Callable[[], Value]) -> Value:
        """Evaluate both sides of an open test, joining what they write; return the choice between their values."""
        true, false = (test.condition,), (negated(test.condition),)
        (first, wrote), (second, wrote_else) = self.heap.fork([(true, test.if_true, yes), (false, test.if_false, no)])
        self.heap.join([(true, wrote), (false, wrote_else)])
        return choice([(true, first), (false, second)])

    def _bool(self, expr: ast.BoolOp, frame: Frame) -> Value:
        is_and = isinstance(expr.op, ast.And)
        left = self.value(expr.values[0], frame)
        for index, operand in enumerate(expr.values[1:], 1):
            left = self._short_circuit(is_and, left, expr.values[index - 1], operand, frame)
        return left

    def _short_circuit(self, is_and: bool, left: Value, written: ast.expr, operand: ast.expr, frame: Frame) -> Value:
        truth = known_truth(left)
        if truth is not None:
            return self.value(operand, frame) if truth is is_and else left
        test = as_test(left, shortened(text_of(left, written), written), self.heap)
        if not isinstance(test, Test):
            return self.value(operand, frame) if (test is TRUE) is is_and else left
        if not is_and:
            test = opposite(test)
            assert isinstance(test, Test)
        side = (test.condition,)
        [(right, wrote)] = self.heap.fork([(side, test.if_true, lambda: self.value(operand, frame))])
        self.heap.join([(side, wrote), ((negated(test.condition),), {})])
        if is_open(left) and (is_open(right) or isinstance(right, Known)):
            return self._both_open(is_and, left, right, test, written, operand)
        return choice([(side, right), ((negated(test.condition),), left)])

    def _both_open(
        self, is_and: bool, left: Value, right: Value, test: Test, written: ast.expr, operand: ast.expr
    ) -> Value:
        """Two open values: of conditions a condition, of others an expression over the config."""
        first, second = text_of(left, written), text_of(right, operand)
        text = f"{grouped(first)} {'and' if is_and else 'or'} {grouped(second)}"
        other = as_test(right, second, self.heap)
        other_is_true = other is TRUE
        if isinstance(left, Thing) and not isinstance(right, Test):
            made = Thing(text, left.cls or (right.cls if isinstance(right, Thing) else None))
            made.given = not is_and and other_is_true
            return made
        if not isinstance(other, Test):
            decided = other is TRUE
            if decided is is_and:  # ``a and True``
                return left
            return Known(decided) if isinstance(left, Test) else choice([((test.condition,), right)])
        implied = (test.condition if is_and else negated(test.condition), other.condition)
        if is_and:
            return Test(Condition(text), (*implied, *test.if_true, *other.if_true))
        neither = tuple(negated(c) for c in implied)
        return Test(Condition(text), (), (*neither, *test.if_true, *other.if_false))

    def _compare(self, expr: ast.Compare, frame: Frame) -> Value:
        left = self.value(expr.left, frame)
        if len(expr.ops) > 1:
            rest = [self.value(c, frame) for c in expr.comparators]
            return self._chained(expr, [left, *rest])
        right = self.value(expr.comparators[0], frame)
        if not isinstance(left, Choice) and not isinstance(right, Choice):
            return compared(left, expr.ops[0], right, expr, self.heap)
        sides = list(product(parts(left, self.heap), parts(right, self.heap)))
        if len(sides) > 16:
            return Test(Condition(shortened(ast.unparse(expr), expr)))
        return choice(((*cond, *more), compared(a, expr.ops[0], b, expr, self.heap)) for (cond, a), (more, b) in sides)

    def _chained(self, expr: ast.Compare, values: list[Value]) -> Value:
        if all(isinstance(v, Known) for v in values):
            pairs = zip(values, expr.ops, values[1:], strict=False)
            results = [compared(a, op, b, expr, self.heap) for a, op, b in pairs]
            return TRUE if all(r is TRUE for r in results) else FALSE
        if self.run.converting:
            pairs = zip(values, expr.ops, values[1:], strict=False)
            results = [compared(a, op, b, expr, self.heap) for a, op, b in pairs]
            if FALSE in results or all(r is TRUE for r in results):
                return FALSE if FALSE in results else TRUE
        if len(values) == 3 and all(isinstance(op, (ast.Lt, ast.LtE)) for op in expr.ops):
            middle = values[1]
            if isinstance(middle, Known) and isinstance(middle.value, Index):  # from the first to the last: any index
                first = compared(values[0], expr.ops[0], middle, expr, self.heap)
                if first is TRUE and not isinstance(values[2], Known):
                    return TRUE
        return Test(Condition(shortened(ast.unparse(expr), expr)))

    def _unary(self, expr: ast.UnaryOp, frame: Frame) -> Value:
        if isinstance(expr.op, ast.Not):
            return opposite(self.test(expr.operand, frame))
        value = self.value(expr.operand, frame)
        return self.each(value, lambda single: negative(single, expr))

    def _binary(self, expr: ast.BinOp, frame: Frame) -> Value:
        left, right = self.value(expr.left, frame), self.value(expr.right, frame)
        if isinstance(left, Choice) or isinstance(right, Choice):
            sides = list(product(parts(left, self.heap), parts(right, self.heap)))
            if len(sides) > 16:
                return Thing(shortened(ast.unparse(expr), expr))
            return choice(
                (both, computed(a, b, expr))
                for (cond, a), (more, b) in sides
                if (both := self._both(cond, more)) is not None
            )
        if self.run.converting and isinstance(left, Seq) and isinstance(right, Seq) and type(expr.op) in _SETS:
            return combined(left, right, _SETS[type(expr.op)])
        value = computed(left, right, expr)
        if isinstance(value, Known) and self.run.converting and isinstance(value.value, str):
            self.run.note_text(value.value, Place(frame.scope.module.path, expr))
        return value

    def _both(self, first: Conditions, second: Conditions) -> Conditions | None:
        return merged(first, second) if self.run.converting else (*first, *second)

    def _yield(self, expr: ast.Yield | ast.YieldFrom, frame: Frame) -> Value:
        if frame.generated is not None and expr.value is not None:
            value = self.value(expr.value, frame)
            if isinstance(expr, ast.Yield):
                self.run.containers.append(frame.generated, value)
            else:
                self.run.containers.extend(frame.generated, self.run.loops.elements(value, ""))
        return UNKNOWN

    def _named(self, expr: ast.NamedExpr, frame: Frame) -> Value:
        frame.names[expr.target.id] = value = self.value(expr.value, frame)
        return value

    # -- containers -----------------------------------------------------------------------------------------------

    def elements(self, exprs: list[ast.expr], frame: Frame) -> Seq:
        """Return the values of expressions in a row, ``*starred`` ones spread out."""
        items: list[Value] = []
        star: list[Value] = []
        for expr in exprs:
            if isinstance(expr, ast.Starred):
                inner = self.run.loops.elements(self.value(expr.value, frame), ast.unparse(expr.value))
                items += inner.items
                star += inner.star
            else:
                items.append(self.value(expr, frame))
        return Seq(items, star, self.run.depth)

    def _sequence(self, expr: ast.List | ast.Tuple | ast.Set, frame: Frame) -> Value:
        return self.elements(expr.elts, frame)

    def _dict(self, expr: ast.Dict, frame: Frame) -> Value:
        found = Map()
        for key, value in zip(expr.keys, expr.values, strict=True):
            given = self.value(value, frame)
            if key is not None:
                self.run.containers.set_item(found, self.value(key, frame), given)
                continue
            for _, single in parts(given, self.heap):
                if isinstance(single, Map):
                    self.run.containers.call(found, "update", [given], {})
                    break
                if not is_none(single):
                    found.slots[Pattern("*")] = UNKNOWN
        return found

    def _subscript(self, expr: ast.Subscript, frame: Frame) -> Value:
        owner = self.value(expr.value, frame)
        if isinstance(expr.slice, ast.Slice):
            return self.each(owner, lambda single: self.run.containers.sliced(single, expr, frame))
        key = self.value(expr.slice, frame)
        place = self.run.site or Place(frame.scope.module.path, expr)
        return self.each(owner, lambda single: self.run.containers.item(single, key, expr, place))

    def _comprehension(self, expr: Any, frame: Frame) -> Value:
        inner = Frame(frame.scope, frame.owner, frame.me, frame, frame.base)
        found = Map() if isinstance(expr, ast.DictComp) else Seq(depth=self.run.depth)
        self._generate(expr, 0, inner, found, False)
        return as_set(found) if isinstance(expr, ast.SetComp) else found

    def _generate(self, expr: Any, level: int, frame: Frame, found: Seq | Map, again: bool) -> None:
        if level == len(expr.generators):
            self._collect(expr, frame, found, again)
            return
        generator = expr.generators[level]
        source = self.value(generator.iter, frame)

        def body(repeated: bool) -> None:
            self._filtered(expr, level, frame, found, again or repeated, list(generator.ifs))

        self.run.loops.over(source, generator.target, generator.iter, frame, body)

    def _filtered(self, expr: Any, level: int, frame: Frame, found: Seq | Map, again: bool, tests: list) -> None:
        if not tests:
            self._generate(expr, level + 1, frame, found, again)
            return
        test = self.test(tests[0], frame)
        if test is TRUE:
            self._filtered(expr, level, frame, found, again, tests[1:])
        elif isinstance(test, Test):
            side = (test.condition,)
            [(_, wrote)] = self.heap.fork(
                [(side, test.if_true, lambda: self._filtered(expr, level, frame, found, again, tests[1:]))]
            )
            self.heap.join([(side, wrote), ((negated(test.condition),), {})])

    def _collect(self, expr: Any, frame: Frame, found: Seq | Map, again: bool) -> None:
        if isinstance(found, Map):
            key = self.value(expr.key, frame)
            self.run.containers.set_item(found, key, self.value(expr.value, frame))
            return
        value = self.value(expr.elt, frame)
        slot = "star" if again else "items"
        self.heap.write(found, slot, Row((*found.slots[slot].values, value)))  # type: ignore[attr-defined]


def key_of(value: Value) -> Any:
    """Return a value as a key of a :class:`Map`: itself if it is known, else its pattern."""
    if isinstance(value, Known):
        try:
            hash(value.value)
        except TypeError:
            return Pattern("*")
        return value.value
    if isinstance(value, Seq) and not value.star and all(isinstance(i, Known) for i in value.items):
        return tuple(i.value for i in value.items)  # type: ignore[attr-defined]
    return Pattern(value.pattern if isinstance(value, Thing) else "*")


def as_set(row: Seq | Map) -> Seq | Map:
    """Return a row without what it has twice, as far as that is known."""
    if not isinstance(row, Seq) or not all(isinstance(v, Known) for v in row.items):
        return row
    try:
        items = {(type(v.value), v.value): v for v in row.items}  # type: ignore[attr-defined]
    except TypeError:
        return row
    return row if len(items) == len(row.items) else Seq(items.values(), row.star, row.depth)
