"""Repairs of the keep lists (NAM401, NAM406): patterns added to the strict one, or a line that makes it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from automodel_lint.domain.casts import KEEPING, casts_when_made
from automodel_lint.domain.constructor import Function
from automodel_lint.domain.keep_list import LISTS, PLAIN, STRICT, Written
from automodel_lint.domain.keep_list_forms import text
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.precision import follows_model, is_open_choice
from automodel_lint.findings import Span
from automodel_lint.inference.bindings import FUNCTIONS, dotted, paired
from automodel_lint.inference.module_tree import Tensor
from automodel_lint.inference.names import Scope
from automodel_lint.inference.values import Undecided
from automodel_lint.remedies.allocations import in_fp32
from automodel_lint.repairs import Repair, Step, add_item, add_member, place_of, repair, replace_text, statement_below

_BRACKETS = {"list": "[]", "tuple": "()", "set": "{}"}
_POLICY = "tie_word_embeddings_support"


def pinned(model: ModelClass, place: Written | None, tensors: list[Tensor], patterns: Sequence[str]) -> Repair | None:
    """The patterns in the strict list; tensors that take the model's dtype are allocated in fp32 as well.

    ``place`` is the assignment of the list, ``None`` where the class has none. ``patterns`` is empty if there is none
    that matches the tensors and nothing else.
    """
    steps = (_extended(model, place, patterns) if place else _declared(model, patterns)) if patterns else None
    if steps is None:
        return None
    quoted = ", ".join(f'"{pattern}"' for pattern in patterns)
    unsafe = all(is_open_choice(tensor) for tensor in tensors)
    return repair(f"Add {quoted} to `{STRICT}`", *steps, *_allocated(model, place, tensors), unsafe=unsafe)


def _allocated(model: ModelClass, place: Written | None, tensors: list[Tensor]) -> Sequence[Step | None]:
    """What allocates the tensors in fp32, as far as that is in the same file; else NAM408 asks for it."""
    path = place.owner.module.path if place else model.path
    low = [t for t in tensors if follows_model(t) and t.place.path == path]
    return () if KEEPING in casts_when_made(model.project, model.entity) else in_fp32(model, path, low) or ()


def _declared(model: ModelClass, patterns: Sequence[str]) -> list[Step] | None:
    """A line of its own in the class body; it takes over what a base has."""
    inherited = model.pins.inherited
    if inherited is None:
        return None
    items = ", ".join([f"*{inherited}"] * bool(inherited) + [f'"{pattern}"' for pattern in patterns])
    place = place_of(model.project.tree.span(model.path, model.entity.node))
    return [add_member(place, f"{STRICT} = [{items}]", after=(_POLICY, PLAIN))]


# -- the assignment that there is -------------------------------------------------------------------------------------


def _extended(model: ModelClass, place: Written, patterns: Sequence[str]) -> list[Step] | None:
    writer = _Writer(model, place, patterns)
    node = place.node
    if isinstance(node, ast.Assign):
        return writer.more_in(_assigned(node))
    if isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        return writer.more_in(node.value)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return writer.more_by(node, node.value)
    return None


def _assigned(statement: ast.Assign) -> ast.expr | None:
    """The value that an assignment gives the strict list."""
    for target in statement.targets:
        if isinstance(target, ast.Subscript):
            key = text(target.slice)
            if key == STRICT or isinstance(target.slice, ast.Slice):
                return statement.value
        for name, value in paired(target, statement.value):
            if name.rpartition(".")[2] == STRICT:
                return value
    return None


@dataclass(frozen=True)
class _Writer:
    """Puts patterns behind what an assignment of a list holds already."""

    model: ModelClass
    place: Written
    patterns: Sequence[str]

    @property
    def path(self) -> str:
        return self.place.owner.module.path

    def span(self, node: ast.AST) -> Span:
        return self.model.project.tree.span(self.path, node)

    # -- statements -----------------------------------------------------------------------------------------------

    def more_by(self, statement: ast.Expr, call: ast.Call) -> list[Step] | None:
        """A call that sets the list, or adds to it."""
        func = call.func
        if dotted(func) in ("setattr", "object.__setattr__"):
            return self.more_in(call.args[2])
        if not isinstance(func, ast.Attribute) or not call.args:
            given = [k.value for k in call.keywords if k.arg == STRICT]
            return self.more_in(given[0]) if given else None
        if func.attr in ("extend", "update"):
            return self.more_in(call.args[-1])
        return self._appended(statement, call) if func.attr in ("append", "add", "insert") else None

    def _appended(self, statement: ast.Expr, call: ast.Call) -> list[Step] | None:
        """Another such call for each pattern, below the one there is."""
        assert isinstance(call.func, ast.Attribute)
        method = "add" if call.func.attr == "add" else "append"
        quote = self._quote([call.args[-1]])
        lines = [f"{ast.unparse(call.func.value)}.{method}({quote}{p}{quote})" for p in self.patterns]
        return [statement_below(place_of(self.span(statement)), "\n".join(lines))]

    # -- expressions ----------------------------------------------------------------------------------------------

    def more_in(self, expr: ast.expr | None) -> list[Step] | None:
        """An expression that makes a list, with more in it; ``None`` if that cannot be told."""
        if isinstance(expr, (ast.List, ast.Tuple, ast.Set)):
            return [add_item(self.span(expr), self._items(expr.elts))]
        if isinstance(expr, ast.Constant) and expr.value is None:
            return [replace_text(self.span(expr), self._made())]
        if isinstance(expr, ast.Call):
            return self._in_call(expr)
        if isinstance(expr, ast.BinOp) and isinstance(expr.op, (ast.Add, ast.BitOr)):
            literal = [side for side in (expr.right, expr.left) if isinstance(side, (ast.List, ast.Tuple, ast.Set))]
            return self.more_in(literal[0]) if literal else None
        if isinstance(expr, ast.Name) and self._function is not None:
            local = self._in_local(self._function, expr)
            if local is not None:
                return local
        return self._spread(expr) if expr is not None and self._is_list(expr) else None

    def _in_call(self, call: ast.Call) -> list[Step] | None:
        """``list(…)``, ``sorted(…)`` and the like."""
        kind = dotted(call.func)
        if kind not in (*_BRACKETS, "sorted") or call.keywords or len(call.args) > 1:
            return None
        if not call.args:
            opening, closing = _BRACKETS[kind]
            return [replace_text(self.span(call), opening + self._items((), kind) + closing)]
        (inner,) = call.args
        if isinstance(inner, (ast.List, ast.Tuple, ast.Set)) or kind == "sorted":
            return self.more_in(inner)
        return self._spread(inner, call) if self._is_list(inner) else None

    def _spread(self, expr: ast.expr, whole: ast.expr | None = None) -> list[Step]:
        """``[*NAMES, "…"]`` in place of ``NAMES`` or ``list(NAMES)``; a tuple and a set where the author says so."""
        whole = whole or expr
        kind = dotted(whole.func) if isinstance(whole, ast.Call) else self._annotated()
        opening, closing = _BRACKETS.get(kind, "[]")
        bare = isinstance(expr, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
        outer, inner = self.span(whole), self.span(expr)
        before = Span(outer.line, outer.column, inner.line, inner.column)
        behind = Span(inner.end_line, inner.end_column, outer.end_line, outer.end_column)
        end = "" if bare else ")"
        return [
            replace_text(before, opening + ("*" if bare else "*(")),
            replace_text(behind, f"{end}, {self._items(())}{closing}"),
        ]

    def _annotated(self) -> str:
        annotation = self.place.node.annotation if isinstance(self.place.node, ast.AnnAssign) else None
        return ast.unparse(annotation).partition("[")[0] if annotation is not None else "list"

    # -- names of a method ----------------------------------------------------------------------------------------

    @property
    def _function(self) -> Function | None:
        """The method that the assignment stands in."""
        if self.place.method is None:
            return None
        for function in ast.walk(self.place.owner.node):
            if isinstance(function, FUNCTIONS) and any(node is self.place.node for node in ast.walk(function)):
                return function
        return None

    def _in_local(self, function: Function, name: ast.Name) -> list[Step] | None:
        """Where a method builds the list under a name: its literal, or its last ``append`` beside the assignment."""
        beside = _block_of(function, self.place.node)
        made = [s for s in ast.walk(function) if name.id in _names_bound(s)]
        for statement in reversed(beside[: beside.index(self.place.node)]):  # type: ignore[arg-type]
            call = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(call, ast.Call) and _is_of(call, name.id) and len(made) == 1:
                return self.more_by(statement, call)  # type: ignore[arg-type]
            if statement in made:
                value = statement.value  # type: ignore[attr-defined]
                return self.more_in(value) if isinstance(value, (ast.List, ast.Tuple, ast.Set)) else None
        return None

    # -- what is known ------------------------------------------------------------------------------------------------

    def _is_list(self, expr: ast.expr) -> bool:
        """Whether an expression surely is a list, tuple or set, so that it can be spread."""
        if isinstance(expr, (ast.List, ast.Tuple, ast.Set, ast.ListComp, ast.SetComp)):
            return True
        if isinstance(expr, ast.BoolOp):
            return isinstance(expr.op, ast.Or) and self._is_list(expr.values[-1])
        if isinstance(expr, ast.IfExp):
            return self._is_list(expr.body) and self._is_list(expr.orelse)
        if isinstance(expr, ast.Call):
            return dotted(expr.func) in (*_BRACKETS, "sorted")
        if isinstance(expr, ast.Attribute) and expr.attr in LISTS:
            return bool(self.model.names.resolve(expr.value, self._scope))  # another class's: a pattern of it is known
        function = self._function
        if isinstance(expr, ast.Name) and function is not None:
            values = [s.value for s in ast.walk(function) if expr.id in _names_bound(s)]  # type: ignore[attr-defined]
            if values:
                return all(value is not None and self._is_list(value) for value in values)
        try:
            values = self.model.values.possible(expr, self._scope)
        except Undecided:
            return False
        return bool(values) and all(isinstance(value, (list, tuple, set)) for value in values)

    @property
    def _scope(self) -> Scope:
        owner, function = self.place.owner, self._function
        if function is not None:
            return self.model.classes.method_scope(owner, function)
        return Scope(owner.module, (self.model.names.body(owner), *owner.scope.frames))

    # -- texts ----------------------------------------------------------------------------------------------------

    def _items(self, beside: Sequence[ast.expr], kind: str = "") -> str:
        quote = self._quote(beside)
        items = ", ".join(f"{quote}{pattern}{quote}" for pattern in self.patterns)
        return items + "," * (kind == "tuple" and len(self.patterns) == 1)

    def _made(self) -> str:
        """A list of nothing but the patterns, of the kind that the author announces."""
        kind = self._annotated()
        opening, closing = _BRACKETS.get(kind, "[]")
        return opening + self._items((), kind) + closing

    def _quote(self, beside: Sequence[ast.expr]) -> str:
        """The quotation mark that the patterns there are written with."""
        lines = self.model.project.tree.lines(self.path)
        for expr in beside:
            if text(expr):
                span = self.span(expr)
                return "'" if lines[span.line - 1][span.column - 1 :].lstrip("rRuU").startswith("'") else '"'
        return '"'


def _names_bound(statement: ast.AST) -> list[str]:
    """The names that an assignment binds directly."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        targets = [statement.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _is_of(call: ast.Call, name: str) -> bool:
    """Whether a call adds to the list of that name."""
    func = call.func
    return isinstance(func, ast.Attribute) and dotted(func.value) == name and func.attr in ("append", "add", "extend")


def _block_of(function: Function, statement: ast.AST) -> list[ast.stmt]:
    """The statements that a statement of a function stands among."""
    for node in ast.walk(function):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and statement in block:
                return block
    return []
