"""Constructors that give an argument a default, keep that, and go on with the raw argument."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.project import Project
from automodel_lint.inference.bindings import FUNCTIONS, branches, collect, dotted, parts_of, walk_here
from automodel_lint.inference.names import ClassEntity, all_arguments
from automodel_lint.source import remembered

_GIVES_DEFAULT = re.compile(r"\bor\b|\bif\b")
_WORDS = ("logger", "logging", "log", "warnings", "print", "rank_zero_warn")
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True, eq=False)
class RawUse:
    """``uses`` of a parameter after ``kept`` (``self.backend``) was set to it or a ``default``, in one constructor."""

    owner: ClassEntity
    function: ast.FunctionDef
    parameter: str
    kept: str
    default: str
    uses: tuple[ast.Name, ...]


def raw_uses(model: ModelClass) -> Iterator[RawUse]:
    """Yield the faults in the constructors that making a class runs: its own, its bases', those of its modules."""
    for cls in dict.fromkeys((model.entity, *model.module_tree.classes)):
        yield from _raw_uses_along(model.project, cls)


@remembered
def _raw_uses_along(project: Project, cls: ClassEntity) -> tuple[RawUse, ...]:
    """The faults in the constructors along the resolution order, as far as each calls the next."""
    found: list[RawUse] = []
    for ancestor in project.classes.mro(cls):
        local = isinstance(ancestor, ClassEntity) and project.classes.in_checkout(ancestor)
        members = project.classes.local(ancestor, "__init__") if local else []  # type: ignore[arg-type]
        functions = [member.function for member in members if member.function is not None]
        for function in functions:
            found += _raw_uses_in(project, ancestor, function)  # type: ignore[arg-type]
        if functions and not any(_calls_on(project, ancestor, function) for function in functions):
            break
    return tuple(found)


def _calls_on(project: Project, owner: ClassEntity, function: ast.AST) -> bool:
    lines = project.tree.lines(owner.module.path)[function.lineno - 1 : function.end_lineno]  # type: ignore[attr-defined]
    return any("__init__(" in line for line in lines[1:])


@remembered
def _raw_uses_in(project: Project, owner: ClassEntity, function: ast.FunctionDef) -> tuple[RawUse, ...]:
    parameters = {a.arg for a in all_arguments(function.args)[1:]}
    first = [*function.args.posonlyargs, *function.args.args][:1]
    begin = function.body[0].lineno
    text = project.tree.lines(owner.module.path)[begin - 1 : function.end_lineno]
    if not first or not parameters or not any(_GIVES_DEFAULT.search(line) for line in text):
        return ()
    found = _Constructor(owner, function, first[0].arg, parameters, dict(enumerate(text, begin)))
    found.block(function.body)
    return tuple(found.faults)


class _Constructor:
    """Looks through the statements of a constructor, block by block."""

    def __init__(
        self, owner: ClassEntity, function: ast.FunctionDef, me: str, parameters: set[str], text: dict[int, str]
    ):
        self.owner, self.function, self.me, self.parameters, self.text = owner, function, me, parameters, text
        self.faults: list[RawUse] = []

    def block(self, body: list[ast.stmt], behind: tuple[ast.stmt, ...] = ()) -> None:
        """Look for kept defaults in a block; ``behind`` are the statements that surely follow it."""
        locals_: dict[str, tuple[str, ast.expr]] = {}
        for index, statement in enumerate(body):
            rest = [*body[index + 1 :], *behind]
            for target, value in _assignments(statement):
                given = _defaulted(value)
                if given is None and isinstance(value, ast.Name):
                    given = locals_.get(value.id)
                if given is None or given[0] not in self.parameters or given[0] in collect([statement]).names:
                    continue
                if target.startswith(f"{self.me}.") and target.count(".") == 1:
                    self._kept(target, *given, rest)
                elif target != given[0]:
                    locals_[target] = given
            for branch, sure in branches(statement):
                self.block(branch, tuple(rest) if sure else ())

    def _kept(self, target: str, parameter: str, default: ast.expr, rest: list[ast.stmt]) -> None:
        if any(f.parameter == parameter for f in self.faults):
            return
        lines = [number for number, line in self.text.items() if parameter in line]
        mention = [s for s in rest if any(s.lineno <= line <= (s.end_lineno or s.lineno) for line in lines)]
        uses = tuple(_uses_in(mention, parameter))
        if uses:
            self.faults.append(RawUse(self.owner, self.function, parameter, target, ast.unparse(default), uses))


def _assignments(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """What a statement binds: an assignment, ``setattr``, both sides of a choice about ``None``."""
    if isinstance(statement, ast.If):
        either = [dict(_plain(side[0])) if len(side) == 1 else {} for side in (statement.body, statement.orelse)]
        for target in either[0].keys() & either[1].keys():
            yield target, ast.IfExp(test=statement.test, body=either[0][target], orelse=either[1][target])
    else:
        yield from _plain(statement)


def _plain(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    yield from ((target, value) for target, value in parts_of(statement) if value is not None)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and dotted(call.func) == "setattr" and len(call.args) == 3:
        owner, name, value = call.args
        if isinstance(name, ast.Constant):
            yield f"{dotted(owner)}.{name.value}", value


def _defaulted(value: ast.expr) -> tuple[str, ast.expr] | None:
    """The name and the default of ``x or D``, ``x if x is not None else D``, ``D if x is None else x``."""
    if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or) and isinstance(value.values[0], ast.Name):
        name, default = value.values[0].id, value.values[-1]
    elif isinstance(value, ast.IfExp):
        about = _about(value.test)
        given, default = (value.body, value.orelse) if about and about[1] else (value.orelse, value.body)
        if about is None or not isinstance(given, ast.Name) or given.id != about[0]:
            return None
        name = given.id
    else:
        return None
    return None if isinstance(default, ast.Constant) and default.value is None else (name, default)


def _about(test: ast.expr) -> tuple[str, bool] | None:
    """The name that a test asks for being there, and whether it is when the test is true."""
    if isinstance(test, ast.Name):
        return test.id, True
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _about(test.operand)
        return (inner[0], not inner[1]) if inner else None
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name):
        right = test.comparators[0]
        if isinstance(right, ast.Constant) and right.value is None:
            if isinstance(test.ops[0], (ast.IsNot, ast.NotEq)):
                return test.left.id, True
            if isinstance(test.ops[0], (ast.Is, ast.Eq)):
                return test.left.id, False
    return None


# -- uses -----------------------------------------------------------------------------------------------------------


def _uses_in(body: list[ast.stmt], name: str) -> Iterator[ast.Name]:
    """The raw uses in statements that follow each other, until the name is bound anew or surely there."""
    for statement in body:
        yield from _uses_of(statement, name)
        if _settles(statement, name):
            return


def _settles(statement: ast.stmt, name: str) -> bool:
    """Whether the name is no raw argument any more behind a statement, on some path at least."""
    if name in collect([statement]).names:
        return True
    if isinstance(statement, ast.Delete):
        return any(dotted(target) == name for target in statement.targets)
    if isinstance(statement, ast.Assert):
        return _implies(statement.test, name, True)
    if isinstance(statement, ast.If) and statement.body and isinstance(statement.body[-1], _LEAVES):
        return _implies(statement.test, name, False)
    walrus = (n for n in walk_here(statement) if isinstance(n, ast.NamedExpr))
    return any(dotted(n.target) == name for n in walrus)


def _uses_of(statement: ast.stmt, name: str) -> Iterator[ast.Name]:
    if isinstance(statement, ast.Raise) or _is_message(statement):
        return
    if isinstance(statement, ast.If):
        yield from _uses(statement.test, name)
        if not _implies(statement.test, name, True):
            yield from _uses_in(statement.body, name)
        if not _implies(statement.test, name, False):
            yield from _uses_in(statement.orelse, name)
        return
    sides = list(branches(statement))
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr):
            yield from _uses(child, name)
        elif isinstance(child, ast.withitem):
            yield from _uses(child.context_expr, name)
    if isinstance(statement, FUNCTIONS) and name not in {a.arg for a in all_arguments(statement.args)}:
        yield from _uses_in(statement.body, name)
    for branch, _ in sides:
        yield from _uses_in(branch, name)


def _is_message(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and dotted(call.func).partition(".")[0] in _WORDS


def _implies(test: ast.expr, name: str, truth: bool) -> bool:
    """Whether a test that came out as ``truth`` says that the argument is there."""
    if isinstance(test, ast.BoolOp):
        decides = isinstance(test.op, ast.And) is truth  # all of its values came out alike
        return decides and any(_implies(value, name, truth) for value in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _implies(test.operand, name, not truth)
    if isinstance(test, ast.Call) and dotted(test.func) == "isinstance" and test.args:
        return truth and dotted(test.args[0]) == name
    return _about(test) == (name, truth)


def _uses(expr: ast.AST, name: str) -> Iterator[ast.Name]:
    """The raw uses in an expression: neither questions whether it is there, nor what stands behind such a question."""
    if isinstance(expr, ast.Name):
        if expr.id == name and isinstance(expr.ctx, ast.Load):
            yield expr
    elif isinstance(expr, ast.BoolOp):
        for index, value in enumerate(expr.values):
            if not (isinstance(value, ast.Name) and index < len(expr.values) - 1):  # ``x or D``, ``x and …``
                yield from _uses(value, name)
            if _implies(value, name, isinstance(expr.op, ast.And)):
                return
    elif isinstance(expr, ast.IfExp):
        yield from _uses(expr.test, name) if _about(expr.test) is None else ()
        for side, truth in ((expr.body, True), (expr.orelse, False)):
            if not _implies(expr.test, name, truth):
                yield from _uses(side, name)
    elif isinstance(expr, ast.Call) and dotted(expr.func) == "isinstance" and expr.args:
        yield from (use for argument in expr.args[1:] for use in _uses(argument, name))
    elif isinstance(expr, ast.Lambda) and name in {a.arg for a in all_arguments(expr.args)}:
        return
    elif not (isinstance(expr, ast.expr) and (_about(expr) or ("", False))[0] == name):
        for child in ast.iter_child_nodes(expr):
            yield from _uses(child, name)
