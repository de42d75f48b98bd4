"""NAM707, NAM709: how a model without a checkpoint is filled, and what constructors do with their arguments."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.initialising import INITIALISER, SKIPPED, lacks_initialiser, switches_off
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.offered import offered
from automodel_lint.domain.raw_defaults import raw_uses
from automodel_lint.domain.things import ModelModule, Registry
from automodel_lint.findings import Finding
from automodel_lint.remedies import raw_defaults as remedies
from automodel_lint.rules import rule


@rule("NAM707")
def initialize_weights(model: ModelClass) -> Iterator[Finding]:
    off = switches_off(model)
    if off is not None:
        value, owner, method = off
        problem = f"sets `{SKIPPED} = True`, so that nothing fills it where nothing was loaded either"
        yield model.finding(value, owner, method, problem=problem, advice="say so only where a checkpoint is loaded")
    elif lacks_initialiser(model):
        yield model.finding(
            problem=f"has no `{INITIALISER}()`", advice="write one that fills every parameter and buffer"
        )


@rule("NAM707")
def initialize_weights_offered(registry: Registry) -> Iterator[Finding]:
    """The same of models that recipes get from a function instead of the registry."""
    for model in offered(registry.project):
        yield from initialize_weights(model)


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
