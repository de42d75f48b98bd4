"""NAM215: the flag of a multimodal config class."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.model_config import config_classes
from automodel_lint.domain.nested_flag import NESTED, language_config, lost_flag
from automodel_lint.domain.tie_flag import FLAG
from automodel_lint.findings import Finding
from automodel_lint.rules import rule


@rule("NAM215")
def tie_flag_nested(model: ModelClass) -> Iterator[Finding]:
    if not model.owns_causal_head:
        return
    for config in config_classes(model):
        nested = language_config(model.classes, config) if model.classes.in_checkout(config) else None
        lost = lost_flag(model.classes, config) if nested is not None else None
        if lost is not None:
            view, how = lost
            problem = f"takes `{FLAG}` only inside `{nested}`" if how == NESTED else f"drops the `{FLAG}` it is given"
            yield model.finding(view.node, owner=view.owner, method="__init__", problem=problem)
