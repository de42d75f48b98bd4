"""NAM203-NAM207: the constructor guard, on every path, first, on the caller's own config."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.tie_guard import GUARD, Guarding
from automodel_lint.findings import Finding
from automodel_lint.remedies import tie_guard as remedies
from automodel_lint.rules import rule


def _constructors(model: ModelClass) -> list[Guarding]:
    return model.constructors if model.owns_causal_head else []


@rule("NAM203")
def tie_guard_missing(model: ModelClass) -> Iterator[Finding]:
    for found in _constructors(model):
        if found.decided and not found.complete and model.project.knows(GUARD):
            problem = "only on some paths" if found.calls else "nowhere"
            if found.function is not None:
                yield model.finding(
                    found.function, found.owner, "__init__", repair=remedies.written(model, found), problem=problem
                )
            else:
                yield model.finding(problem="nowhere")
        return


@rule("NAM204")
def tie_guard_late(model: ModelClass) -> Iterator[Finding]:
    for found in _constructors(model):
        harmful = [b for b in found.before if b.harm]
        if found.complete and found.first and harmful:
            statement, line = _shown(harmful[0].node), harmful[0].node.lineno
            fields = {"statement": statement, "harm": harmful[0].harm, "line": line}
            yield model.finding(
                found.first.node, found.owner, "__init__", repair=remedies.moved(model, found), **fields
            )


@rule("NAM205")
def tie_guard_not_first(model: ModelClass) -> Iterator[Finding]:
    for found in _constructors(model):
        if found.complete and found.first and found.before and not any(b.harm for b in found.before):
            statement = _shown(found.before[0].node)
            repair = remedies.moved(model, found)
            yield model.finding(found.first.node, found.owner, "__init__", repair=repair, statement=statement)


@rule("NAM206")
def tie_guard_config(model: ModelClass) -> Iterator[Finding]:
    for found in _constructors(model):
        for call in found.calls:
            if call.config is False:
                through = f" (through `{call.through.name}`)" if call.through else ""
                repair = remedies.with_config(model, found, call)
                fields = {"given": call.config_text, "through": through}
                yield model.finding(call.node, found.owner, "__init__", repair=repair, **fields)


@rule("NAM207")
def tie_guard_class(model: ModelClass) -> Iterator[Finding]:
    for found in _constructors(model):
        for call in found.calls:
            if call.cls is False and call.through is None:
                repair = remedies.with_own_class(model, found, call)
                yield model.finding(call.node, found.owner, "__init__", repair=repair, given=call.cls_text)


def _shown(statement: ast.stmt) -> str:
    """The first line of a statement, shortened for a message."""
    text = ast.unparse(statement).splitlines()[0]
    return text if len(text) <= 60 else text[:57] + "..."
