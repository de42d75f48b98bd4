"""NAM113: what model code takes a field of its config to be where that is not set."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.config_defaults import other_defaults
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.findings import Finding
from automodel_lint.rules import rule


@rule("NAM113", late=True)
def config_field_default(model: ModelClass) -> Iterator[Finding]:
    for found in other_defaults(model):
        config, field = found.config.name, found.field
        problem = (
            f"reads `{field}` of its config with the default `{found.default!r}`, where `{config}` says `{found.own!r}`"
        )
        advice = f"read `config.{field}`, or write the same default"
        yield model.finding(found.node, found.view.owner, found.view.node.name, problem=problem, advice=advice)
