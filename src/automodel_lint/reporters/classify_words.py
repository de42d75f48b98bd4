"""What is found in a config, in the words of a person; texts and checklists share them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from automodel_lint.onboarding.built import TOWER
from automodel_lint.onboarding.classification import Classification
from automodel_lint.onboarding.nearest import KIND, Near
from automodel_lint.onboarding.onboarding import Onboarding
from automodel_lint.onboarding.parts import Field, brief

_MOST = 6  # fields that are named one by one


def in_words(fields: Iterable[Field]) -> str:
    """Return fields with their values."""
    return ", ".join(f"{field.path}: {_value(field.value)}" for field in fields)


def sizes(found: Classification) -> str:
    """Return the sizes that the config states."""
    named = (
        ("hidden", found.sizes.hidden),
        ("layers", found.sizes.layers),
        ("heads", found.sizes.heads),
        ("key-value heads", found.sizes.kv_heads),
        ("per head", found.sizes.head_dim),
        ("intermediate", found.sizes.intermediate),
        ("vocabulary", found.sizes.vocabulary),
        ("context", found.sizes.context),
        ("experts", found.sizes.experts),
        ("active", found.sizes.active_experts),
        ("expert intermediate", found.sizes.expert_intermediate),
    )
    texts = [f"{name} {field.value}" for name, field in named if field is not None]
    return ", ".join(texts) or "none stated"


def parameters(found: Classification) -> str:
    """Return the estimate of the parameters, or why there is none."""
    estimate = found.parameters
    if estimate.total is None or estimate.active is None:
        return f"not estimated: {estimate.reason}"
    active = f", {in_billions(estimate.active)} of them active" if estimate.active != estimate.total else ""
    inside = " of the language model" if found.parts.backbone.path else ""
    return f"about {in_billions(estimate.total)}{inside}{active}"


def in_billions(number: int) -> str:
    """Return a number of parameters as a person says it (``7.2 B``, ``410 M``)."""
    if number >= 10**12:
        return f"{number / 10**12:.2f} T"
    return f"{number / 10**9:.1f} B" if number >= 10**9 else f"{number / 10**6:.0f} M"


def tie_of(found: Classification) -> str:
    """Return what the config says of tying the head."""
    tie = found.tie
    if tie.value is None:
        return "not stated in the file; the default of a config class is no statement"
    said = (
        f"{'yes' if tie.value else 'no'}, stated {'in' if tie.place == 'nested' else 'by'} {in_words(tie.fields[:1])}"
    )
    if tie.contradicts:
        others = in_words(field for field in tie.fields[1:] if field.value is not tie.value)
        return f"{said}; {others} says otherwise, and the outer one counts"
    return f"{said}; the outer config does not say it" if tie.place == "nested" else said


def remote_code(shown: Onboarding) -> str:
    """Return what the code in the checkpoint's own repository is needed for."""
    names = ", ".join(str(field.value) for field in shown.found.auto_map)
    only = shown.around.remote_only
    if only is None:
        said = "whether transformers has the model is not known here"
    else:
        said = "only there: transformers has no such model" if only else "not only there"
    return f"auto_map names {names}; {said}; none of it was run"


def reason_of(near: Near) -> Iterator[str]:
    """Yield why an architecture is near, one sentence a line."""
    shared = [component(key) for key in near.shared]
    if shared:
        yield f"both: {', '.join(shared)}"
    if near.missing:
        yield f"not seen there: {', '.join(component(key) for key in near.missing)}"
    if near.fields:
        more = f" and {len(near.fields) - _MOST} more" if len(near.fields) > _MOST else ""
        yield f"{_plural(len(near.fields), 'field')} of the config: {', '.join(near.fields[:_MOST])}{more}"


def component(key: tuple[str, str]) -> str:
    """Return what a component that two models may share is called."""
    group, name = key
    if group == TOWER:
        return {"image": "vision tower", "audio": "audio tower"}.get(name, name)
    if group == KIND:
        return {"moe": "experts", "dense": "no experts"}.get(name, name)
    if group == "experts":
        return {"routed": "routed experts", "shared": "shared experts"}.get(name, name)
    if group == "rope":
        return f"RoPE: {name}"
    return {"heads": "attention by heads"}.get(name, name)


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(brief(value))


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
