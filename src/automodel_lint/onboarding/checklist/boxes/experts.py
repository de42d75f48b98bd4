"""What routed experts owe the framework beside their names in a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.experts import SYNC, UPDATE, expert_layers, update_factors
from automodel_lint.inference.names import ClassEntity
from automodel_lint.onboarding.checklist import box
from automodel_lint.onboarding.checklist.answers import Evidence, NotApplicable, NotDecidable
from automodel_lint.onboarding.checklist.components import expert_blocks
from automodel_lint.onboarding.checklist.subject import Subject


@box(
    "moe-layer",
    227,
    "Experts are the framework's shared layer: gradients synchronised, the gate's bias updated, open to a recipe",
    "2.2",
    ("NAM601", "NAM602", "NAM604", "NAM605"),
)
def moe_layer(subject: Subject) -> Iterator[Evidence]:
    model = subject.model
    if not expert_blocks(model):
        raise NotApplicable("it has no routed experts")
    layer = next(expert_layers(model), None)
    if layer is None:
        raise NotDecidable("its experts are not the framework's shared layer")
    yield subject.at_place(f"`{layer.fqn}` is `{layer.type_name}`", layer.place)
    for ancestor in model.mro:
        if isinstance(ancestor, ClassEntity) and any(b.fqn.endswith(SYNC) for b in model.classes.bases(ancestor)):
            yield subject.at_class(f"`{ancestor.name}` derives from `{SYNC}`", ancestor)
            break
    if next(update_factors(model), None) is not None:
        for member in model.inherited(UPDATE)[0][:1]:
            yield subject.at_member(f"`{member.owner.name}` has `{UPDATE}`", member)


@box(
    "moe-peft",
    241,
    "With LoRA on experts the router's bias stays as it was, and an adapter is saved, loaded and resumed",
    "2.4",
)
def moe_peft(subject: Subject) -> Iterator[Evidence]:
    if not expert_blocks(subject.model):
        raise NotApplicable("it has no routed experts")
    raise NotDecidable("only a run with LoRA shows that")
