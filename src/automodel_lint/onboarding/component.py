"""What a component of a model is, as a config or a class describes it."""

from __future__ import annotations

from dataclasses import dataclass

from automodel_lint.onboarding.parts import Field

ATTENTION, ROPE, NORM, MLP, EXPERTS = GROUPS = ("attention", "rope", "norm", "mlp", "experts")


@dataclass(frozen=True)
class Component:
    """One component.

    Attributes:
        group: where in a layer it sits (one of :data:`GROUPS`).
        name: which it is (``GQA``, ``yarn``); it is compared across models.
        detail: numbers that go with it, for a person; empty if there are none.
        fields: the fields that say so.
        standard: whether every plain decoder has it, so that there is nothing to write for it.
    """

    group: str
    name: str
    detail: str
    fields: tuple[Field, ...]
    standard: bool = False
