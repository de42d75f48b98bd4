"""Positions, norms and feed-forward blocks of a model, as its config says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from automodel_lint.onboarding.component import EXPERTS, MLP, NORM, ROPE, Component
from automodel_lint.onboarding.config_file import clean
from automodel_lint.onboarding.experts import Experts
from automodel_lint.onboarding.parts import Field, Part, brief

_ROPE = ("rope_parameters", "rope_scaling")
_THETA = ("rope_theta", "rotary_emb_base", "rope_base", "rotary_base", "rope_local_base_freq", "global_rope_theta")
_NAMES = {"su": "longrope", "ntk": "dynamic", "none": "default", "": "default", "mrope": "mrope"}
_ALIBI = ("alibi", "use_alibi")
_PART = ("partial_rotary_factor", "rotary_pct", "rope_pct", "rotary_emb_fraction", "partial_rotary_factors")
_RMS = ("rms_norm_eps", "rms_norm_epsilon", "norm_rms_eps")
_LAYER = ("layer_norm_eps", "ln_eps")
_EITHER = ("layer_norm_epsilon", "layernorm_epsilon", "norm_eps", "norm_epsilon", "layer_norm_rms_epsilon")
_ACT = (
    "hidden_act",
    "mlp_hidden_act",
    "hidden_activation",
    "activation_function",
    "activation",
    "activation_type",
    "act_fn",
)
_GATED = ("is_gated_act", "use_swiglu_ffn", "gated_mlp", "use_gated_mlp")
_SQUARED = ("relu2", "squared_relu", "relu_squared")
_SILU = ("silu", "swish", "swiglu")


def rope_of(part: Part) -> Iterator[Component]:
    """Yield how positions reach a model; raises :class:`ConfigProblem` for fields of a wrong type."""
    alibi = next((f for f in (part.says(name, True) for name in _ALIBI) if f is not None), None)
    table = part.table("attn_config")
    if alibi is None and table is not None and table.value.get("alibi") is True:
        alibi = Field(f"{table.path}.alibi", True)
    if alibi is not None:
        yield Component(ROPE, "ALiBi", "", (alibi,))
        return
    said = part.get("position_embedding_type")
    if said is not None and isinstance(said.value, str) and "rope" not in said.value and "rotary" not in said.value:
        yield Component(ROPE, said.value, "no rotary embedding", (said,))
        return
    off = part.says("use_rope", False) or part.says("use_rotary_embedding", False) or part.says("mla_use_nope", True)
    if off is not None:
        yield Component(ROPE, "none", "no rotary embedding", (off,))
        return
    yield from _scalings(part)
    skipped = part.get("no_rope_layers", "no_rope_layer_interval", "every_n_layers_nope", "nope_layer_interval")
    if skipped is not None and skipped.value:
        yield Component(ROPE, "layers without RoPE", "", (Field(skipped.path, brief(skipped.value)),))


def _scalings(part: Part) -> Iterator[Component]:
    field = part.table(*_ROPE)
    theta = part.number("rope_theta") or part.get(*_THETA)
    tables = _tables(field) if field is not None and field.value else []
    seen: set[str] = set()
    for path, table in tables:
        kind = clean(str(table.get("rope_type") or table.get("type") or "default").lower())
        name = _NAMES.get(kind, kind)
        detail = ", ".join(f"{key} {table[key]}" for key in ("factor", "rope_theta") if _is_number(table.get(key)))
        if "mrope_section" in table:
            yield Component(ROPE, "mrope", "", (Field(f"{path}.mrope_section", brief(table["mrope_section"])),))
        if name not in seen and name != "mrope":
            told = Field(f"{path}.{'type' if 'type' in table and 'rope_type' not in table else 'rope_type'}", kind)
            yield Component(ROPE, name, detail, (told,), standard=name == "default")
        seen.add(name)
        factor = table.get("partial_rotary_factor")
        if _is_number(factor) and factor < 1 and "partial" not in seen:
            seen.add("partial")
            yield Component(
                ROPE, "partial", f"{factor:g} of each head", (Field(f"{path}.partial_rotary_factor", factor),)
            )
    if len(tables) > 1:
        yield Component(ROPE, "by kind of layer", f"{len(tables)} tables", (Field(field.path, brief(field.value)),))  # type: ignore[union-attr]
    if not tables and theta is not None:
        yield Component(ROPE, "default", f"theta {brief(theta.value)}", (theta,), standard=True)
    if "partial" not in seen:
        yield from _partial(part)
    split = part.size("qk_rope_head_dim")
    if split is not None and split.value:
        yield Component(ROPE, "decoupled", f"{split.value} dimensions", (split,))


def _tables(field: Field) -> list[tuple[str, dict[str, Any]]]:
    """The scaling table, or one of each kind of layer."""
    inner = [(f"{field.path}.{clean(key)}", value) for key, value in field.value.items() if isinstance(value, dict)]
    if inner and not any(key in field.value for key in ("rope_type", "type", "factor")):
        return inner
    return [(field.path, field.value)]


def _partial(part: Part) -> Iterator[Component]:
    share = part.get(*_PART)
    if share is not None and _is_number(share.value) and share.value < 1:
        yield Component(ROPE, "partial", f"{share.value:g} of each head", (share,))
        return
    if share is not None and isinstance(share.value, list) and any(_is_number(v) and v < 1 for v in share.value):
        yield Component(ROPE, "partial", "by layer", (Field(share.path, brief(share.value)),))
        return
    rotary, head = part.get("rotary_dim"), part.get("head_dim")
    numbers = rotary is not None and head is not None and _is_number(rotary.value) and _is_number(head.value)
    if numbers and 0 < rotary.value < head.value:  # type: ignore[union-attr]
        detail = f"{rotary.value} of {head.value} dimensions"  # type: ignore[union-attr]
        yield Component(ROPE, "partial", detail, (rotary, head))  # type: ignore[arg-type]


def norm_of(part: Part) -> Iterator[Component]:
    """Yield which norm a model has; raises :class:`ConfigProblem` for fields of a wrong type."""
    named = part.get("norm_type", "normalization", "norm_class", "normalization_type")
    eps = part.number(*_RMS, *_LAYER, *_EITHER)
    detail = f"eps {eps.value:g}" if eps is not None else ""
    fields = tuple(field for field in (named, eps) if field is not None)
    if named is not None and isinstance(named.value, str):
        rms = "rms" in named.value.lower()
        yield Component(NORM, "RMSNorm" if rms else _norm_name(named.value), detail, fields, standard=rms)
    elif eps is not None:
        name = eps.path.rpartition(".")[2]
        if name in _RMS:
            yield Component(NORM, "RMSNorm", detail, fields, standard=True)
        elif name in _LAYER:
            yield Component(NORM, "LayerNorm", detail, fields)
        else:
            yield Component(NORM, "RMSNorm or LayerNorm", detail, fields, standard=True)
    gemma = part.says("use_gemma_norm", True) or part.says("zero_centered_norm", True)
    if gemma is not None:
        yield Component(NORM, "zero-centred weight", "", (gemma,))


def _norm_name(text: str) -> str:
    return "LayerNorm" if "layer" in text.lower() else text


def mlp_of(part: Part, experts: Experts | None, has_mlp: bool = True) -> Iterator[Component]:
    """Yield which feed-forward blocks a model has; a state-space model without an inner size has none.

    Raises:
        ConfigProblem: for fields of a wrong type.
    """
    act = part.text(*_ACT) if has_mlp else None
    old = part.text("feed_forward_proj")
    gated = next((f for f in (part.says(name, True) for name in _GATED) if f is not None), None)
    if old is not None:
        name = {"gated-gelu": "GeGLU", "gated-silu": "SwiGLU"}.get(old.value, f"plain {old.value}")
        yield Component(MLP, name, "", (old,), standard=name == "SwiGLU")
    elif act is not None:
        name, standard = _feed_forward(act, gated)
        yield Component(MLP, name, "", tuple(f for f in (act, gated) if f is not None), standard=standard)
    limit = part.get("swiglu_limit", "swiglu_limits")
    if limit is not None and limit.value:
        yield Component(MLP, "clamped", str(brief(limit.value)), (Field(limit.path, brief(limit.value)),))
    bias = part.says("mlp_bias", True)
    if bias is not None:
        yield Component(MLP, "bias", "", (bias,))
    yield from _expert_blocks(experts) if experts is not None else ()


def _feed_forward(act: Field, gated: Field | None) -> tuple[str, bool]:
    word, name = act.value.lower(), act.path.rpartition(".")[2]
    if word in _SQUARED:
        return "squared ReLU", False
    if word in _SILU:
        return "SwiGLU", True
    if "gelu" in word:
        # the field of Gemma and ModernBERT, whose blocks are gated; ``hidden_act`` is that of BERT and of Gemma 1
        return ("GeGLU", False) if gated is not None or name == "hidden_activation" else ("GELU, gated or plain", False)
    return (f"gated {word}" if gated is not None else f"{word}, gated or plain"), False


def _expert_blocks(experts: Experts) -> Iterator[Component]:
    active = f", {experts.active.value} a token" if experts.active is not None else ""
    number = f"{experts.count.value} experts" if experts.count is not None else "experts"
    yield Component(EXPERTS, "routed", f"{number}{active}", experts.evidence)
    if experts.router is not None and experts.router_field is not None:
        yield Component(EXPERTS, f"{experts.router} router", "", (experts.router_field,))
    else:
        yield Component(EXPERTS, "router not stated", "", ())
    if experts.correction_bias is not None:
        yield Component(EXPERTS, "correction bias", "", (experts.correction_bias,))
    if experts.shared is not None:
        said = f"{experts.shared_count} shared" if experts.shared_count else f"inner size {experts.shared.value}"
        yield Component(EXPERTS, "shared", said, (experts.shared,))
    if experts.groups is not None:
        yield Component(EXPERTS, "grouped choice", f"{experts.groups.value} groups", (experts.groups,))
    if experts.latent is not None:
        yield Component(EXPERTS, "latent", f"size {experts.latent.value}", (experts.latent,))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
