"""The state-dict adapter of a registered class: what gives a model's tensors the names of a checkpoint, and back."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from automodel_lint.inference.classes import MethodView
from automodel_lint.inference.construction.values import ABSENT, Choice, Obj, Value
from automodel_lint.inference.module_tree import Condition, Place
from automodel_lint.inference.names import ClassEntity

if TYPE_CHECKING:
    from automodel_lint.domain.model_class import ModelClass

_MOST = 8  # adapters inside adapters


class Adapter:
    """An adapter that a registered class has under some conditions.

    Attributes:
        model: the registered class.
        made: the adapter as construction leaves it, its attributes set.
        conditions: what must hold for the class to have it; empty if it always has.
    """

    def __init__(self, model: ModelClass, made: Obj, conditions: tuple[Condition, ...]):
        self.model, self.made, self.conditions = model, made, conditions

    @property
    def entity(self) -> ClassEntity | None:
        """Its class, where the source is at hand."""
        return self.made.cls

    @property
    def name(self) -> str:
        """The name of its class."""
        return self.made.type_fqn.rpartition(".")[2]

    @property
    def place(self) -> Place:
        """The call that makes it."""
        return self.made.place

    @cached_property
    def classes(self) -> tuple[ClassEntity, ...]:
        """Its class and those of the adapters that it holds and hands keys on to, each once."""
        found: dict[ClassEntity, None] = {}
        todo: list[Obj] = [self.made]
        while todo and len(found) < _MOST:
            made = todo.pop(0)
            if made.cls is not None and made.cls not in found:
                found[made.cls] = None
                todo.extend(
                    inner
                    for value in made.slots.values()
                    for _, inner in _singles(value)
                    if isinstance(inner, Obj) and inner.cls is not None and self._converts(inner.cls)
                )
        return tuple(found)

    def _converts(self, cls: ClassEntity) -> bool:
        return bool(self.model.classes.find(cls, "to_hf")[0])

    def method(self, name: str, cls: ClassEntity | None = None) -> MethodView | None:
        """Return the method that runs for ``name``, of the adapter or of one it holds, if its source is at hand."""
        receiver = cls or self.entity
        members, opaque = self.model.classes.find(receiver, name) if receiver is not None else ([], True)
        if opaque or not members or members[-1].function is None or receiver is None:
            return None
        return MethodView(self.model.classes, receiver, members[-1])


def adapters_of(model: ModelClass) -> tuple[Adapter, ...]:
    """Return the adapters that constructing a class can leave in its ``state_dict_adapter``."""
    found = _singles(model.module_tree.adapter)
    return tuple(Adapter(model, made, conditions) for conditions, made in found if isinstance(made, Obj))


def has_unknown_adapter(model: ModelClass) -> bool:
    """Tell whether a class has, or may have, an adapter that cannot be followed."""
    return any(not isinstance(v, Obj) and _is_something(v) for _, v in _singles(model.module_tree.adapter))


def _is_something(value: Value) -> bool:
    return value is not ABSENT and getattr(value, "value", value) is not None


def _singles(value: Value) -> Iterator[tuple[tuple[Condition, ...], Value]]:
    yield from value.alternatives if isinstance(value, Choice) else [((), value)]
