"""Reads a static mapping of the registry module: what it binds, what is added later, wherever the parts come from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from automodel_lint.domain.plan import Registration
from automodel_lint.inference.bindings import branches, dotted, parts_of
from automodel_lint.inference.names import Module, Names, Scope, Value
from automodel_lint.inference.values import Undecided, Values

_DEEPEST = 8


@dataclass(frozen=True)
class _Pair:
    """One entry as written: where, and under which key."""

    key: ast.expr | str
    value: ast.expr
    scope: Scope


class MappingReader:
    """Reads the mapping called ``name``. ``complete`` turns false where some of it cannot be read."""

    def __init__(self, names: Names, values: Values, name: str):
        self.names, self.values, self.name = names, values, name
        self.tree = names.tree
        self.complete = True

    def read(self, module: Module) -> list[Registration]:
        """Return the entries that the mapping has once ``module`` has been imported."""
        found: list[Registration] = []
        for binding in module.bindings.names.get(self.name, ()):
            source = self.names.module(binding.target) if binding.kind == "from" else None
            if source is not None:
                found += MappingReader(self.names, self.values, binding.name).read(source)
        scope = Scope(module)
        for group, (statement, sure, looped) in enumerate(_statements(module.syntax.body, True, False)):
            for expr, replaces in self._additions(statement):
                if replaces and sure and not self._mentions_itself(expr):
                    found = []
                self.complete = self.complete and not looped
                for pair in self._pairs(expr, scope, 0):
                    found += self._registration(pair, sure, group)
        return found

    def _mentions_itself(self, expr: ast.expr) -> bool:
        return any(isinstance(n, ast.Name) and n.id == self.name for n in ast.walk(expr))

    def _additions(self, statement: ast.stmt) -> Iterator[tuple[ast.expr, bool]]:
        """Yield the expressions that a statement puts into the mapping, and whether they replace what it was."""
        for name, value in parts_of(statement):
            if name == self.name and value is not None:
                yield value, True
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Subscript) and dotted(target.value) == self.name:
                    yield ast.Dict([target.slice], [statement.value]), False
        elif isinstance(statement, ast.AugAssign) and dotted(statement.target) == self.name:
            yield statement.value, False
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            if dotted(call.func) == f"{self.name}.update":
                yield call, False
            elif dotted(call.func) == f"{self.name}.setdefault" and len(call.args) == 2:
                yield ast.Dict([call.args[0]], [call.args[1]]), False

    def _registration(self, pair: _Pair, sure: bool, group: int) -> Iterator[Registration]:
        text = pair.key if isinstance(pair.key, str) else self.values.text(pair.key, pair.scope)
        if text is None:
            self.complete = False
            return
        module, cls, tags = self._target(pair)
        place = pair.value if isinstance(pair.key, str) else pair.key
        path = pair.scope.module.path
        span, relative = self.tree.span(path, place), self.tree.relative(path)
        yield Registration(text, module, cls, tags, "mapping", relative, span, sure, group)

    def _target(self, pair: _Pair) -> tuple[str, str, tuple[str, ...]]:
        """Module, class and tags of an entry; empty texts where the source does not say."""
        try:
            target = self.values.single(pair.value, pair.scope)
        except Undecided:
            return "", "", ()
        if not isinstance(target, (tuple, list)) or len(target) < 2 or not all(isinstance(t, str) for t in target[:2]):
            return "", "", ()
        tags = target[2] if len(target) > 2 and isinstance(target[2], (set, frozenset, list, tuple)) else ()
        return target[0], target[1], tuple(sorted(t for t in tags if isinstance(t, str)))

    def _pairs(self, expr: ast.expr, scope: Scope, depth: int) -> Iterator[_Pair]:
        """Yield the entries of a mapping expression, spreads and merges followed."""
        if isinstance(expr, ast.Dict):
            for key, value in zip(expr.keys, expr.values, strict=True):
                if key is None:
                    yield from self._pairs(value, scope, depth + 1)
                else:
                    yield _Pair(key, value, scope)
        elif isinstance(expr, (ast.List, ast.Tuple)):
            for element in expr.elts:
                if isinstance(element, ast.Starred):
                    yield from self._pairs(element.value, scope, depth + 1)
                elif isinstance(element, (ast.Tuple, ast.List)) and len(element.elts) == 2:
                    yield _Pair(element.elts[0], element.elts[1], scope)
                else:
                    self.complete = False
        elif isinstance(expr, ast.Call) and depth <= _DEEPEST:
            for argument in expr.args:
                yield from self._pairs(argument, scope, depth + 1)
            for keyword in expr.keywords:
                if keyword.arg is None:
                    yield from self._pairs(keyword.value, scope, depth + 1)
                else:
                    yield _Pair(keyword.arg, keyword.value, scope)
        elif isinstance(expr, ast.BinOp):
            yield from self._pairs(expr.left, scope, depth + 1)
            yield from self._pairs(expr.right, scope, depth + 1)
        else:
            yield from self._named(expr, scope, depth)

    def _named(self, expr: ast.expr, scope: Scope, depth: int) -> Iterator[_Pair]:
        if isinstance(expr, ast.Name) and expr.id == self.name:
            return  # what it was so far has been read already
        known = False
        if isinstance(expr, (ast.Name, ast.Attribute)) and depth <= _DEEPEST:
            for entity in self.names.resolve(expr, scope):
                if isinstance(entity, Value) and entity.expr is not expr:
                    known = True
                    yield from self._pairs(entity.expr, entity.scope, depth + 1)
        self.complete = self.complete and known


def _statements(body: list[ast.stmt], sure: bool, looped: bool) -> Iterator[tuple[ast.stmt, bool, bool]]:
    """Yield each statement, whether it surely runs, and whether it runs in a loop."""
    for statement in body:
        yield statement, sure, looped
        loops = isinstance(statement, (ast.For, ast.AsyncFor, ast.While))
        for branch, always in branches(statement):
            yield from _statements(branch, sure and always, looped or loops)
