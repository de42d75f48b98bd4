"""NAM601-NAM605: what a class with the shared mixture-of-experts layer owes the framework."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.blocks import wrapped_tests
from automodel_lint.domain.experts import (
    SYNC,
    expert_configs,
    expert_layers,
    leaves_gate_precision,
    update_factors,
    updates_gate_bias,
)
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.overrides import takes_overrides
from automodel_lint.findings import Finding
from automodel_lint.inference.module_tree import Built
from automodel_lint.inference.names import ClassEntity
from automodel_lint.remedies.bases import with_base
from automodel_lint.rules import rule


@rule("NAM601")
def moe_sync_mixin(model: ModelClass) -> Iterator[Finding]:
    if model.has_ancestor(SYNC) or model.has_opaque_base:
        return
    layer = next(expert_layers(model), None)
    if layer is not None:
        yield model.finding(repair=with_base(model, SYNC, first=False), layer=layer.fqn)


@rule("NAM602")
def gate_bias_update(model: ModelClass) -> Iterator[Finding]:
    factor = next(update_factors(model), None)
    if factor is not None and not updates_gate_bias(model):
        built, value = factor
        yield model.finding(factor=value, place=_shown(model, built))


@rule("NAM603", late=True)
def gate_precision(model: ModelClass) -> Iterator[Finding]:
    if leaves_gate_precision(model):
        yield model.finding(owner=_constructor_owner(model))


@rule("NAM604")
def moe_overrides(model: ModelClass) -> Iterator[Finding]:
    built = next(expert_configs(model), None)
    if built is not None and not model.has_opaque_base and not takes_overrides(model):
        yield model.finding(owner=_constructor_owner(model), place=_shown(model, built))


@rule("NAM605")
def wrapped_isinstance(model: ModelClass) -> Iterator[Finding]:
    for test in wrapped_tests(model):
        yield model.finding(test.node, test.view.owner, test.view.node.name, child=test.child, tested=test.cls)


def _shown(model: ModelClass, built: Built) -> str:
    """Where an expert config is built, for a message."""
    return f"{model.project.tree.relative(built.place.path)}:{built.place.line}"


def _constructor_owner(model: ModelClass) -> ClassEntity:
    """The class whose constructor a class uses, where it has none of its own: heirs share one fault."""
    view = model.method("__init__")
    return view.owner if view is not None and model.classes.in_checkout(view.owner) else model.entity
