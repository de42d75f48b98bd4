"""A file to choose places in, and a step with what it must do there."""

from __future__ import annotations

import ast
import io
import random
import tokenize
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from automodel_lint.findings import Span
from automodel_lint.repairs import Step

from .trees import Places


@dataclass
class Made:
    """A step, and what it does: ``expect`` changes the old tree as the step should; ``check`` looks at the new text.

    ``loses`` are comments that go, ``moves`` tells that comments may change places. ``may_refuse`` is why the step need
    not be made here; empty, if it must be.
    """

    step: Step
    expect: Callable[[], None]
    loses: tuple[str, ...] = ()
    moves: bool = False
    may_refuse: str = ""


class Site:
    """A file to choose places in."""

    def __init__(self, data: bytes, text: str, chance: random.Random):
        self.tree, self.text, self.chance = ast.parse(data), text, chance
        self.places = Places(text)
        inside = {id(n) for j in ast.walk(self.tree) if isinstance(j, ast.JoinedStr) for n in ast.walk(j) if n is not j}
        self.nodes = [n for n in ast.walk(self.tree) if id(n) not in inside]  # 3.11 cannot tell places in f-strings

    def some(self, *kinds: type, where: Callable[[Any], bool] = lambda node: True) -> Any:
        """One of the nodes of these kinds, or nothing."""
        found = [n for n in self.nodes if isinstance(n, kinds) and where(n)]
        return self.chance.choice(found) if found else None

    @cached_property
    def comments(self) -> list[tokenize.TokenInfo]:
        """The comments."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text, newline="").readline)
        return [t for t in tokens if t.type == tokenize.COMMENT]

    def begins_line(self, node: Any) -> bool:
        """Whether only blanks stand before a node (or its first decorator)."""
        line, column = self.place(min((node, *getattr(node, "decorator_list", ())), key=lambda n: n.lineno))
        return not self.places.lines[line - 1][: column - 1].strip().strip("@")

    def place(self, node: Any) -> tuple[int, int]:
        """Where a node begins."""
        return self.places.start(node)

    def span(self, node: Any) -> Span:
        """What a node covers."""
        return Span(*self.places.start(node), *self.places.end(node))

    def text_of(self, node: Any) -> str:
        """The text of a node."""
        return self.places.segment(node)


def mark(node: Any) -> None:
    """Mark a node as changed: its text need not stay."""
    node.changed = True
