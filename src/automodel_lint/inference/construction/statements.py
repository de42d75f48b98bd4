"""Statements: assignments, branches, loops; what a block writes and whether it runs to its end."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from automodel_lint.inference.bindings import absolute_module, collect, statements_here
from automodel_lint.inference.construction.expressions import key_of
from automodel_lint.inference.construction.frames import Frame
from automodel_lint.inference.construction.heap import choice
from automodel_lint.inference.construction.truth import negated, parts, text_of
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

# How a block ends; ``None`` if it runs into what follows it.
RETURN, RAISE, BREAK, LOOP = "return", "raise", "break", "loop"
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
            ast.Raise: lambda s, f: RAISE,
            ast.Break: lambda s, f: BREAK,
            ast.Continue: lambda s, f: LOOP,
            ast.For: self._for,
            ast.While: self._while,
            ast.With: self._with,
            ast.Try: self._try,
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
            returned = len(frame.returned)
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
            if len(frame.returned) > returned:
                return self._unless_returned(frame, returned, body[index + 1 :])
        return None

    def _unless_returned(self, frame: Frame, before: int, rest: list[ast.stmt]) -> str | None:
        """Execute what follows a statement that has left the function on some path inside it."""
        depth = len(self.heap.conditions) - frame.base
        left = [conditions[depth:] for conditions, _ in frame.returned[before:]]
        text = " or ".join(" and ".join(str(c) for c in conditions) for conditions in left)
        gone = left[0][0] if len(left) == 1 and len(left[0]) == 1 else Condition(text)
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
        results = [self._side(side, frame) for side in (yes, no)]
        (ended, wrote, names), (ended_else, wrote_else, names_else) = results
        if (ended is None) == (ended_else is None):
            return self._both(results, (yes[0], no[0]), frame)
        stays, left = (no, yes) if ended_else is None else (yes, no)
        stay_wrote, stay_names = (wrote_else, names_else) if ended_else is None else (wrote, names)
        left_ended, left_wrote = (ended, wrote) if ended_else is None else (ended_else, wrote_else)
        if left_ended == RAISE:  # construction goes on only on the other side
            self.heap.join([((), stay_wrote)])
            frame.names = stay_names
            return True, self.heap.under((), (*stays[0], *stays[1]), lambda: self.block(rest, frame))
        frame.names = stay_names

        def go_on() -> str | None:
            self.heap.join([((), stay_wrote)])
            return self.block(rest, frame)

        [(rest_ended, rest_wrote)] = self.heap.fork([(stays[0], stays[1], go_on)])
        self.heap.join([(stays[0], rest_wrote), (left[0], left_wrote)])
        return True, _either(rest_ended, left_ended)

    def _side(self, side: tuple, frame: Frame) -> tuple[str | None, dict, dict[str, Value]]:
        """Execute one side on a copy of the local names."""
        conditions, implied, body = side
        before, frame.names = frame.names, dict(frame.names)
        returned = len(frame.returned)
        [(ended, wrote)] = self.heap.fork([(conditions, implied, lambda: self.block(body, frame))])
        names, frame.names = frame.names, before
        if ended == RAISE:
            del frame.returned[returned:]
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
        return ended is not None, _either(ended, ended_else)

    def _match(self, statement: ast.Match, frame: Frame) -> str | None:
        """The first case that fits is taken; without a catch-all case, none may fit."""
        subject = self.run.expressions.value(statement.subject, frame)
        others: tuple[Condition, ...] = ()
        sides, ends = [], []
        for case in [*statement.cases, None]:
            test = _case_test(case, subject, statement.subject)
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

        self.run.loops.over(source, statement.target, statement.iter, frame, body)
        ended = self.block(statement.orelse, frame)
        return ended if ended != LOOP else None

    def _while(self, statement: ast.While, frame: Frame) -> str | None:
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

    def _try(self, statement: ast.Try, frame: Frame) -> str | None:
        """Construction that raises is no construction: the body and what follows it."""
        ended = self.block(statement.body, frame)
        if ended == RAISE and statement.handlers:
            ended = self.block(statement.handlers[0].body, frame)
        elif ended is None:
            ended = self.block(statement.orelse, frame)
        return self.block(statement.finalbody, frame) or ended

    # -- simple statements ----------------------------------------------------------------------------------------

    def _expression(self, statement: ast.Expr, frame: Frame) -> None:
        if not isinstance(statement.value, ast.Constant):
            self.run.expressions.value(statement.value, frame)

    def _return(self, statement: ast.Return, frame: Frame) -> str:
        value = self.run.expressions.value(statement.value, frame) if statement.value is not None else NONE
        frame.returned.append((tuple(self.heap.conditions[frame.base :]), value))
        return RETURN

    def _assign(self, statement: ast.Assign | ast.AnnAssign, frame: Frame) -> None:
        if statement.value is None:
            return
        value = self.run.expressions.value(statement.value, frame)
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            self.bind(target, value, frame)

    def _augment(self, statement: ast.AugAssign, frame: Frame) -> None:
        target = statement.target
        load: Any = ast.copy_location(_loaded(target), target)
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
            frame.names[target.id] = Thing(target.id, pattern=value.pattern) if unnamed else value  # type: ignore
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

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, frame: Frame) -> None:
        rows = [(cond, _spread(v, target.elts)) for cond, v in parts(value, self.heap)]
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
        frame.names[statement.name] = Callable_(statement, frame.scope, frame.owner, None, frame)

    def _class(self, statement: ast.ClassDef, frame: Frame) -> None:
        inner = collect([statement], frame.scope.module.package)
        scope = Scope(frame.scope.module, (inner, *frame.scope.frames))
        frame.names[statement.name] = ClassValue(self.run.names.class_entity(statement, scope))

    def returned(self, frame: Frame, ended: str | None) -> Value:
        """Return what a finished call gives: one of the returned values, ``None`` where it runs off the end."""
        if not frame.returned:
            return NONE if ended is None else UNKNOWN
        found = list(frame.returned)
        if ended is None and not _covers(found):
            found.append(((), NONE))
        return choice(found) if len(found) > 1 else found[0][1]


def _case_test(case: ast.match_case | None, subject: Value, expr: ast.expr) -> Condition | bool | None:
    """Return when a case is taken; ``None`` if always, ``False`` if never."""
    if case is None or (isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None):
        return None
    pattern = case.pattern
    if isinstance(pattern, ast.MatchValue) and isinstance(pattern.value, ast.Constant) and isinstance(subject, Known):
        return None if pattern.value.value == subject.value else False
    guard = f" if {ast.unparse(case.guard)}" if case.guard is not None else ""
    return Condition(f"{text_of(subject, expr)} == {ast.unparse(pattern)}{guard}")


def _spread(value: Value, targets: list[ast.expr]) -> list[Value] | None:
    """Return the part of a row that each target of an unpacking gets; ``None`` if the row is not known."""
    if isinstance(value, Known) and isinstance(value.value, (tuple, list)):
        value = Seq([Known(v) for v in value.value])
    if not isinstance(value, Seq) or value.star:
        return None
    items = list(value.items)
    at = next((i for i, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
    if at is None:
        return items if len(items) == len(targets) else None
    behind = len(targets) - at - 1
    if len(items) < at + behind:
        return None
    return [*items[:at], Seq(items[at : len(items) - behind]), *items[len(items) - behind :]]


def _either(first: str | None, second: str | None) -> str | None:
    """How a block ends that ends in one of two ways; it runs on where one of them does."""
    if first is None or second is None or first == second:
        return first if first == second else None
    return RETURN if RETURN in (first, second) else first


def _covers(found: list[tuple]) -> bool:
    return any(not conditions for conditions, _ in found)


def _loaded(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    if isinstance(target, ast.Attribute):
        return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    assert isinstance(target, ast.Subscript)
    return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
