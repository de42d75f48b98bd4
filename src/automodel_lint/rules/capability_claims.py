"""NAM306-NAM308: what a class claims about parallelism, against what its recipes and its constructor do."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.capability_claims import Claim, conditional_experts, static_claims
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.findings import Finding
from automodel_lint.rules import rule


@rule("NAM308")
def capability_variants(model: ModelClass) -> Iterator[Finding]:
    claim = static_claims(model).get("supports_ep")
    found = conditional_experts(model) if claim is not None and claim.value else None
    if claim is not None and found is not None:
        layer, condition = found
        yield _at(model, claim, layer=layer.fqn, condition=str(condition))


def _at(model: ModelClass, claim: Claim, **fields: str) -> Finding:
    """A finding at the claim; its owner is the registered class."""
    tree = model.project.tree
    named = (("cls", model.name), *fields.items())
    span = tree.span(claim.path, claim.node)
    return Finding(tree.relative(claim.path), span, model.name, model.architectures, named)
