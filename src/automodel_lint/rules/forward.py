"""NAM701-NAM705: what a ``forward`` must take, use and call, and that it is left to its class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.domain.dropped_arguments import Dropped, dropped_arguments
from automodel_lint.domain.forward import forwards, free_name, hands_on
from automodel_lint.domain.head_use import applies_head_everywhere
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.offered import offered
from automodel_lint.domain.pipeline_media import KEEPS, keeps_forward, runs_in_pipelines, staged_media
from automodel_lint.domain.things import Registry
from automodel_lint.domain.weight_use import weight_uses
from automodel_lint.findings import Finding, Severity
from automodel_lint.inference.classes import FunctionView
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


@rule("NAM702")
def forward_kwargs_offered(registry: Registry) -> Iterator[Finding]:
    """The same of models that recipes get from a function instead of the registry."""
    for model in offered(registry.project):
        yield from forward_kwargs(model)


@rule("NAM703")
def pp_self_forward(model: ModelClass) -> Iterator[Finding]:
    if model.project.knows(KEEPS) and runs_in_pipelines(model) and not keeps_forward(model):
        media = staged_media(model)
        if media is not None:
            yield model.finding(media=media)


@rule("NAM704", late=True)
def argument_dropped(model: ModelClass) -> Iterator[Finding]:
    for forward in forwards(model):
        places: dict[ast.AST, list[Dropped]] = {}
        for dropped in dropped_arguments(model, forward):
            places.setdefault(dropped.view.node, []).append(dropped)
        for node, lost in places.items():
            view, names = lost[0].view, dict.fromkeys(f"`{dropped.parameter}`" for dropped in lost)
            them = "it" if len(names) == 1 else "them"
            said = {"arguments": ", ".join(names), "them": them}
            if isinstance(view, FunctionView):
                path, name = view.module.path, view.node.name
                yield model.finding_in(path, node, name, where=name, **said)
            elif node is forward.view.node:
                where = f"{forward.owner.name}.{view.node.name}"
                yield model.finding(forward.node, forward.owner, view.node.name, where=where, **said)
            else:
                where = f"{view.owner.name}.{view.node.name}"
                yield model.finding(node, view.owner, view.node.name, where=where, **said)


@rule("NAM705", late=True)
def weight_bypass(model: ModelClass) -> Iterator[Finding]:
    for use in weight_uses(model):
        yield model.finding(use.node, owner=use.view.owner, method=use.view.node.name, child=use.child)
