"""NAM701, NAM702, NAM705: what the ``forward`` of a registered class must take, and what forward code must call."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.forward import forwards, free_name, hands_on
from automodel_lint.domain.head_use import applies_head_everywhere
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.weight_use import weight_uses
from automodel_lint.findings import Finding, Severity
from automodel_lint.rules import rule


@rule("NAM701")
def logits_to_keep(model: ModelClass) -> Iterator[Finding]:
    for forward in forwards(model):
        if hands_on(forward.view) and applies_head_everywhere(model, forward) is not None:
            yield model.finding(forward.node, owner=forward.owner, method="forward", source="")
    for forward in forwards(model, followed=True):
        if applies_head_everywhere(model, forward) is not None:
            source = f", which it inherits from `{forward.owner.name}` of transformers,"
            yield model.finding(severity=Severity.WARNING, source=source)
            return


@rule("NAM702")
def forward_kwargs(model: ModelClass) -> Iterator[Finding]:
    for forward in forwards(model):
        if free_name(forward.view) is None and hands_on(forward.view):
            yield model.finding(forward.node, owner=forward.owner, method="forward")


@rule("NAM705")
def weight_bypass(model: ModelClass) -> Iterator[Finding]:
    for use in weight_uses(model):
        yield model.finding(use.node, owner=use.view.owner, method=use.view.node.name, child=use.child)
