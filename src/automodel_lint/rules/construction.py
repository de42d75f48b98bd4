"""NAM709: what constructors do with their arguments."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.raw_defaults import raw_uses
from automodel_lint.domain.things import ModelModule
from automodel_lint.findings import Finding
from automodel_lint.remedies import raw_defaults as remedies
from automodel_lint.rules import rule


@rule("NAM709")
def raw_after_default_unexported(module: ModelModule) -> Iterator[Finding]:
    """The same of models that a checkout without a mapping never finds (NAM105), but whose authors build them."""
    for entity in module.unexported() if not module.registered else ():
        yield from raw_after_default(ModelClass(module.project, entity, (entity.name,), ()))


@rule("NAM709")
def raw_after_default(model: ModelClass) -> Iterator[Finding]:
    for found in raw_uses(model):
        yield model.finding(
            found.uses[0],
            owner=found.owner,
            method="__init__",
            repair=remedies.kept(model, found),
            parameter=found.parameter,
            kept=found.kept,
            default=found.default if len(found.default) <= 40 else f"{found.default[:37]}...",
        )
