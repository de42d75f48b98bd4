"""What an expression evaluates to, as far as the source decides it.

Literals and names are read off directly. For everything else (``BASE + ["x"]``, a call, a subscript) the expression is
closed over what its names stand for, across files, and that small program is handed to astroid. So astroid never reads
a file by itself: whatever a value depends on has come through the source tree.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

from automodel_lint.inference.bindings import dotted, literal_truth
from automodel_lint.inference.names import ClassEntity, Entity, External, FunctionEntity, Names, Scope, Value

# The builtins that astroid evaluates; of any other it only knows the type, and makes up an empty value.
_UNDERSTOOD = frozenset({"bool", "dict", "frozenset", "int", "len", "list", "set", "str", "tuple"})
_MOST = 16  # alternatives that are followed before an expression counts as undecidable


class Undecided(Exception):
    """The source does not say what an expression evaluates to."""


@dataclass(frozen=True)
class Ref:
    """A value that is a definition, not data: a class, a function, an enum member; known by its dotted name."""

    fqn: str

    @property
    def name(self) -> str:
        return self.fqn.rpartition(".")[2]


class Values:
    """Evaluates expressions on top of :class:`Names`."""

    def __init__(self, names: Names):
        self.names = names

    def possible(self, expr: ast.expr, scope: Scope) -> list[Any]:
        """Return every value that ``expr`` can have, one for each side of a conditional; lists and dicts as such.

        Definitions appear as :class:`Ref`. Raises :class:`Undecided` if the source does not tell.
        """
        return self._possible(expr, scope, 0)

    def single(self, expr: ast.expr, scope: Scope) -> Any:
        """Return the only value that ``expr`` can have; raises :class:`Undecided` if there is none or a choice."""
        values = self.possible(expr, scope)
        if len(values) != 1:
            raise Undecided
        return values[0]

    def text(self, expr: ast.expr | None, scope: Scope) -> str | None:
        """Return the text that ``expr`` surely is, else ``None``."""
        if expr is None:
            return None
        try:
            value = self.single(expr, scope)
        except Undecided:
            return None
        return value if isinstance(value, str) else None

    def _possible(self, expr: ast.expr, scope: Scope, depth: int) -> list[Any]:
        if depth > 20:
            raise Undecided
        if isinstance(expr, ast.Constant):
            return [expr.value]
        if isinstance(expr, ast.IfExp) and literal_truth(expr.test) is not None:
            return self._possible(expr.body if literal_truth(expr.test) else expr.orelse, scope, depth + 1)
        if isinstance(expr, ast.IfExp):
            return self._possible(expr.body, scope, depth + 1) + self._possible(expr.orelse, scope, depth + 1)
        if isinstance(expr, (ast.Name, ast.Attribute)):
            entities = self.names.resolve(expr, scope)
            if not entities and isinstance(expr, ast.Attribute):
                return self._unknown_member(expr, scope)
            if not entities:
                raise Undecided
            return [v for entity in entities for v in self._of_entity(entity, depth)]
        if isinstance(expr, (ast.List, ast.Tuple, ast.Set)) and not any(isinstance(e, ast.Starred) for e in expr.elts):
            make: Callable[[Any], Any] = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(expr)]
            return self._combined([self._possible(e, scope, depth + 1) for e in expr.elts], make)
        if isinstance(expr, ast.Dict) and None not in expr.keys:
            parts = [self._possible(e, scope, depth + 1) for e in (*expr.keys, *expr.values) if e is not None]
            half = len(expr.keys)
            return self._combined(parts, lambda row: dict(zip(row[:half], row[half:], strict=True)))
        if isinstance(expr, ast.Call) and isinstance(expr.func, ast.Attribute):
            return self._method(expr, expr.func, scope, depth)
        return self._inferred(expr, scope, depth)

    def _unknown_member(self, expr: ast.Attribute, scope: Scope) -> list[Any]:
        """A name that an enum class does not have, or an attribute of a member: known by what was written."""
        owners = self.names.resolve(expr.value, scope)
        if owners and all(_is_enum(o) or (isinstance(o, Value) and _is_member(o, self.names)) for o in owners):
            return [Ref(f"{owner.fqn}.{expr.attr}") for owner in owners]
        raise Undecided

    def _combined(self, parts: list[list[Any]], make: Callable[[Any], Any]) -> list[Any]:
        count = 1
        for part in parts:
            count *= len(part)
        if not 0 < count <= _MOST:
            raise Undecided
        try:
            return [make(row) for row in product(*parts)]
        except TypeError as error:  # an unhashable key or member
            raise Undecided from error

    def _of_entity(self, entity: Entity, depth: int) -> list[Any]:
        if isinstance(entity, Value):
            if _is_member(entity, self.names):
                return [Ref(entity.fqn)]
            return self._possible(entity.expr, entity.scope, depth + 1)
        if isinstance(entity, External) and entity.fqn.startswith("builtins."):
            raise Undecided
        return [Ref(entity.fqn)]

    def _method(self, call: ast.Call, func: ast.Attribute, scope: Scope, depth: int) -> list[Any]:
        """The two methods of plain data that registries use; astroid answers calls of others with an empty value."""
        if self.names.resolve(func, scope):
            return self._inferred(call, scope, depth)
        owners = self._possible(func.value, scope, depth + 1)
        if func.attr == "copy" and not call.args:
            return owners
        if func.attr == "join" and len(call.args) == 1 and all(isinstance(o, str) for o in owners):
            lists = self._possible(call.args[0], scope, depth + 1)
            if all(isinstance(v, (list, tuple)) and all(isinstance(i, str) for i in v) for v in lists):
                return [owner.join(items) for owner in owners for items in lists]
        raise Undecided

    # -- expressions that are no literal ----------------------------------------------------------------------

    def _inferred(self, expr: ast.expr, scope: Scope, depth: int) -> list[Any]:
        closed = _Closed(self, depth)
        program = closed.program(expr, scope)
        import astroid  # costs more at start-up than a warm run may take
        from astroid.exceptions import AstroidError

        try:
            node = astroid.extract_node(program)
            results = [_python(value, closed.refs) for value in node.inferred()]
        except (AstroidError, RecursionError, StopIteration) as error:
            raise Undecided from error
        if not 0 < len(results) <= _MOST:
            raise Undecided
        return results


def _is_member(value: Value, names: Names) -> bool:
    """An attribute of an enum class is the member, not the expression it is made from."""
    owner, _, _ = value.fqn.rpartition(".")
    module, _, cls = owner.rpartition(".")
    return any(_is_enum(e) for e in (names.from_module(module, cls) if module and names.module(module) else ()))


def _is_enum(entity: Entity) -> bool:
    bases = entity.node.bases if isinstance(entity, ClassEntity) else ()
    return any(dotted(base).rpartition(".")[2] in ("Enum", "StrEnum", "IntEnum", "Flag") for base in bases)


class _Closed:
    """Writes an expression as a program of its own: every free name is defined before it is used."""

    def __init__(self, values: Values, depth: int):
        self.values, self.depth = values, depth
        self.lines: list[str] = []
        self.refs: dict[str, Ref] = {}
        self.count = 0

    def program(self, expr: ast.expr, scope: Scope) -> str:
        body = ast.unparse(self._rewritten(expr, scope, 0))
        return "\n".join([*self.lines, f"{body} #@"])

    def _rewritten(self, expr: ast.expr, scope: Scope, level: int) -> ast.expr:
        if level > 8:
            raise Undecided
        bound = {n.id for n in ast.walk(expr) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        bound |= {a.arg for n in ast.walk(expr) if isinstance(n, ast.Lambda) for a in n.args.args}
        closed = self

        class Rewrite(ast.NodeTransformer):
            def visit_Name(self, node: ast.Name) -> ast.expr:
                return node if node.id in bound else closed._defined(node, scope, level)

            def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
                root = dotted(node).partition(".")[0]
                if root and root not in bound:
                    return closed._defined(node, scope, level)
                node.value = self.visit(node.value)
                return node

        import copy

        return Rewrite().visit(copy.deepcopy(expr))

    def _defined(self, node: ast.Name | ast.Attribute, scope: Scope, level: int) -> ast.expr:
        entities = self.values.names.resolve(node, scope)
        if not entities:
            raise Undecided
        builtin = next((e for e in entities if isinstance(e, External) and e.fqn.startswith("builtins.")), None)
        if builtin is not None:
            if len(entities) > 1 or not isinstance(node, ast.Name) or node.id not in _UNDERSTOOD:
                raise Undecided
            return node
        name = f"v{self.count}"
        self.count += 1
        definitions = [self._definition(name, e, level) for e in entities[:_MOST]]
        if len(definitions) == 1:
            self.lines.append(definitions[0])
        else:
            for index, text in enumerate(definitions):
                indented = "\n    ".join(text.splitlines())
                self.lines.append(f"{'if unknown():' if not index else 'elif unknown():'}\n    {indented}")
        return ast.Name(name, ast.Load())

    def _definition(self, name: str, entity: Entity, level: int) -> str:
        if isinstance(entity, Value) and not _is_member(entity, self.values.names):
            return f"{name} = {ast.unparse(self._rewritten(entity.expr, entity.scope, level + 1))}"
        if isinstance(entity, FunctionEntity):
            return self._function(name, entity, level)
        mark = f"\0{len(self.refs)}"
        self.refs[mark] = Ref(entity.fqn)
        return f"{name} = {mark!r}"

    def _function(self, name: str, entity: FunctionEntity, level: int) -> str:
        """A function that only returns something is written out; any other is beyond what the source decides."""
        body = [s for s in entity.node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
        if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None or entity.node.decorator_list:
            raise Undecided
        if any(entity.node.args.args) or entity.node.args.kwonlyargs or entity.node.args.vararg:
            raise Undecided
        returned = self._rewritten(body[0].value, entity.scope, level + 1)
        return f"def {name}():\n    return {ast.unparse(returned)}"


def _python(node: Any, refs: dict[str, Ref]) -> Any:
    """Turn an inferred astroid node into the Python value it stands for."""
    kind = type(node).__name__
    if kind == "Const":
        return refs.get(node.value, node.value) if isinstance(node.value, str) else node.value
    if kind in ("List", "Tuple", "Set", "FrozenSet"):
        items = [_python(_only(element), refs) for element in node.elts]
        return {"List": list, "Tuple": tuple}.get(kind, set)(items)
    if kind == "Dict":
        return {_python(_only(key), refs): _python(_only(value), refs) for key, value in node.items}
    raise Undecided


def _only(node: Any) -> Any:
    if type(node).__name__ == "Const":
        return node
    results = list(node.infer())
    if len(results) != 1:
        raise Undecided
    return results[0]
