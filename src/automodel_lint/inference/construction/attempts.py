"""``try``: construction that raises is no construction; what is followed elsewhere goes on where it is caught."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from automodel_lint.inference.bindings import dotted
from automodel_lint.inference.construction.blocks import RAISE
from automodel_lint.inference.construction.frames import Frame
from automodel_lint.inference.construction.values import UNKNOWN

if TYPE_CHECKING:
    from automodel_lint.inference.construction.statements import Statements


class Raised(Exception):
    """Something surely raises inside a ``try`` of what is followed; ``error`` is what."""

    def __init__(self, error: Exception):
        super().__init__()
        self.error = error


def error_named(name: str) -> Exception:
    """Return an error of a class by its name; of one that Python does not know, any error."""
    kind = getattr(builtins, name, None)
    return kind() if isinstance(kind, type) and issubclass(kind, Exception) else Exception()


def handler_of(statement: ast.Try, error: Exception) -> ast.ExceptHandler | None:
    """Return the handler that takes an error."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    for handler in statement.handlers:
        types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        if any(kind is None or dotted(kind).rpartition(".")[2] in kinds for kind in types):
            return handler
    return None


class Attempts:
    """Executes ``try`` statements."""

    def __init__(self, statements: Statements):
        self.statements = statements

    def run(self, statement: ast.Try, frame: Frame) -> str | None:
        """Execute the body and what follows it; return how it ends."""
        run, block = self.statements.run, self.statements.block
        run.trying.append(len(run.heap.conditions))
        try:
            ended = block(statement.body, frame)
        except Raised as raised:
            run.trying.pop()
            return self._caught(statement, raised, frame)
        run.trying.pop()
        if ended == RAISE and statement.handlers:
            ended = block(statement.handlers[0].body, frame)
        elif ended is None:
            ended = block(statement.orelse, frame)
        return block(statement.finalbody, frame) or ended

    def _caught(self, statement: ast.Try, raised: Raised, frame: Frame) -> str | None:
        run, block = self.statements.run, self.statements.block
        handler = handler_of(statement, raised.error)
        if handler is None:
            block(statement.finalbody, frame)
            if run.trying and len(run.heap.conditions) == run.trying[-1]:
                raise raised
            return RAISE
        if handler.name:
            frame.names[handler.name] = UNKNOWN
        ended = block(handler.body, frame)
        return block(statement.finalbody, frame) or ended
