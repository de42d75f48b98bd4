"""Repairs of raw casts of the whole model (NAM404): the framework's own cast, which heeds the keep lists.

It returns nothing, so a cast that is assigned or returned becomes a statement and the model by its name. What else the
old call did, a move to a device, is done behind it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from automodel_lint.domain.casts import KEEPING, Cast
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.spelling import spelled, spelled_from
from automodel_lint.findings import Span
from automodel_lint.inference.classes import is_super
from automodel_lint.inference.names import Module
from automodel_lint.repairs import Repair, Step, place_of, repair, replace_statement, replace_text, statement_below

_MODEL = "model"  # what a model gets called that had no name
_NAMED = ("dtype", "dst_type")
Statement = ast.Expr | ast.Assign | ast.Return


def keeping(model: ModelClass, cast: Cast) -> Repair | None:
    """``cast_model_to_dtype`` in place of a raw cast; ``None`` inside other expressions and in another file."""
    raw = cast.innermost
    module = raw.view.module
    statement = _statement(raw)
    function, torch = spelled(model.project, module, KEEPING), spelled_from(module, "torch")
    if module.path != cast.view.owner.module.path or statement is None or function is None or torch is None:
        return None
    asked = _Texts(model, module, raw).asked(torch[0])
    if asked is None:
        return None
    writer = _Writer(model, module, raw, statement, function[0], asked)
    steps = writer.named() if asked.name else writer.unnamed()
    by_name = raw.node.func.attr not in ("to", "type")  # type: ignore[attr-defined]
    needed = (function[1], torch[1] if by_name else None)
    return repair(f"Cast with `{KEEPING}`", *steps, *needed) if steps else None


def _statement(cast: Cast) -> Statement | None:
    """The statement that is nothing but the cast, or assigns or returns it."""
    for node in ast.walk(cast.view.node):
        if isinstance(node, (ast.Expr, ast.Assign, ast.Return)) and node.value is cast.node:
            return node
    return None


@dataclass(frozen=True)
class _Asked:
    """What a cast does: the model's node and its name, if it has one; the dtype; the rest of the arguments."""

    model: ast.expr
    name: str
    dtype: str
    rest: str


@dataclass(frozen=True)
class _Texts:
    """Reads a cast as the author wrote it."""

    project_of: ModelClass
    module: Module
    cast: Cast

    def asked(self, torch: str) -> _Asked | None:
        """Return what the cast does; ``None`` if its arguments cannot be told, or span lines."""
        call = self.cast.node
        func, arguments = call.func, list(call.args)
        assert isinstance(func, ast.Attribute)
        if any(k.arg is None for k in call.keywords) or any(isinstance(a, ast.Starred) for a in arguments):
            return None
        target = func.value
        if is_super(target):
            name = self.cast.target
        elif self.cast.target != ast.unparse(target):  # nn.Module.to(self, dtype)
            target = arguments.pop(0)
            name = self._name(target)
        else:
            name = self._name(target)
        if func.attr not in ("to", "type"):
            return _Asked(target, name, f"{torch}.{self.cast.dtype}", "")
        dtype = self._dtype(call, arguments)
        rest = [self.text(a) for a in arguments if a is not dtype]
        rest += [f"{k.arg}={self.text(k.value)}" for k in call.keywords if k.value is not dtype]
        texts = [self.text(dtype) if dtype is not None else "", ", ".join(rest)]
        return _Asked(target, name, *texts) if texts[0] and "\n" not in "".join(texts) else None

    @staticmethod
    def _name(target: ast.expr) -> str:
        return target.id if isinstance(target, ast.Name) else ""

    def _dtype(self, call: ast.Call, arguments: list[ast.expr]) -> ast.expr | None:
        named = [k.value for k in call.keywords if k.arg in _NAMED]
        return next(iter(named or [a for a in arguments if ast.unparse(a) == self.cast.given]), None)

    def text(self, node: ast.expr) -> str:
        """Return the text of an expression."""
        tree = self.project_of.project.tree
        return tree.text_at(self.module.path, tree.span(self.module.path, node))


@dataclass(frozen=True)
class _Writer:
    """Writes the statement of a cast anew; ``function`` is how the file writes the framework's cast."""

    model: ModelClass
    module: Module
    cast: Cast
    statement: Statement
    function: str
    asked: _Asked

    def named(self) -> list[Step] | None:
        """The steps for a model that has a name."""
        name, lines = self.asked.name, [self._call(self.asked.name)]
        moved = f"{name}.to({self.asked.rest})" if self.asked.rest else name
        if isinstance(self.statement, ast.Return):
            lines.append(f"return {moved}")
        elif isinstance(self.statement, ast.Assign):
            targets = " = ".join(self._texts.text(t) for t in self.statement.targets)
            lines += [f"{targets} = {moved}"] if self.asked.rest or targets != name else []
        elif self.asked.rest:
            lines.append(moved)
        return [replace_statement(self._place, "\n".join(lines))]

    def unnamed(self) -> list[Step] | None:
        """The steps for a model that is an expression, whose text stays as it is."""
        outer, inner = self._span(self.statement), self._span(self.asked.model)
        before = Span(outer.line, outer.column, inner.line, inner.column)
        behind = Span(inner.end_line, inner.end_column, outer.end_line, outer.end_column)
        if isinstance(self.statement, ast.Expr):
            if self.asked.rest:
                return None  # two statements would evaluate it twice
            return [
                replace_text(before, f"{self.function}("),
                replace_text(behind, f", {self.asked.dtype})"),
            ]
        name = self._new_name()
        moved = f"{name}.to({self.asked.rest})" if self.asked.rest else name
        lines, steps = [self._call(name)], [replace_text(behind, "")]
        if isinstance(self.statement, ast.Return):
            steps.append(replace_text(before, f"{name} = "))
            lines.append(f"return {moved}")
        elif self.asked.rest:
            lines.append(f"{name} = {moved}")
        return [*steps, statement_below(self._place, "\n".join(lines))] if name else None

    def _new_name(self) -> str:
        """The name that the model is assigned to, else one that the function does not use; empty if there is none."""
        if isinstance(self.statement, ast.Assign):
            target = self.statement.targets[0]
            return target.id if len(self.statement.targets) == 1 and isinstance(target, ast.Name) else ""
        used = {n.id for n in ast.walk(self.cast.view.node) if isinstance(n, ast.Name)}
        used |= {a.arg for a in ast.walk(self.cast.view.node) if isinstance(a, ast.arg)}
        return "" if _MODEL in used else _MODEL

    def _call(self, name: str) -> str:
        return f"{self.function}({name}, {self.asked.dtype})"

    @property
    def _texts(self) -> _Texts:
        return _Texts(self.model, self.module, self.cast)

    @property
    def _place(self) -> tuple[int, int]:
        return place_of(self._span(self.statement))

    def _span(self, node: ast.AST) -> Span:
        return self.model.project.tree.span(self.module.path, node)
