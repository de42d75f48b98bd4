"""What names a block of statements binds, branch by branch."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_RUN_LATER = (*FUNCTIONS, ast.ClassDef, ast.Lambda)
_SIMPLE = (*_RUN_LATER, ast.expr_context, ast.operator, ast.unaryop)  # what nobody looks for


@dataclass(eq=False)
class Binding:
    """One place that binds a name.

    ``kind`` is ``class``, ``def``, ``import`` (``target`` is a module), ``from`` (``target`` is a module, ``name`` the
    name taken from it), ``value`` (``node`` is the expression) or ``opaque`` (a loop variable, an unpacking, …).
    """

    kind: str
    node: ast.AST
    conditional: bool = False
    target: str = ""
    name: str = ""
    unreal: bool = False  # under ``if TYPE_CHECKING:``, so for readers only


@dataclass(eq=False)
class Bindings:
    """The names that one block binds, in source order, and the modules whose every name it takes over."""

    names: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    _live: dict[str, tuple[list[Binding], int, list[Binding]]] = field(default_factory=dict, repr=False)

    def real(self, name: str) -> list[Binding]:
        """Return the bindings that can be in force when the code runs."""
        return [binding for binding in self.live(name) if not binding.unreal]

    def live(self, name: str) -> list[Binding]:
        """Return the bindings of ``name`` that can be in force at the end of the block.

        The last unconditional one hides what stands before it; those in branches may or may not have run.
        ``X = decorate(X)`` keeps what ``X`` was.
        """
        bound = self.names.get(name)
        if bound is None:
            return []
        known = self._live.get(name)
        if known is None or known[0] is not bound or known[1] != len(bound):
            known = self._live[name] = (bound, len(bound), _in_force(bound, name))
        return known[2]


def _in_force(bound: list[Binding], name: str) -> list[Binding]:
    result: list[Binding] = []
    for binding in bound:
        if binding.kind == "value" and _rewraps(binding.node, name):
            continue
        if not binding.conditional:
            result = []
        result.append(binding)
    return result


def _rewraps(value: ast.AST, name: str) -> bool:
    return isinstance(value, ast.Call) and any(isinstance(a, ast.Name) and a.id == name for a in value.args)


def collect(body: list[ast.stmt], package: str = "") -> Bindings:
    """Return the bindings of a block; ``package`` is what relative imports in it start from."""
    found = Bindings()
    _collect(body, package, found, conditional=False)
    return found


def _collect(body: list[ast.stmt], package: str, found: Bindings, conditional: bool) -> None:
    def add(name: str, binding: Binding) -> None:
        found.names.setdefault(name, []).append(binding)

    for statement in body:
        if isinstance(statement, ast.ClassDef):
            add(statement.name, Binding("class", statement, conditional))
        elif isinstance(statement, FUNCTIONS):
            add(statement.name, Binding("def", statement, conditional))
        elif isinstance(statement, ast.Import):
            for alias in statement.names:
                bound, target = (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
                add(bound, Binding("import", statement, conditional, target))
        elif isinstance(statement, ast.ImportFrom):
            target = absolute_module(statement, package)
            for alias in statement.names:
                if alias.name == "*":
                    found.stars.append(target)
                else:
                    add(
                        alias.asname or alias.name,
                        Binding("from", statement, conditional, target, alias.name),
                    )
        elif isinstance(statement, ast.Delete):
            for target in statement.targets:
                if not conditional:
                    found.names.pop(dotted(target), None)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            for name, value in assigned(statement):
                add(name, Binding("opaque" if value is None else "value", value or statement, conditional))
        else:
            for name in _targets(statement):
                add(name, Binding("opaque", statement, conditional))
            known = {id(b) for bound in found.names.values() for b in bound} if _for_readers(statement) else set()
            for branch, sure in branches(statement):
                _collect(branch, package, found, conditional or not sure)
                if _for_readers(statement) and branch is statement.body:
                    for bound in found.names.values():
                        for binding in bound:
                            binding.unreal = binding.unreal or id(binding) not in known


def absolute_module(statement: ast.ImportFrom, package: str) -> str:
    """Return the absolute name of the module that ``from … import`` reads from."""
    if not statement.level:
        return statement.module or ""
    parts = package.split(".")
    parts = parts[: len(parts) - statement.level + 1]
    return ".".join(p for p in (*parts, statement.module) if p)


def assigned(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield ``(name, value)`` for each name an assignment binds; the value is ``None`` where it has no one expression.

    Attributes are named by their dotted text, so that ``Model.policy = X`` after a class is seen as what it is.
    """
    if isinstance(statement, ast.AugAssign):
        name = dotted(statement.target)
        if name:
            yield name, None
        return
    if statement.value is None:
        return
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in targets:
        yield from paired(target, statement.value)


def paired(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield each dotted name of an assignment target with its part of the value, ``None`` where that is no one part."""
    if isinstance(target, (ast.Tuple, ast.List)):
        values: list[ast.expr | None] = [None] * len(target.elts)
        starred = any(isinstance(e, ast.Starred) for e in target.elts)
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts) and not starred:
            values = list(value.elts)
        for element, part in zip(target.elts, values, strict=True):
            yield from paired(element.value if isinstance(element, ast.Starred) else element, part)
        return
    name = dotted(target)
    if name:
        yield name, value


def literal_truth(test: ast.expr) -> bool | None:
    """Return what a condition surely is by its own letters (``True``, ``0``, ``not False``), else ``None``."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = literal_truth(test.operand)
        return None if inner is None else not inner
    return None


def _for_readers(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and dotted(statement.test).rpartition(".")[2] == "TYPE_CHECKING"


def parts_of(node: ast.AST) -> list[tuple[str, ast.expr | None]]:
    """Return the dotted names that an assignment of whatever shape binds, each with its part of the value."""
    if isinstance(node, ast.NamedExpr):
        return list(paired(node.target, node.value))
    return list(assigned(node)) if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) else []


def _targets(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        yield from (name for name, _ in paired(statement.target, None))
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        for item in statement.items:
            if item.optional_vars is not None:
                yield from (name for name, _ in paired(item.optional_vars, None))


def branches(statement: ast.stmt) -> Iterator[tuple[list[ast.stmt], bool]]:
    """Yield the blocks inside a compound statement, each with whether it runs whenever the statement does."""
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        yield statement.body, True
    elif isinstance(statement, ast.If) and literal_truth(statement.test) is not None:
        yield statement.body if literal_truth(statement.test) else statement.orelse, True
    elif isinstance(statement, (ast.If, ast.For, ast.AsyncFor, ast.While)):
        yield statement.body, False
        yield statement.orelse, False
    elif isinstance(statement, ast.Match):
        for case in statement.cases:
            yield case.body, False
    elif isinstance(statement, ast.Try) or type(statement).__name__ == "TryStar":
        yield statement.body, False  # type: ignore[attr-defined]
        for handler in statement.handlers:  # type: ignore[attr-defined]
            yield handler.body, False
        yield statement.orelse, False  # type: ignore[attr-defined]
        yield statement.finalbody, True  # type: ignore[attr-defined]


def dotted(node: ast.AST) -> str:
    """Return ``a.b.c`` for a chain of names and attributes, an empty text for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join((node.id, *reversed(parts)))


def walk_here(node: ast.AST) -> Iterator[ast.AST]:
    """Walk ``node`` without entering nested functions, classes and lambdas (their bodies run at another time)."""
    todo = deque((node,))
    while todo:
        current = todo.popleft()
        yield current
        # ``ast.iter_child_nodes``, which is half of the time, written out
        for name in current._fields:
            child = getattr(current, name, None)
            if isinstance(child, list):
                todo.extend(c for c in child if isinstance(c, ast.AST) and not isinstance(c, _RUN_LATER))
            elif isinstance(child, ast.AST) and not isinstance(child, _SIMPLE):
                todo.append(child)


def statements_here(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a block and of the blocks inside it; nested functions and classes are not entered.

    Far cheaper than a walk, which visits every expression.
    """
    for statement in body:
        yield statement
        for branch, _ in branches(statement):
            yield from statements_here(branch)


def nodes_on(node: ast.AST, lines: set[int], nested: bool = True) -> Iterator[ast.AST]:
    """Walk only those nodes below ``node`` that reach over one of ``lines`` (found by a search in the text).

    Parents come first, in source order; ``nested`` functions and classes are entered or not.
    """
    ordered = sorted(lines)
    todo = _reaching(node, ordered, nested)
    while todo:
        current = todo.pop()
        if hasattr(current, "lineno"):
            yield current
        todo += _reaching(current, ordered, nested)


def _reaching(node: ast.AST, ordered: list[int], nested: bool) -> list[ast.AST]:
    """The children of a node that reach over one of the lines, last first."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        for child in value if isinstance(value, list) else (value,):
            if not isinstance(child, ast.AST) or (not nested and isinstance(child, _RUN_LATER)):
                continue
            start = getattr(child, "lineno", None)
            if start is not None:
                at = bisect_left(ordered, start)
                if at == len(ordered) or ordered[at] > child.end_lineno:  # type: ignore[attr-defined]
                    continue
            elif isinstance(child, _SIMPLE):
                continue
            found.append(child)
    found.reverse()
    return found


def surely_binds(body: list[ast.stmt], name: str) -> bool:
    """Tell whether a name is bound whenever a block has run to its end: in every branch that does not raise."""
    return any(_binds(statement, name) for statement in body)


def _binds(statement: ast.stmt, name: str) -> bool:
    if any(not b.conditional for b in collect([statement]).names.get(name, ())):
        return True
    if isinstance(statement, ast.If):
        return _binds_or_leaves(statement.body, name) and _binds_or_leaves(statement.orelse, name)
    if isinstance(statement, ast.Try):
        tried = surely_binds([*statement.body, *statement.orelse], name)
        return tried and all(_binds_or_leaves(handler.body, name) for handler in statement.handlers)
    return False


def _binds_or_leaves(body: list[ast.stmt], name: str) -> bool:
    return surely_binds(body, name) or any(isinstance(statement, ast.Raise) for statement in body)
