"""NAM714: calls of methods that a submodule does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.domain.missing_methods import missing_methods
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.findings import Finding
from automodel_lint.rules import rule


@rule("NAM714", late=True)
def missing_method(model: ModelClass) -> Iterator[Finding]:
    for found in missing_methods(model):
        view, name = found.call.view, found.call.name
        yield model.finding(
            found.call.node,
            owner=view.owner,
            method=view.node.name,
            call=f"{ast.unparse(found.call.receiver)}.{name}",
            child=" and ".join(f"`{child}`" for child in found.children),
            name=name,
            advice=f"write `{found.close}`" if found.close else "call a method that it has, or add this one to it",
        )
