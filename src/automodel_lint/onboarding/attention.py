"""How the layers of a model attend, as its config says: heads, latents, windows, sinks, recurrence."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.onboarding.component import ATTENTION, Component
from automodel_lint.onboarding.layers import CHUNKED, PARALLEL, RECURRENT, RECURRENT_FIELDS, SLIDING, Layout
from automodel_lint.onboarding.parts import Field, Part, brief

HEADS = ("num_attention_heads", "n_head", "num_heads", "n_heads", "decoder_attention_heads")
KV_HEADS = (
    "num_key_value_heads",
    "n_head_kv",
    "num_kv_heads",
    "n_kv_heads",
    "num_attention_groups",
    "multi_query_group_num",
    "num_query_groups",
)
_WINDOW = ("sliding_window", "sliding_window_size", "attention_window_size", "local_attention", "window_size")
_SINKS = (
    "attention_sink_bias",
    "add_full_attention_sink_bias",
    "add_swa_attention_sink_bias",
    "swa_attention_sink_enabled",
    "use_attention_sinks",
    "attn_sink",
    "use_sinks",
)
_GATES = ("attn_output_gate", "attention_output_gate", "use_attn_output_gate", "use_head_wise_attn_gate")
_NORMED = ("qk_norm", "use_qk_norm", "qk_layernorm", "use_query_key_norm")
_BIAS = ("attention_bias", "qkv_bias", "use_qkv_bias", "add_qkv_bias", "attn_bias")
_INDEXERS = ("index_topk", "indexer_budget", "index_n_heads", "indexer_n_heads")
_SPARSE = ("sparse_attention_config", "nsa_config", "sparse_config")


def attention_of(part: Part, layout: Layout, bidirectional: Field | None) -> Iterator[Component]:
    """Yield what a config says of attention; raises :class:`ConfigProblem` for fields of a wrong type."""
    if not layout.only_recurrent:
        yield from _heads(part)
    yield from _window(part, layout)
    if bidirectional is not None:
        yield Component(ATTENTION, "bidirectional", "", (bidirectional,))
    yield from _recurrent(part, layout)
    sparse = _positive(part, _INDEXERS) or _filled(part, _SPARSE)
    if sparse is not None:
        yield Component(ATTENTION, "sparse", str(brief(sparse.value)), (Field(sparse.path, brief(sparse.value)),))
    for names, name in ((_SINKS, "sinks"), (_GATES, "output gate"), (_NORMED, "QK norm"), (_BIAS, "bias")):
        field = next((f for f in (part.says(word, True) for word in names) if f is not None), None)
        if field is not None:
            yield Component(ATTENTION, name, "", (field,))
    cross = part.says("add_cross_attention", True)
    if cross is not None:
        yield Component(ATTENTION, "cross-attention", "", (cross,))


def _heads(part: Part) -> Iterator[Component]:
    heads, kv_heads = _widest(part.sizes(*HEADS)), _widest(part.sizes(*KV_HEADS))
    latent = part.size("kv_lora_rank")
    if latent is not None and latent.value:
        query = part.size("q_lora_rank")
        detail = f"latent {latent.value}" + (f", query {query.value}" if query is not None and query.value else "")
        yield Component(ATTENTION, "MLA", detail, tuple(f for f in (latent, query, heads) if f is not None))
        return
    one = part.says("multi_query", True)
    if one is not None and not (part.says("new_decoder_architecture", True) and kv_heads):
        kv_heads = Field(one.path, 1)
    if heads is None or not heads.value:
        return
    if kv_heads is None:
        old = heads.path.rpartition(".")[2] in ("n_head", "decoder_attention_heads")
        name = "MHA" if old else "key-value heads not stated"
        yield Component(ATTENTION, name, f"{heads.value} heads", (heads,), standard=True)
        return
    detail = f"{heads.value} heads, {kv_heads.value} for keys and values"
    if kv_heads.value in (0, heads.value):
        yield Component(ATTENTION, "MHA", f"{heads.value} heads", (heads, kv_heads), standard=True)
    elif kv_heads.value == 1:
        yield Component(ATTENTION, "MQA", detail, (heads, kv_heads), standard=True)
    else:
        yield Component(ATTENTION, "GQA", detail, (heads, kv_heads), standard=True)
    low = part.size("q_lora_rank")
    if low is not None and low.value:
        yield Component(ATTENTION, "low-rank projections", f"query {low.value}", (low,))


def _window(part: Part, layout: Layout) -> Iterator[Component]:
    chunk = part.size("attention_chunk_size")
    by_itself = not layout.mixers and part.get(*_WINDOW) is None
    if chunk is not None and chunk.value and (layout.has(CHUNKED) or by_itself):
        yield Component(ATTENTION, "chunked", f"{chunk.value} tokens", (chunk, *layout.evidence))
    if part.says("use_sliding_window", False) or (layout.mixers and not layout.has(SLIDING, PARALLEL)):
        return
    window = _widest(part.sizes(*_WINDOW))
    if window is None or not window.value:
        return
    number, total = layout.mixers[SLIDING], layout.count
    where = f" in {number} of {total.value} layers" if number and total is not None else ""
    pattern = part.get("sliding_window_pattern", "global_attn_every_n_layers", "hybrid_layer_pattern")
    more = layout.evidence if number else (pattern,) if pattern is not None else ()
    said = tuple(Field(f.path, brief(f.value)) for f in more)
    yield Component(ATTENTION, "sliding window", f"{window.value} tokens{where}", (window, *said))


def _recurrent(part: Part, layout: Layout) -> Iterator[Component]:
    if not layout.has(RECURRENT, PARALLEL):
        return
    names = [field for field in (part.get(name) for name in RECURRENT_FIELDS) if field is not None]
    words = {field.path.rpartition(".")[2].partition("_")[0] for field in names}
    types = " ".join(str(field.value) for field in layout.evidence).lower()
    if words & {"ssm", "mamba", "state"} or "mamba" in types:
        name = "state space"
    elif words & {"linear"} or any(word in types for word in ("linear", "delta", "kda", "lightning")):
        name = "linear attention"
    elif "conv" in types or part.get("number_of_conv_states", "conv_kernel_size", "conv_L_cache") is not None:
        name = "short convolution"
    else:
        name = "recurrence"
    number, total = layout.mixers[RECURRENT], layout.count
    where = f"{number} of {total.value} layers" if number > 1 and total is not None else ""
    fields = {field.path: Field(field.path, brief(field.value)) for field in (*layout.evidence, *names)}
    yield Component(ATTENTION, name, where, tuple(fields.values()))


def _widest(field: Field | None) -> Field | None:
    return None if field is None else Field(field.path, max(field.value))


def _positive(part: Part, names: tuple[str, ...]) -> Field | None:
    found = (part.size(name) for name in names)
    return next((field for field in found if field is not None and field.value), None)


def _filled(part: Part, names: tuple[str, ...]) -> Field | None:
    return next((field for field in (part.get(name) for name in names) if field is not None and field.value), None)
