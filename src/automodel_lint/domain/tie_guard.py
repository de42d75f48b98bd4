"""How a constructor runs ``reject_unsupported_tie_word_embeddings``: whether on every path, when, and on what.

The statements of ``__init__`` are followed in the order they run. What matters is what has happened to the config
object before the guard looks at it, so the names that still mean the caller's object are tracked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from automodel_lint.domain.before_guard import Before, Statements
from automodel_lint.domain.constructor import ConfigUse, config_parameter, passed_config, uncast
from automodel_lint.inference.bindings import FUNCTIONS, dotted, literal_truth, walk_here
from automodel_lint.inference.classes import Classes, FunctionView, MethodView, is_super
from automodel_lint.inference.names import ClassEntity, FunctionEntity, Scope, Value

GUARD = "reject_unsupported_tie_word_embeddings"


@dataclass
class GuardCall:
    """One call that runs the guard.

    ``through`` is the base whose constructor runs it, or ``None`` for a direct call. ``config`` and ``cls`` say
    whether the arguments are the right ones; ``None`` means that this cannot be told.
    """

    node: ast.Call
    through: ClassEntity | None = None
    config: bool | None = True
    cls: bool | None = True
    config_text: str = ""
    cls_text: str = ""


@dataclass
class Guarding:
    """What a constructor does about the guard.

    ``decided`` is false where an unknown base may run it. ``complete`` means that every path through the constructor
    runs it; ``calls`` holds all calls seen, ``first`` the one in force, ``before`` what runs ahead of that one.
    """

    owner: ClassEntity
    function: ast.FunctionDef | ast.AsyncFunctionDef | None
    decided: bool = True
    complete: bool = False
    calls: list[GuardCall] = field(default_factory=list)
    first: GuardCall | None = None
    before: list[Before] = field(default_factory=list)
    base: Guarding | None = None


def guarding(classes: Classes, cls: ClassEntity, after: ClassEntity | None = None, depth: int = 0) -> Guarding:
    """Follow the constructor that runs for ``cls`` (the next one behind ``after`` for a ``super().__init__`` call)."""
    owner = classes.next_init(cls, after)
    if not isinstance(owner, ClassEntity) or not classes.is_local(owner):
        order = classes.mro(cls)
        behind = order[order.index(after) + 1 :] if after in order else order
        decided = not any(classes.is_opaque(a) for a in behind)  # constructors call on to each other
        return Guarding(after or cls, None, decided=decided)
    members = [m for m in classes.local(owner, "__init__") if m.function is not None]
    if not members or depth > 8:
        return Guarding(owner, None, decided=False)
    view = MethodView(classes, cls, members[-1])
    return _Walk(view, depth).run()


@dataclass(frozen=True)
class _Given:
    """Parameters of a helper that its caller has filled with its own class, and with itself."""

    classes: frozenset[str] = frozenset()
    selves: frozenset[str] = frozenset()


class _Walk:
    """Follows one constructor."""

    def __init__(self, view: MethodView, depth: int, given: _Given | None = None):
        self.view, self.depth, self.given = view, depth, given or _Given()
        self.classes = view.classes
        self.result = Guarding(view.owner, view.node)
        self.use = ConfigUse(config_parameter(view.node), view.self_name)
        self.statements = Statements(view, self.use)
        self.leaked = False
        self._known: dict[ast.stmt, bool] = {}

    def run(self) -> Guarding:
        guarded, _ = self._block(self.view.node.body, False)
        self.result.complete = guarded and not self.leaked
        self.result.before = self.statements.finished(self.view.node)
        if not self.result.complete and any(self._guards(d) for d in self.view.node.decorator_list):
            self.result.decided = False
        return self.result

    def _guards(self, decorator: ast.expr) -> bool:
        """Whether a decorator of the checkout runs the guard around the constructor."""
        func = decorator.func if isinstance(decorator, ast.Call) else decorator
        return any(
            isinstance(n, ast.Call) and self.classes.names.leads_to(n, e.scope, GUARD)
            for e in self.classes.names.resolve(func, self.view.owner.scope)
            if isinstance(e, FunctionEntity)
            for n in ast.walk(e.node)
        )

    def _block(self, body: list[ast.stmt], guarded: bool) -> tuple[bool, bool]:
        """Run a block; returns whether the guard has run at its end, and whether its end is reached at all."""
        for statement in body:
            if guarded and self.result.first is not None and not self._has_guard(statement):
                if isinstance(statement, (ast.Return, ast.Raise)):
                    return guarded, False
                continue
            guarded, goes_on = self._statement(statement, guarded)
            if not goes_on:
                return guarded, False
        return guarded, True

    def _statement(self, statement: ast.stmt, guarded: bool) -> tuple[bool, bool]:
        if isinstance(statement, ast.Raise):
            return guarded, False
        if isinstance(statement, ast.Return):
            self.leaked = self.leaked or not guarded
            return guarded, False
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            return guarded, True
        if isinstance(statement, ast.If) and literal_truth(statement.test) is not None:
            return self._block(statement.body if literal_truth(statement.test) else statement.orelse, guarded)
        if isinstance(statement, ast.If):
            return self._branching(statement, guarded)
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            if not guarded:
                self.statements.entered(statement)
            done, alive = self._block(statement.body, guarded)
            if done and not guarded and any(_suppresses(item.context_expr) for item in statement.items):
                done, self.result.first = False, None
            return done, alive
        if isinstance(statement, ast.Match):
            return self._matching(statement, guarded)
        if isinstance(statement, ast.Try):
            return self._trying(statement, guarded)
        if isinstance(statement, (ast.For, ast.AsyncFor, ast.While)):
            if self._has_guard(statement):
                self._block(statement.body, guarded)
                self.result.first = None if not guarded else self.result.first
            elif not guarded:
                self.leaked = self.leaked or _returns(statement)
                self.statements.passed(statement)
            return guarded, True
        return self._simple(statement, guarded), True

    def _branching(self, statement: ast.If, guarded: bool) -> tuple[bool, bool]:
        if not self._has_guard(statement) and not _returns(statement):
            self.statements.passed(statement)
            return guarded, True
        return self._either((statement.body, statement.orelse), guarded)

    def _matching(self, statement: ast.Match, guarded: bool) -> tuple[bool, bool]:
        if not self._has_guard(statement) and not _returns(statement):
            if not guarded:
                self.statements.passed(statement)
            return guarded, True
        last = statement.cases[-1]
        complete = last.guard is None and isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
        blocks = [case.body for case in statement.cases]
        return self._either(blocks if complete else [*blocks, []], guarded)

    def _either(self, blocks: Iterable[list[ast.stmt]], guarded: bool) -> tuple[bool, bool]:
        """Run blocks of which exactly one is taken."""
        known, names = self.result.first, self.use.names
        outcomes = []
        for block in blocks:
            self.result.first, self.use.names = known, names
            done, alive = self._block(block, guarded)
            if alive:
                outcomes.append((done, self.result.first, self.use.names))
        self.result.first, self.use.names = known, names
        if not outcomes:
            return guarded, False
        self.use.names = frozenset.intersection(*(o[2] for o in outcomes))
        done = all(o[0] for o in outcomes)
        if done and known is None:
            self.result.first = next((o[1] for o in outcomes if o[1] is not None), None)
        return done, True

    def _trying(self, statement: ast.Try, guarded: bool) -> tuple[bool, bool]:
        """Follow ``try``: behind it the guard has run only if it has on every way there.

        Where the guard comes first in the block, a handler runs after it, unless it is the guard's own error that the
        handler catches (and swallows).
        """
        known = self.result.first
        opens = bool(statement.body) and self._block(statement.body[:1], guarded)[0]
        done, alive = self._block(statement.body[1:] if opens else statement.body, opens or guarded)
        first = self.result.first
        done, alive = self._block(statement.orelse, done) if alive else (done, alive)
        ends = [done] if alive else []
        caught = False
        for handler in statement.handlers:
            catches = not caught and _catches(handler.type)
            caught = caught or catches
            before = len(self.statements)
            handled, goes_on = self._block(handler.body, guarded or (opens and not catches))
            self.statements.forget(before)
            if goes_on and (not opens or catches or handled):
                ends.append(handled)
        done = all(ends) if ends else done
        if not guarded:
            self.result.first = first if done else known
        alive = bool(ends)
        return self._block(statement.finalbody, done) if statement.finalbody else (done, alive)

    def _simple(self, statement: ast.stmt, guarded: bool) -> bool:
        surely = set(evaluated(statement))
        for call in [n for n in walk_here(statement) if isinstance(n, ast.Call)]:
            found = self._guard(call)
            if found is None or (found.through is not None and guarded):
                continue
            self.result.calls.append(found)
            if call in surely:
                self.result.first = self.result.first or found
                return True
        if not guarded:
            self.statements.passed(statement)
        return guarded

    # -- calls ------------------------------------------------------------------------------------------------

    def _has_guard(self, statement: ast.stmt) -> bool:
        known = self._known.get(statement)
        if known is None:
            calls = (n for n in walk_here(statement) if isinstance(n, ast.Call))
            known = self._known[statement] = any(self._guard(call) is not None for call in calls)
        return known

    def _guard(self, call: ast.Call) -> GuardCall | None:
        """Return what a call does about the guard, directly, through a base constructor or through a helper."""
        if self.classes.names.leads_to(call, self.view.scope, GUARD):
            return self._direct(call)
        if self._is_made_from_guard(call.func):
            return GuardCall(call, config=None, cls=None)
        if _is_constructor_call(call):
            return self._base_constructor(call)
        return self._helper(call)

    def _is_made_from_guard(self, func: ast.expr) -> bool:
        """``functools.partial(guard)``, ``staticmethod(guard)``: what is called is the guard, its arguments unclear."""
        if isinstance(func, ast.Attribute) and self.view.is_self_or_class(func.value):
            members, _ = self.classes.find(self.view.receiver, func.attr)
            values = [(m.value, m.owner.scope) for m in members if m.value is not None]
        else:
            found = self.classes.names.resolve(func, self.view.scope) if isinstance(func, ast.Name) else []
            values = [(e.expr, e.scope) for e in found if isinstance(e, Value)]
        return any(
            isinstance(value, ast.Call)
            and any(f.endswith(f".{GUARD}") for a in value.args for f in self._fqns(a, scope))
            for value, scope in values
        )

    def _fqns(self, expr: ast.expr, scope: Scope) -> set[str]:
        return self.classes.names.fqns(expr, scope)

    def _direct(self, call: ast.Call) -> GuardCall:
        if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            return GuardCall(call, config=None, cls=None)
        given = dict(zip(("model_cls", "config"), call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords if k.arg}
        cls, config = given.get("model_cls"), given.get("config")
        return GuardCall(
            call,
            config=self.use.is_original(config),
            cls=self._is_own_class(cls),
            config_text=ast.unparse(config) if config is not None else "nothing",
            cls_text=ast.unparse(cls) if cls is not None else "nothing",
        )

    def _is_own_class(self, expr: ast.expr | None) -> bool:
        expr = uncast(expr) if expr is not None else None
        if isinstance(expr, ast.Name):  # cls = type(self), a classmethod's cls, a helper's parameter
            if expr.id in self.given.classes or (expr.id == "cls" and self.view.self_name == "cls"):
                return True
            values = self.view.scope.frames[0].live(expr.id)
            return len(values) == 1 and isinstance(values[0].node, ast.expr) and self._is_own_class(values[0].node)
        if isinstance(expr, ast.Call) and isinstance(expr.func, ast.Name) and expr.func.id == "type":
            return len(expr.args) == 1 and self._is_self(expr.args[0])
        return isinstance(expr, ast.Attribute) and expr.attr == "__class__" and self._is_self(expr.value)

    def _is_self(self, expr: ast.expr) -> bool:
        return isinstance(expr, ast.Name) and expr.id in (self.view.self_name, *self.given.selves)

    def _base_constructor(self, call: ast.Call) -> GuardCall | None:
        assert isinstance(call.func, ast.Attribute)
        if is_super(call.func.value):
            base = guarding(self.classes, self.view.receiver, self._behind(call.func.value), self.depth + 1)
        else:
            entities = self.classes.names.resolve(call.func.value, self.view.scope)
            entity = entities[0] if len(entities) == 1 else None
            if not isinstance(entity, ClassEntity) or entity is self.view.owner:
                return None
            base = guarding(self.classes, entity, None, self.depth + 1)
        if not base.decided:
            self.result.decided = False
        if not base.complete or base.function is None:
            return None
        self.result.base = base
        config = passed_config(call, base.function, is_super(call.func.value))
        same = None if config is None else self.use.is_original(config)
        return GuardCall(call, base.owner, config=same, config_text=ast.unparse(config) if config else "")

    def _behind(self, call: ast.expr) -> ClassEntity:
        """The class behind which ``super()`` looks: the one it names, or the one the method stands in."""
        assert isinstance(call, ast.Call)
        named = self.classes.names.resolve(call.args[0], self.view.scope) if call.args else []
        return named[0] if len(named) == 1 and isinstance(named[0], ClassEntity) else self.view.owner

    def _helper(self, call: ast.Call) -> GuardCall | None:
        """A method or function of the checkout that runs the guard as its own business, on a config it is given."""
        if self.depth > 4 or self.use.parameter is None:
            return None
        on_self = isinstance(call.func, ast.Attribute) and self.view.is_self_or_class(call.func.value)
        arguments = [*call.args, *(k.value for k in call.keywords)]
        if not on_self and not any(self.view.is_self_or_class(a) for a in arguments):
            return None
        callee = self.view.callee(call)
        if isinstance(callee, FunctionEntity):
            callee = FunctionView(self.view, callee)
        if callee is None or not self._mentions_guard(callee):
            return None
        on_self = on_self and not any(dotted(d) == "staticmethod" for d in callee.node.decorator_list)
        parameters = [a.arg for a in (*callee.node.args.posonlyargs, *callee.node.args.args)][1 if on_self else 0 :]
        handed = [*zip(parameters, call.args, strict=False), *((k.arg, k.value) for k in call.keywords if k.arg)]
        given = _Given(
            frozenset(name for name, value in handed if self._is_own_class(value)),
            frozenset(name for name, value in handed if self._is_self(value)),
        )
        inner = _Walk(callee, self.depth + 3, given).run()
        if not inner.complete or inner.first is None:
            return None
        config = passed_config(call, callee.node, on_self)
        same = None if config is None else self.use.is_original(config)
        if inner.first.config is False:
            return replace(inner.first, node=call)
        return GuardCall(call, None, same, inner.first.cls, ast.unparse(config) if config else "", inner.first.cls_text)

    def _mentions_guard(self, callee: MethodView) -> bool:
        return any(self.classes.names.leads_to(c, callee.scope, GUARD) for c in callee.calls())


def evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """Walk what running a statement surely evaluates: not the far side of ``and``, ``or`` and conditionals."""
    yield node
    children: Iterable[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.BoolOp):
        children = node.values[:1]
    elif isinstance(node, ast.IfExp):
        children = (node.test,)
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        children = (node.generators[0].iter,)
    elif isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
        children = ()
    for child in children:
        yield from evaluated(child)


_CAUGHT = ("NotImplementedError", "RuntimeError", "Exception", "BaseException")


def _catches(kind: ast.expr | None) -> bool:
    """Tell whether an ``except`` clause catches the guard's ``NotImplementedError``."""
    if kind is None:
        return True
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(dotted(k).rpartition(".")[2] in _CAUGHT for k in kinds)


def _suppresses(context: ast.expr) -> bool:
    """``contextlib.suppress(NotImplementedError)``."""
    is_suppress = isinstance(context, ast.Call) and dotted(context.func).rpartition(".")[2] == "suppress"
    return is_suppress and any(_catches(a) for a in context.args)  # type: ignore[attr-defined]


def _returns(statement: ast.stmt) -> bool:
    return any(isinstance(n, ast.Return) for n in walk_here(statement))


def _is_constructor_call(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "__init__"
