"""How large a model is: what its config states, and how many parameters follow from that."""

from __future__ import annotations

from dataclasses import dataclass

from automodel_lint.onboarding.attention import HEADS, KV_HEADS
from automodel_lint.onboarding.component import Component
from automodel_lint.onboarding.experts import Experts
from automodel_lint.onboarding.layers import PARALLEL, RECURRENT, Layout
from automodel_lint.onboarding.parts import HIDDEN, Field, Part, Parts

INNER = (
    "intermediate_size",
    "n_inner",
    "ffn_dim",
    "d_ff",
    "ffn_hidden_size",
    "decoder_ffn_dim",
    "mlp_hidden_size",
    "dense_intermediate_size",
)
VOCABULARY = ("vocab_size", "padded_vocab_size")
CONTEXT = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "seq_length")
_HEAD = ("head_dim", "attention_head_dim", "kv_channels", "d_kv")
_OWN_FORM = (  # fields of layers with matrices that no general rule counts
    "hidden_size_per_layer_input",
    "engram_layer_ids",
    "ngram_vocab_size_base",
    "o_lora_rank",
    "index_topk",
    "indexer_budget",
    "per_layer_config",
    "swa_num_attention_heads",
    "num_attention_heads_per_layer",
    "use_double_wide_mlp",
    "attn_output_gate",
    "attention_output_gate",
    "use_attn_output_gate",
    "d_rel",
    "global_head_dim",
    "num_global_key_value_heads",
    "enable_moe_block",
    "block_configs",
)


@dataclass(frozen=True)
class Sizes:
    """The sizes of the language model; each is ``None`` where the config does not state it.

    A field whose value differs by layer holds the largest.
    """

    hidden: Field | None
    layers: Field | None
    heads: Field | None
    kv_heads: Field | None
    head_dim: Field | None
    intermediate: Field | None
    vocabulary: Field | None
    context: Field | None
    experts: Field | None
    active_experts: Field | None
    expert_intermediate: Field | None


@dataclass(frozen=True)
class Parameters:
    """An estimate of how many parameters the language model has.

    ``total`` and ``active`` (what one token goes through) count the embedding, the head where it is separate, and the
    matrices of attention, feed-forward blocks and experts: not norms, biases, towers for other media, or layers that
    predict further tokens. Both are ``None`` where a part of them does not follow from the config; ``reason`` says why.
    """

    total: int | None
    active: int | None
    reason: str | None


def sizes_of(part: Part, layout: Layout, experts: Experts | None) -> Sizes:
    """Return the sizes of a language model; raises :class:`ConfigProblem` for fields of a wrong type."""

    def largest(*names: str) -> Field | None:
        found = part.sizes(*names)
        return None if found is None else Field(found.path, max(found.value))

    return Sizes(
        hidden=part.size(*HIDDEN),
        layers=layout.count,
        heads=largest(*HEADS),
        kv_heads=largest(*KV_HEADS),
        head_dim=largest(*_HEAD),
        intermediate=largest(*INNER),
        vocabulary=part.size(*VOCABULARY),
        context=part.size(*CONTEXT),
        experts=experts.count if experts is not None else None,
        active_experts=experts.active if experts is not None else None,
        expert_intermediate=experts.width if experts is not None else None,
    )


def parameters_of(
    parts: Parts,
    sizes: Sizes,
    layout: Layout,
    experts: Experts | None,
    components: tuple[Component, ...],
    tied: bool | None,
) -> Parameters:
    """Return an estimate of the parameters, or why there is none; raises :class:`ConfigProblem`."""
    part = parts.backbone
    reason = _reason_against(parts, sizes, layout, experts, components, tied)
    if reason is not None:
        return Parameters(None, None, reason)
    assert sizes.hidden and sizes.layers and sizes.vocabulary
    hidden, layers = sizes.hidden.value, sizes.layers.value
    outside = hidden * sizes.vocabulary.value * (1 if tied else 2)
    plain = any(c.name == "squared ReLU" for c in components)
    matrices = 2 if plain else 3
    dense = matrices * hidden * (sizes.intermediate.value if sizes.intermediate is not None else 0)
    attention = _attention(part, sizes)
    if experts is None:
        total = outside + layers * (attention + dense)
        return Parameters(total, total, None)
    assert experts.count and experts.active
    sparse_layers = experts.layers if experts.layers is not None else layers
    width = (experts.width or sizes.intermediate).value  # type: ignore[union-attr]
    one = matrices * hidden * width
    shared = _shared(experts, one, matrices * hidden)
    router = hidden * experts.count.value
    common = outside + layers * attention + (layers - sparse_layers) * dense + sparse_layers * (router + shared)
    return Parameters(
        common + sparse_layers * experts.count.value * one, common + sparse_layers * experts.active.value * one, None
    )


def _shared(experts: Experts, one: int, row: int) -> int:
    if experts.shared is None:
        return 0
    return one * experts.shared_count if experts.shared_count else row * experts.shared.value


def _attention(part: Part, sizes: Sizes) -> int:
    """The parameters of one layer's attention."""
    assert sizes.hidden and sizes.heads
    hidden, heads = sizes.hidden.value, sizes.heads.value
    latent = part.size("kv_lora_rank")
    if latent is not None and latent.value:
        rope, plain, value = (_value(part, name) for name in ("qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"))
        query = _value(part, "q_lora_rank")
        queries = query * (hidden + heads * (rope + plain)) if query else hidden * heads * (rope + plain)
        return (
            queries + hidden * (latent.value + rope) + latent.value * heads * (plain + value) + heads * value * hidden
        )
    head = sizes.head_dim.value if sizes.head_dim is not None else hidden // heads
    kv_heads = sizes.kv_heads.value if sizes.kv_heads is not None and sizes.kv_heads.value else heads
    value_head = _value(part, "v_head_dim") or head
    return hidden * head * (heads + kv_heads) + hidden * value_head * (kv_heads + heads)


def _value(part: Part, name: str) -> int:
    found = part.size(name)
    return found.value if found is not None else 0


def _reason_against(
    parts: Parts,
    sizes: Sizes,
    layout: Layout,
    experts: Experts | None,
    components: tuple[Component, ...],
    tied: bool | None,
) -> str | None:
    """Why the parameters cannot be told, if they cannot."""
    part, count = parts.backbone, sizes.layers.value if sizes.layers is not None else None
    needed = {"hidden size": sizes.hidden, "layers": sizes.layers, "heads": sizes.heads, "vocabulary": sizes.vocabulary}
    if experts is None or experts.width is None or (experts.layers or count) != count:
        needed["intermediate size"] = sizes.intermediate
    missing = [name for name, field in needed.items() if field is None or not field.value]
    if missing:
        return f"the config does not state: {', '.join(missing)}"
    if layout.has(RECURRENT, PARALLEL):
        return "layers with recurrence have matrices that the config does not give"
    names = {component.name for component in components}
    if "key-value heads not stated" in names:
        return "the number of key-value heads is not stated"
    if not names & {"SwiGLU", "GeGLU", "squared ReLU"}:
        return "whether the feed-forward block is gated is not stated"
    if experts is not None and (experts.count is None or experts.active is None):
        return "the number of experts, or how many of them a token goes to, is not stated"
    if experts is not None and experts.latent is not None:
        return "experts work in a space of their own"
    if tied is None:
        return "whether the head shares the embedding is not stated"
    stated = (of.get(name) for of in (part, parts.outer) for name in _OWN_FORM)
    odd = [field.path for field in stated if field is not None and field.value]
    if odd:
        return f"{odd[0]} brings matrices of a form that this estimate does not know"
    several = [field.path for field in (part.get(*names) for names in (INNER, HEADS, KV_HEADS)) if _varies(field)]
    return f"{several[0]} differs by layer" if several else None


def _varies(field: Field | None) -> bool:
    return field is not None and isinstance(field.value, list) and len(set(map(str, field.value))) > 1
