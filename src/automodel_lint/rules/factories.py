"""NAM413: module factories that fall back on a low precision of their own."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.factories import undertyped
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.findings import Finding
from automodel_lint.rules import rule


@rule("NAM413")
def factory_dtype(model: ModelClass) -> Iterator[Finding]:
    tree = model.project.tree
    for found in undertyped(model):
        path = found.place.path
        owner = found.symbol.partition(".")[0] or model.name
        fields = {"cls": owner, "factory": found.factory, "default": found.default}
        yield Finding(
            tree.relative(path),
            tree.span(path, found.place.node),
            found.symbol or None,
            model.architectures,
            tuple(fields.items()),
            related=(tree.relative(model.path),) if path != model.path else (),
        )
