"""What a model with images, video or sound is made of."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.onboarding.built import towers
from automodel_lint.onboarding.checklist import box
from automodel_lint.onboarding.checklist.answers import Evidence, NotApplicable, NotDecidable
from automodel_lint.onboarding.checklist.components import language_models, projectors
from automodel_lint.onboarding.checklist.subject import Subject


@box(
    "multimodal-parts",
    250,
    "Language model, tower and projector are there",
    "2.5",
)
def multimodal_parts(subject: Subject) -> Iterator[Evidence]:
    model = subject.model
    found = towers(model)
    if not found:
        if not model.module_tree.complete:
            raise NotDecidable("the module tree is not complete; no tower is known in it")
        raise NotApplicable("it takes no images, video or sound")
    for word, nodes in (
        ("tower", [tower for _, tower in found]),
        ("projector", projectors(model)),
        ("language model", language_models(model)),
    ):
        for node in {node.fqn: node for node in nodes}.values():
            yield subject.at_place(f"{word}: `{node.fqn}` is `{node.type_name}`", node.place)
