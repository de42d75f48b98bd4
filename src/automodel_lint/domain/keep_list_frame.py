"""What a block of code that may fill a keep list knows."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from automodel_lint.domain.keep_list import Written
from automodel_lint.inference.classes import MethodView
from automodel_lint.inference.names import ClassEntity, Scope


@dataclass(frozen=True)
class Frame:
    """What a block of code knows.

    Attributes:
        owner: the class whose code it is.
        scope: where its names are looked up.
        selves: its names for the object or class that has the lists.
        view: the method or function; ``None`` in a class body or module.
        depth: how many calls lead here from the constructor.
        in_body: whether the bare names of the lists are the lists.
        at: where to say that things are written, if not where they are (in the file of somebody else).
    """

    owner: ClassEntity
    scope: Scope
    selves: frozenset[str] = frozenset()
    view: MethodView | None = None
    depth: int = 0
    in_body: bool = False
    at: Written | None = None

    @classmethod
    def of(cls, view: MethodView, depth: int = 0) -> Frame:
        """Return the frame of a method."""
        return cls(view.owner, view.scope, frozenset((view.self_name,)), view, depth)

    def place(self, node: ast.AST) -> Written:
        """Say that something is written here."""
        return self.at or Written(self.owner, node, self.view.node.name if self.view else None)


def reaches(node: ast.AST, lines: set[int]) -> bool:
    """Tell whether a node stands on one of the lines."""
    return any(node.lineno <= line <= (node.end_lineno or node.lineno) for line in lines)  # type: ignore[attr-defined]
