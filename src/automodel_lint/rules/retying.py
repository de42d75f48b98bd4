"""NAM214: ties that a later replacement has undone."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.retying import lost_ties
from automodel_lint.findings import Finding
from automodel_lint.rules import rule


@rule("NAM214")
def retie_missing(model: ModelClass) -> Iterator[Finding]:
    if not model.owns_causal_head:
        return
    for step in lost_ties(model):
        view = step.view
        yield model.finding(step.node, owner=view.owner, method=view.node.name, path=step.path)
