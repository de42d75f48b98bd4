"""NAM404, NAM405, NAM409: casts of the whole model and what they round; routing and sinks below fp32."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.domain.casts import KEEPING, RAW, whole_model_casts
from automodel_lint.domain.keep_list import STRICT
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.rotary import exposed_tables, place_to_change
from automodel_lint.domain.rounding import Loss, Rounding
from automodel_lint.domain.routing import coarse_routing
from automodel_lint.findings import Finding, Severity
from automodel_lint.remedies import casts as remedies
from automodel_lint.rules import rule

_SEVERITIES = {Loss.NONE: Severity.INFO, Loss.UNKNOWN: Severity.WARNING, Loss.MADE_ANEW: Severity.WARNING}


@rule("NAM404")
def raw_dtype_cast(model: ModelClass) -> Iterator[Finding]:
    casts = [c for c in whole_model_casts(model.classes, model.values, model.entity) if c.kind == RAW and c.rounds]
    rounding = Rounding(model)
    for cast in casts:
        loss, names = rounding.by(cast)
        harm = {
            Loss.NONE: "nothing that it holds today is lost",
            Loss.UNKNOWN: "it may round what must stay in fp32",
            Loss.MADE_ANEW: f"{_listed(names)} {_be(names)} rounded and made anew afterwards",
            Loss.ROUNDED: f"it rounds {_listed(names)}",
        }[loss]
        yield model.finding(
            cast.node,
            owner=cast.view.owner,
            method=cast.view.node.name,
            severity=_SEVERITIES.get(loss),
            repair=remedies.keeping(model, cast),
            cast=_shown(cast.node),
            harm=harm,
            instead=f"{KEEPING}({cast.target}, {cast.given})",
        )


@rule("NAM405")
def rotary_buffer_unpinned(model: ModelClass) -> Iterator[Finding]:
    known = model.pins.complete
    exposed = [e for e in exposed_tables(model) if known or e.cast.kind == RAW]  # which heeds no list
    if not exposed:
        return
    cast, place = exposed[0].cast, place_to_change(model, exposed)
    names = [e.tensor.fqn for e in exposed]
    words = dict.fromkeys("inv_freq" if "inv_freq" in name else name.rpartition(".")[2] for name in names)
    if place.method is not None and exposed[0].vain is place:
        advice = "compute it anew from the config here, casting it up brings nothing back"
    else:
        patterns = " and ".join(f'"{word}"' for word in words)
        advice = f"write {patterns} into `{STRICT}`" + (f" and cast with `{KEEPING}`" if cast.kind == RAW else "")
    yield model.finding(
        place.node if not isinstance(place.node, ast.ClassDef) else None,
        owner=place.owner,
        method=place.method,
        tables=_listed(names),
        it="it" if len(names) == 1 else "them",
        cast=_shown(cast.node),
        where=f"{cast.view.owner.name}.{cast.view.node.name}",
        advice=advice,
    )


@rule("NAM409", late=True)
def fp32_routing(model: ModelClass) -> Iterator[Finding]:
    for coarse in coarse_routing(model):
        if coarse.lowered:
            problem, advice = "is cast down before the experts are chosen", "choose first, then cast"
        else:
            problem = "runs in the dtype of its input"
            advice = "pass `dtype=torch.float32`" if coarse.function == "softmax" else "cast the logits with `.float()`"
        yield model.finding(
            coarse.node,
            owner=coarse.owner,
            method=coarse.method,
            function=coarse.function,
            of=coarse.of,
            problem=problem,
            advice=advice,
        )


def _listed(names: list[str]) -> str:
    shown_names = [f"`{name}`" for name in names[:2]]
    more = len(names) - len(shown_names)
    return " and ".join(shown_names) if not more else f"{', '.join(shown_names)} and {more} more"


def _be(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _shown(call: ast.Call) -> str:
    """A call on one line, shortened for a message."""
    text = " ".join(ast.unparse(call).split())
    return text if len(text) <= 60 else text[:57] + "..."
