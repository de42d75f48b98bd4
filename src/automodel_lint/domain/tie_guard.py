"""How a constructor runs ``reject_unsupported_tie_word_embeddings``: whether on every path, when, and on what.

The statements of ``__init__`` are followed in the order they run. What matters is what has happened to the config
object before the guard looks at it, so the names that still mean the caller's object are tracked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from automodel_lint.domain.constructor import Before, ConfigUse, Statements, config_parameter, passed_config
from automodel_lint.inference.bindings import FUNCTIONS, Binding, literal_truth, walk_here
from automodel_lint.inference.classes import Classes, Member, MethodView, is_super
from automodel_lint.inference.names import ClassEntity, FunctionEntity

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
        decided = owner is None or not classes.is_opaque(owner)
        return Guarding(after or cls, None, decided=decided)
    members = [m for m in classes.local(owner, "__init__") if m.function is not None]
    if not members or depth > 8:
        return Guarding(owner, None, decided=False)
    view = MethodView(classes, cls, members[-1])
    return _Walk(view, depth).run()


class _Walk:
    """Follows one constructor."""

    def __init__(self, view: MethodView, depth: int):
        self.view, self.depth = view, depth
        self.classes = view.classes
        self.result = Guarding(view.owner, view.node)
        self.use = ConfigUse(config_parameter(view.node, view.scope, view.classes.names), view.self_name)
        self.statements = Statements(view, self.use)
        self.leaked = False
        self._known: dict[ast.stmt, bool] = {}

    def run(self) -> Guarding:
        guarded, _ = self._block(self.view.node.body, False)
        self.result.complete = guarded and not self.leaked
        self.result.before = self.statements.finished(self.view.node)
        return self.result

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
            return self._block(statement.body, guarded)
        if isinstance(statement, ast.Match):
            return self._matching(statement, guarded)
        if isinstance(statement, ast.Try):
            return self._trying(statement, guarded)
        if isinstance(statement, (ast.For, ast.AsyncFor, ast.While)):
            if self._has_guard(statement):
                self._block(statement.body, guarded)
                self.result.first = None if not guarded else self.result.first
            elif not guarded:
                self.statements.passed(statement)
            return guarded, True
        return self._simple(statement, guarded), True

    def _branching(self, statement: ast.If, guarded: bool) -> tuple[bool, bool]:
        if not self._has_guard(statement) and not any(isinstance(n, ast.Return) for n in walk_here(statement)):
            self.statements.passed(statement)
            return guarded, True
        return self._either((statement.body, statement.orelse), guarded)

    def _matching(self, statement: ast.Match, guarded: bool) -> tuple[bool, bool]:
        if not self._has_guard(statement):
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
        done, alive = self._block(statement.body, guarded)
        for handler in statement.handlers:
            swallows = not any(isinstance(n, ast.Raise) for s in handler.body for n in walk_here(s))
            before = len(self.statements)
            caught, _ = self._block(handler.body, guarded)
            self.statements.forget(before)
            if swallows and not caught and done and not guarded:
                done, self.result.first = False, None
        done, alive = self._block(statement.orelse, done) if alive else (done, alive)
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
        if _is_constructor_call(call):
            return self._base_constructor(call)
        return self._helper(call)

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
        if isinstance(expr, ast.Name):  # cls = type(self)
            values = self.view.scope.frames[0].live(expr.id)
            return len(values) == 1 and isinstance(values[0].node, ast.expr) and self._is_own_class(values[0].node)
        if isinstance(expr, ast.Call) and isinstance(expr.func, ast.Name) and expr.func.id == "type":
            return len(expr.args) == 1 and self._is_self(expr.args[0])
        return isinstance(expr, ast.Attribute) and expr.attr == "__class__" and self._is_self(expr.value)

    def _is_self(self, expr: ast.expr) -> bool:
        return isinstance(expr, ast.Name) and expr.id == self.view.self_name

    def _base_constructor(self, call: ast.Call) -> GuardCall | None:
        assert isinstance(call.func, ast.Attribute)
        if is_super(call.func.value):
            base = guarding(self.classes, self.view.receiver, self.view.owner, self.depth + 1)
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
        config = passed_config(call, base.function, not is_super(call.func.value))
        same = None if config is None else self.use.is_original(config)
        return GuardCall(call, base.owner, config=same, config_text=ast.unparse(config) if config else "")

    def _helper(self, call: ast.Call) -> GuardCall | None:
        """A method or function of the checkout that runs the guard as its own business, on a config it is given."""
        if self.depth > 4 or self.use.parameter is None:
            return None
        arguments = [*call.args, *(k.value for k in call.keywords)]
        on_self = isinstance(call.func, ast.Attribute) and self._is_self(call.func.value)
        if not on_self and not any(self._is_self(a) for a in arguments):
            return None
        callee = self.view.callee(call)
        if isinstance(callee, FunctionEntity):
            callee = _FunctionView(self.classes, self.view, callee)
        if callee is None or not self._mentions_guard(callee):
            return None
        inner = _Walk(callee, self.depth + 3).run()
        if not inner.complete:
            return None
        config = passed_config(call, callee.node, not on_self)
        return GuardCall(call, config=None if config is None else self.use.is_original(config))

    def _mentions_guard(self, callee: MethodView) -> bool:
        return any(self.classes.names.leads_to(c, callee.scope, GUARD) for c in callee.calls())


class _FunctionView(MethodView):
    """A module-level helper, looked into like a method."""

    def __init__(self, classes: Classes, caller: MethodView, entity: FunctionEntity):
        super().__init__(classes, caller.receiver, Member(caller.owner, Binding("def", entity.node)))
        self.__dict__["scope"] = entity.scope.entered(entity.node.body, entity.node.args)


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


def _is_constructor_call(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "__init__"
