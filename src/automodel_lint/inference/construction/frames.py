"""One call under way."""

from __future__ import annotations

from dataclasses import dataclass, field

from automodel_lint.inference.construction.values import Seq, Value
from automodel_lint.inference.module_tree import Condition
from automodel_lint.inference.names import ClassEntity, Scope


@dataclass(eq=False)
class Frame:
    """A function's local names while its body runs.

    ``scope`` is where the function stands, ``owner`` the class whose method it is, ``me`` what ``self`` is. What it
    returns is collected with the conditions that lead there, counted from ``base`` open conditions on; ``left`` has
    these conditions for every way out of a block, also by ``break`` and ``continue``. ``generated`` is what a generator
    yields, ``raised`` the name of what was raised last.
    """

    scope: Scope
    owner: ClassEntity | None = None
    me: Value | None = None
    closure: Frame | None = None
    base: int = 0
    names: dict[str, Value] = field(default_factory=dict)
    returned: list[tuple[tuple[Condition, ...], Value]] = field(default_factory=list)
    left: list[tuple[str, tuple[Condition, ...]]] = field(default_factory=list)
    generated: Seq | None = None
    raised: str = ""
