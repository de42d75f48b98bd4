"""What only shows when the code runs."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.onboarding.checklist import box
from automodel_lint.onboarding.checklist.answers import Evidence, NotApplicable
from automodel_lint.onboarding.checklist.subject import Subject


@box(
    "loads",
    320,
    "A checkpoint is loaded, in its published and in its native layout, with all weights and ties",
    "3.2",
    ("NAM912",),
)
def loads(subject: Subject) -> Iterator[Evidence]:
    yield from subject.ran("NAM912")


@box(
    "tiny-config",
    330,
    "With a tiny configuration the model is built and runs forward and backward",
    "3.3",
    ("NAM901", "NAM902", "NAM907"),
)
def tiny_config(subject: Subject) -> Iterator[Evidence]:
    yield from subject.ran("NAM901", "NAM902", "NAM907")


@box("loss", 450, "A few steps of training lower the loss", "4", ("NAM910",))
def loss(subject: Subject) -> Iterator[Evidence]:
    yield from subject.ran("NAM910")


@box("round-trip", 610, "`from_hf` and `to_hf` give every name, shape, dtype and value back", "6", ("NAM906",))
def round_trip(subject: Subject) -> Iterator[Evidence]:
    if not subject.model.adapters:
        raise NotApplicable("it has no state-dict adapter")
    yield from subject.ran("NAM906")


@box(
    "parity",
    630,
    "Given the same weights, its logits are those of the reference implementation",
    "6",
    ("NAM908", "NAM915"),
)
def parity(subject: Subject) -> Iterator[Evidence]:
    yield from subject.ran("NAM908")
