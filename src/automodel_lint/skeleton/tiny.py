"""The config of a generated test: the shape of the real one, with sizes that run in milliseconds."""

from __future__ import annotations

import json
from typing import Any

from automodel_lint.onboarding.parts import VISION
from automodel_lint.skeleton.config_class import literal
from automodel_lint.skeleton.design import Design

VOCABULARY, EXPERTS = 128, 8
# Sizes by the name of the field; those that the templates read by role come on top.
_SIZES = {
    "first_k_dense_replace": 1,
    "kv_lora_rank": 32,
    "max_position_embeddings": 64,
    "mlp_only_layers": [0],
    "n_group": 2,
    "num_dense_layers": 1,
    "original_max_position_embeddings": 32,
    "q_lora_rank": 24,
    "qk_nope_head_dim": 16,
    "qk_rope_head_dim": 8,
    "rotary_dim": 8,
    "sliding_window": 4,
    "topk_group": 1,
    "v_head_dim": 16,
}
_SPARSE_STEPS = ("decoder_sparse_step", "moe_layer_interval", "interleave_moe_layer_step")
_LISTS = ("layer_types", "mlp_layer_types", "moe_layer_freq")
_VISION = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 1,
    "depth": 1,
    "num_attention_heads": 2,
    "num_heads": 2,
    "image_size": 16,
    "patch_size": 8,
}


def tiny_text(design: Design) -> list[tuple[str, str]]:
    """Return the fields of a small language model, as they are written in Python."""
    data, f, sizes = design.found.parts.backbone.data, design.f, design.found.sizes
    heads = sizes.heads.value if sizes.heads else 4
    kv = sizes.kv_heads.value if sizes.kv_heads and sizes.kv_heads.value else heads
    fields: dict[str, Any] = {f.vocab: VOCABULARY, f.hidden: 64, f.layers: 2, f.heads: 4}
    if sizes.kv_heads is not None:
        fields[f.kv_heads] = max(1, 4 * kv // heads)
    if f.inner in data or not design.moe:
        fields[f.inner] = 96
    if data.get("head_dim") is not None:
        fields["head_dim"] = 24
    if design.moe:
        fields |= {f.experts: EXPERTS, f.active: 2, f.expert_inner: 32}
        shared = design.found.experts.shared
        if shared is not None and not design.found.experts.shared_count:
            fields[shared.path.rpartition(".")[2]] = 48
    for name, value in _SIZES.items():
        if data.get(name):
            fields[name] = value
    for name in _SPARSE_STEPS:
        if data.get(name, 1) not in (1, None):
            fields[name] = 2
    for name in _LISTS:
        if isinstance(data.get(name), list):
            fields[name] = _two(data[name])
    scaling = data.get("rope_scaling") or data.get("rope_parameters")
    if design.scaled_rope and design.transformers and isinstance(scaling, dict):
        key = "rope_scaling" if data.get("rope_scaling") else "rope_parameters"
        fields[key] = {k: _SIZES.get(k, v) for k, v in scaling.items()}
    written = [(name, _python(value)) for name, value in fields.items()]
    neutral = [(q.field, q.neutral) for q in design.unwritten]
    given = {name for name, _ in neutral}
    return [*((n, v) for n, v in written if n not in given), *neutral, ("dtype", '"float32"')]


def tiny_vision(design: Design) -> list[tuple[str, str]]:
    """Return the fields of a small vision tower."""
    data = design.found.parts.of(VISION)[0].data
    return [*((name, str(value)) for name, value in _VISION.items() if name in data), ("dtype", '"float32"')]


def sparse_layer(design: Design) -> int:
    """Return the number of the first layer of the small model that has experts."""
    data = design.found.parts.backbone.data
    for name in ("mlp_layer_types", "moe_layer_freq"):
        if isinstance(data.get(name), list):
            return next((n for n, value in enumerate(_two(data[name])) if value in ("sparse", 1, True)), 0)
    return 1 if design.dense_layers else 0


def asking(design: Design) -> dict[str, str]:
    """Return the arguments with which a small config asks for each thing that is not written."""
    found = {}
    for question in design.unwritten:
        value = question.asking
        if question.field == "layer_types":
            odd = [v for v in value if v not in ("full_attention", "sliding_attention")]
            value = odd[:1] * 2
        elif isinstance(value, dict):
            value = {k: _SIZES.get(k, v) for k, v in value.items()}
        elif question.field in _SIZES:
            value = _SIZES[question.field]
        text = _python(value)
        found[question.field] = (
            f'text={{"{question.field}": {text}}}' if design.multimodal else f"{question.field}={text}"
        )
    return found


def _two(values: list[Any]) -> list[Any]:
    """Two layers, of different kinds if there are such; the last is the one that is rarer at the beginning."""
    kinds = list(dict.fromkeys(values))
    return kinds[:2] if len(kinds) > 1 else kinds * 2


def _python(value: Any) -> str:
    if isinstance(value, (list, dict)):
        text = json.dumps(value)
        return text.replace("true", "True").replace("false", "False").replace("null", "None")
    return literal(value)
