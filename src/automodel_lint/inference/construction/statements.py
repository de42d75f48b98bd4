"""Statements: assignments, branches, loops; what a block writes and whether it runs to its end."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from automodel_lint.inference.bindings import absolute_module, collect, dotted, statements_here
from automodel_lint.inference.construction.attempts import Attempts
from automodel_lint.inference.construction.blocks import (
    BREAK,
    LOOP,
    RAISE,
    RETURN,
    case_test,
    covers,
    either,
    loaded,
    spread,
)
from automodel_lint.inference.construction.expressions import key_of
from automodel_lint.inference.construction.frames import Frame
from automodel_lint.inference.construction.heap import Conditions, choice
from automodel_lint.inference.construction.truth import grouped, negated, parts
from automodel_lint.inference.construction.values import (
    ABSENT,
    NONE,
    TRUE,
    UNKNOWN,
    Callable_,
    ClassValue,
    Known,
    Obj,
    Seq,
    Test,
    Thing,
    Value,
)
from automodel_lint.inference.module_tree import Condition
from automodel_lint.inference.names import Scope

if TYPE_CHECKING:
    from automodel_lint.inference.construction.interpreter import Interpreter

_TURNS = 16  # times that a ``while`` is written out for


class Statements:
    """Executes statements for an interpreter."""

    def __init__(self, interpreter: Interpreter):
        self.run = interpreter
        self.heap = interpreter.heap
        self._kinds: dict[type, Callable[[Any, Frame], str | None]] = {
            ast.Expr: self._expression,
            ast.Assign: self._assign,
            ast.AnnAssign: self._assign,
            ast.AugAssign: self._augment,
            ast.Return: self._return,
            ast.Raise: self._raise,
            ast.Break: lambda s, f: self._leave(BREAK, f),
            ast.Continue: lambda s, f: self._leave(LOOP, f),
            ast.For: self._for,
            ast.While: self._while,
            ast.With: self._with,
            ast.Try: Attempts(self).run,
            ast.Delete: self._delete,
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.FunctionDef: self._function,
            ast.ClassDef: self._class,
        }

    def block(self, body: list[ast.stmt], frame: Frame) -> str | None:
        """Execute statements; return how the block ends."""
        for index, statement in enumerate(body):
            self.run.step()
            before = len(frame.left)
            if isinstance(statement, ast.If):
                done, ended = self._if(statement, body[index + 1 :], frame)
                if done:
                    return ended
            elif isinstance(statement, ast.Match):
                ended = self._match(statement, frame)
            else:
                kind = self._kinds.get(type(statement))
                ended = kind(statement, frame) if kind is not None else None
            if ended is not None:
                return ended
            if len(frame.left) > before:
                return self._unless_left(frame, frame.left[before:], body[index + 1 :])
        return None

    @staticmethod
    def _raise(statement: ast.Raise, frame: Frame) -> str:
        raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        frame.raised = dotted(raised) if raised is not None else frame.raised
        return RAISE

    def _leave(self, how: str, frame: Frame) -> str:
        frame.left.append((how, tuple(self.heap.conditions[frame.base :])))
        return how

    def _unless_left(self, frame: Frame, left: list[tuple[str, Conditions]], rest: list[ast.stmt]) -> str | None:
        """Execute what follows a statement that has left the block on some path inside it."""
        depth = len(self.heap.conditions) - frame.base
        ways = [conditions[depth:] for _, conditions in left]
        if self.run.converting and not all(ways):  # it has surely left the block, in a loop
            return next(how for (how, _), way in zip(left, ways, strict=True) if not way)
        text = " or ".join(grouped(" and ".join(grouped(str(c)) for c in way)) for way in ways)
        gone = ways[0][0] if len(ways) == 1 and len(ways[0]) == 1 else Condition(text)
        stays = (negated(gone),)
        [(ended, wrote)] = self.heap.fork([(stays, (), lambda: self.block(rest, frame))])
        self.heap.join([(stays, wrote), ((gone,), {})])
        return ended

    # -- branches -------------------------------------------------------------------------------------------------

    def _if(self, statement: ast.If, rest: list[ast.stmt], frame: Frame) -> tuple[bool, str | None]:
        """Execute a conditional. Where one side leaves the block, the rest belongs to the other side.

        Returns whether the rest has been executed with it, and how the block then ends.
        """
        test = self.run.expressions.test(statement.test, frame)
        if not isinstance(test, Test):
            ended = self.block(statement.body if test is TRUE else statement.orelse, frame)
            return ended is not None, ended
        yes = (test.condition,), test.if_true, statement.body
        no = (negated(test.condition),), test.if_false, statement.orelse
        middle = len(frame.left)
        results = [self._side(yes, frame)]
        before, middle = middle, len(frame.left)
        results.append(self._side(no, frame))
        (ended, wrote, names), (ended_else, wrote_else, names_else) = results
        if (ended is None) == (ended_else is None):
            return self._both(results, (yes[0], no[0]), frame)
        stays, left = (no, yes) if ended_else is None else (yes, no)
        stay_wrote, stay_names = (wrote_else, names_else) if ended_else is None else (wrote, names)
        left_ended, left_wrote = (ended, wrote) if ended_else is None else (ended_else, wrote_else)
        ways = frame.left[middle:] if ended_else is None else frame.left[before:middle]  # out of the side that stays
        if left_ended == RAISE:  # construction goes on only on the other side
            self.heap.join([((), stay_wrote)])
            frame.names = stay_names
            return True, self.heap.under((), (*stays[0], *stays[1]), lambda: self._rest(frame, ways, rest))
        frame.names = stay_names

        def go_on() -> str | None:
            self.heap.join([((), stay_wrote)])
            return self._rest(frame, ways, rest)

        [(rest_ended, rest_wrote)] = self.heap.fork([(stays[0], stays[1], go_on)])
        self.heap.join([(stays[0], rest_wrote), (left[0], left_wrote)])
        return True, either(rest_ended, left_ended)

    def _rest(self, frame: Frame, ways: list[tuple[str, Conditions]], rest: list[ast.stmt]) -> str | None:
        return self._unless_left(frame, ways, rest) if ways else self.block(rest, frame)

    def _side(self, side: tuple, frame: Frame) -> tuple[str | None, dict, dict[str, Value]]:
        """Execute one side on a copy of the local names."""
        conditions, implied, body = side
        before, frame.names = frame.names, dict(frame.names)
        returned, left = len(frame.returned), len(frame.left)
        [(ended, wrote)] = self.heap.fork([(conditions, implied, lambda: self.block(body, frame))])
        names, frame.names = frame.names, before
        if ended == RAISE:
            del frame.returned[returned:], frame.left[left:]
        return ended, wrote, names

    def _both(self, results: list[tuple], conditions: tuple, frame: Frame) -> tuple[bool, str | None]:
        """Both sides run on, or both leave."""
        (ended, wrote, names), (ended_else, wrote_else, names_else) = results
        if ended == RAISE and ended_else is not None and ended_else != RAISE:
            self.heap.join([((), wrote_else)])
            return True, ended_else
        if ended_else == RAISE and ended is not None and ended != RAISE:
            self.heap.join([((), wrote)])
            return True, ended
        self.heap.join([(conditions[0], wrote), (conditions[1], wrote_else)])
        frame.names = {
            name: self.heap.joined(
                [(conditions[0], names.get(name, ABSENT)), (conditions[1], names_else.get(name, ABSENT))]
            )
            for name in {**names, **names_else}
        }
        return ended is not None, either(ended, ended_else)

    def _match(self, statement: ast.Match, frame: Frame) -> str | None:
        """The first case that fits is taken; without a catch-all case, none may fit."""
        subject = self.run.expressions.value(statement.subject, frame)
        others: tuple[Condition, ...] = ()
        sides, ends = [], []
        for case in [*statement.cases, None]:
            test = case_test(case, subject, statement.subject)
            if test is False:
                continue
            conditions = others if test is None else (*others, test)
            ended, wrote, names = self._side((conditions, (), case.body if case is not None else []), frame)
            if ended != RAISE:
                sides.append((conditions, wrote, names))
                ends.append(ended)
            if test is None:
                break
            others = (*others, negated(test))
        self.heap.join([(conditions, wrote) for conditions, wrote, _ in sides])
        every = {name for _, _, names in sides for name in names}
        frame.names = {n: self.heap.joined([(c, names.get(n, ABSENT)) for c, _, names in sides]) for n in every}
        return ends[0] if ends and all(e == ends[0] for e in ends) else None

    # -- loops ----------------------------------------------------------------------------------------------------

    def _for(self, statement: ast.For, frame: Frame) -> str | None:
        source = self.run.expressions.value(statement.iter, frame)

        def body(again: bool) -> bool:
            if again:
                self._open_counters(statement, frame)
            ended = self.block(statement.body, frame)
            return ended in (BREAK, RETURN, RAISE)  # the loop surely ends here

        before = len(frame.left)
        self.run.loops.over(source, statement.target, statement.iter, frame, body)
        self._out_of_loop(frame, before)
        ended = self.block(statement.orelse, frame)
        return ended if ended != LOOP else None

    @staticmethod
    def _out_of_loop(frame: Frame, before: int) -> None:
        """Behind a loop only a ``return`` inside it counts."""
        frame.left[before:] = [way for way in frame.left[before:] if way[0] == RETURN]

    def _while(self, statement: ast.While, frame: Frame) -> str | None:
        before = len(frame.left)
        try:
            return self._turns(statement, frame)
        finally:
            self._out_of_loop(frame, before)

    def _turns(self, statement: ast.While, frame: Frame) -> str | None:
        for _ in range(_TURNS):
            test = self.run.expressions.test(statement.test, frame)
            if test is not TRUE:
                break
            ended = self.block(statement.body, frame)
            if ended in (RETURN, RAISE):
                return ended
            if ended == BREAK:
                return None
        if test is TRUE or isinstance(test, Test):
            self.run.depth += 1
            self._open_counters(statement, frame)
            self.block(statement.body, frame)
            self.run.depth -= 1
        return None

    def _open_counters(self, statement: ast.For | ast.While, frame: Frame) -> None:
        """What a loop counts is not known inside it."""
        for inner in statements_here(statement.body):
            if isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name):
                name = inner.target.id
                if isinstance(frame.names.get(name), Known):
                    frame.names[name] = Thing(name)

    # -- other blocks ---------------------------------------------------------------------------------------------

    def _with(self, statement: ast.With, frame: Frame) -> str | None:
        for item in statement.items:
            given = self.run.expressions.value(item.context_expr, frame)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, given if isinstance(given, Thing) else UNKNOWN, frame)
        return self.block(statement.body, frame)

    # -- simple statements ----------------------------------------------------------------------------------------

    def _expression(self, statement: ast.Expr, frame: Frame) -> None:
        if not isinstance(statement.value, ast.Constant):
            self.run.expressions.value(statement.value, frame)

    def _return(self, statement: ast.Return, frame: Frame) -> str:
        value = self.run.expressions.value(statement.value, frame) if statement.value is not None else NONE
        frame.returned.append((tuple(self.heap.conditions[frame.base :]), value))
        return self._leave(RETURN, frame)

    def _assign(self, statement: ast.Assign | ast.AnnAssign, frame: Frame) -> None:
        if statement.value is None:
            return
        value = self.run.expressions.value(statement.value, frame)
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            self.bind(target, value, frame)

    def _augment(self, statement: ast.AugAssign, frame: Frame) -> None:
        target = statement.target
        load: Any = ast.copy_location(loaded(target), target)
        whole = ast.copy_location(ast.BinOp(load, statement.op, statement.value), statement)
        before = self.run.expressions.value(load, frame)
        if isinstance(before, Obj) and isinstance(before.items, Seq):
            before = before.items
        if isinstance(before, Seq) and isinstance(statement.op, ast.Add):
            added = self.run.expressions.value(statement.value, frame)
            self.run.containers.extend(before, self.run.loops.elements(added, ""))
            return
        self.bind(target, self.run.expressions.value(whole, frame), frame)

    def bind(self, target: ast.expr, value: Value, frame: Frame) -> None:
        """Assign a value to a target of whatever shape."""
        if isinstance(target, ast.Name):
            unnamed = isinstance(value, Thing) and not value.text
            if unnamed:
                value = Thing(self._free_name(target.id), pattern=value.pattern)  # type: ignore[attr-defined]
            frame.names[target.id] = value
        elif isinstance(target, ast.Attribute):
            owner = self.run.expressions.value(target.value, frame)
            self.run.instances.assign(owner, target.attr, value, target)
        elif isinstance(target, ast.Subscript):
            owner = self.run.expressions.value(target.value, frame)
            key = self.run.expressions.value(target.slice, frame)
            for _, single in parts(owner, self.heap):
                self.run.containers.set_item(single, key, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value, frame)

    def _free_name(self, name: str) -> str:
        """A loop variable is not the one of an outer loop whose name it has, if a condition speaks of that."""
        while any(re.search(rf"(?<!\w){name}(?![\w′])", text) for text in self.heap.facts):
            name += "′"
        return name

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, frame: Frame) -> None:
        plain = isinstance(value, Seq) and not value.star and len(value.items) == len(target.elts)
        if plain and not any(isinstance(element, ast.Starred) for element in target.elts):
            for element, item in zip(target.elts, value.items, strict=True):  # type: ignore[attr-defined]
                self.bind(element, item, frame)
            return
        rows = [(cond, spread(v, target.elts)) for cond, v in parts(value, self.heap)]
        for index, element in enumerate(target.elts):
            if all(row is not None for _, row in rows):
                part = choice([(cond, row[index]) for cond, row in rows])  # type: ignore[index]
            else:
                part = Thing("") if isinstance(value, Thing) else UNKNOWN
            self.bind(element.value if isinstance(element, ast.Starred) else element, part, frame)

    def _delete(self, statement: ast.Delete, frame: Frame) -> None:
        for target in statement.targets:
            if isinstance(target, ast.Name):
                frame.names.pop(target.id, None)
            elif isinstance(target, ast.Attribute):
                owner = self.run.expressions.value(target.value, frame)
                for _, single in parts(owner, self.heap):
                    self.run.instances.delete(single, target.attr)
            elif isinstance(target, ast.Subscript):
                owner = self.run.expressions.value(target.value, frame)
                key = key_of(self.run.expressions.value(target.slice, frame))
                for _, single in parts(owner, self.heap):
                    self.run.containers.delete_item(single, key)

    # -- definitions ----------------------------------------------------------------------------------------------

    def _import(self, statement: ast.Import, frame: Frame) -> None:
        for alias in statement.names:
            name = alias.asname or alias.name.partition(".")[0]
            frame.names[name] = self.run.globals.module(alias.name if alias.asname else name)

    def _import_from(self, statement: ast.ImportFrom, frame: Frame) -> None:
        target = absolute_module(statement, frame.scope.module.package)
        for alias in statement.names:
            frame.names[alias.asname or alias.name] = self.run.globals.imported(target, alias.name)

    def _function(self, statement: ast.FunctionDef, frame: Frame) -> None:
        defaults = self.run.calls.defaults_of(statement, frame)
        frame.names[statement.name] = Callable_(statement, frame.scope, frame.owner, None, frame, "", defaults)

    def _class(self, statement: ast.ClassDef, frame: Frame) -> None:
        inner = collect([statement], frame.scope.module.package)
        scope = Scope(frame.scope.module, (inner, *frame.scope.frames))
        frame.names[statement.name] = ClassValue(self.run.names.class_entity(statement, scope))

    def returned(self, frame: Frame, ended: str | None) -> Value:
        """Return what a finished call gives: one of the returned values, ``None`` where it runs off the end."""
        if not frame.returned:
            return NONE if ended is None else UNKNOWN
        found = list(frame.returned)
        if ended is None and not covers(found):
            found.append(((), NONE))
        return choice(found) if len(found) > 1 else found[0][1]
