"""What a config asks for that the skeleton does not do: each becomes a refusal in the constructor, with a sentence."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from automodel_lint.onboarding.classification import Classification
from automodel_lint.onboarding.component import ATTENTION, EXPERTS, MLP, NORM, ROPE, Component
from automodel_lint.onboarding.parts import Part

# What the templates write.
_WRITTEN = {
    ATTENTION: {"GQA", "MHA", "MQA", "key-value heads not stated", "sliding window", "QK norm", "bias"},
    ROPE: {"default", "partial"},
    NORM: {"RMSNorm", "LayerNorm", "RMSNorm or LayerNorm"},
    MLP: {"SwiGLU", "GeGLU", "squared ReLU", "GELU, gated or plain", "bias"},
    EXPERTS: {"routed", "softmax router", "sigmoid router", "router not stated", "correction bias", "shared"}
    | {"grouped choice"},
}
# Scaled tables that transformers computes.
SCALED = {"linear", "dynamic", "yarn", "longrope", "llama3", "proportional"}
_SENTENCES = {
    "state space": "which layers mix by a state space, and what of it stays in fp32 (A_log, dt_bias)?",
    "linear attention": "which layers attend linearly, and what of them stays in fp32 (A_log, dt_bias)?",
    "MLA": "keys and values come out of one latent, and a part of each head is rotated apart from the rest; write the "
    "attention with the names of the checkpoint, kv_a_proj_with_mqa, kv_b_proj and so on",
    "decoupled": "only these dimensions of a head are rotated, by halves or by neighbours?",
    "sinks": "each head attends to a learned sink as well; its bias stays in fp32 and is pinned",
    "output gate": "what attention gives is multiplied by a gate before o_proj; where does the gate come from?",
    "sparse": "an indexer chooses the keys that a query sees; write it, and say how it is trained",
    "chunked": "attention sees the tokens of one chunk only; which layers, and what does the mask look like?",
    "bidirectional": "tokens see later ones; the mask, and whether a cache makes sense, differ",
    "ALiBi": "positions bias the scores, and nothing is rotated; write the slopes and leave the tables out",
    "none": "nothing is rotated; leave the tables out",
    "layers without RoPE": "in which layers are queries and keys left as they are?",
    "mrope": "positions have three axes; write tables that take position_ids [3, B, S]",
    "by kind of layer": "layers of each kind rotate by tables of their own; hand each layer its own",
    "zero-centred weight": "the norm multiplies by 1 + weight; the shared norm multiplies by weight",
    "clamped": "the feed-forward block clamps its gate; by which limit, and on which side?",
    "latent": "experts work in a smaller space; which projections lead there and back?",
    "low-rank projections": "queries go through a smaller space; which projections, and which norm between them?",
}
# Fields that change what a layer computes: the value at which they change nothing, and what to write.
_FIELDS: dict[str, tuple[Any, str]] = {
    "attn_logit_softcapping": (None, "scores are capped by tanh before the softmax"),
    "final_logit_softcapping": (None, "logits are capped by tanh"),
    "query_pre_attn_scalar": (None, "scores are scaled by this field's root, not by that of head_dim"),
    "attention_multiplier": (None, "scores are scaled by this field, not by the root of head_dim"),
    "embedding_multiplier": (1.0, "embeddings are multiplied before the first layer"),
    "scale_emb": (1.0, "embeddings are multiplied before the first layer"),
    "residual_multiplier": (1.0, "what a block adds is multiplied first"),
    "scale_depth": (None, "what a block adds is scaled by the depth of the model"),
    "logits_scaling": (1.0, "logits are divided by it"),
    "logit_scale": (1.0, "logits are multiplied by it"),
    "clip_qkv": (None, "queries, keys and values are clipped"),
    "use_parallel_residual": (False, "attention and feed-forward block read the same input"),
    "parallel_attn": (False, "attention and feed-forward block read the same input"),
    "alternating_moe_layers": (False, "which layers have experts?"),
}
_TEXT = 106  # characters of a text in the brackets of a raise, with the blank behind it
_NEUTRAL = {bool: "False", dict: "None", list: "None", str: "None"}


@dataclass(frozen=True)
class Question:
    """Something to be written by hand.

    Attributes:
        field: the field of the config that asks for it.
        condition: when it does, as an expression over ``config``.
        sentence: what to think about.
        neutral: the value of the field, as Python, with which it asks for nothing.
        asking: the value in the config.
    """

    field: str
    condition: str
    sentence: str
    neutral: str
    asking: Any

    @property
    def texts(self) -> list[str]:
        """The message in pieces that fit on a line each."""
        pieces = textwrap.wrap(f"{self.field}: {self.sentence}", _TEXT)
        return [*(piece + " " for piece in pieces[:-1]), pieces[-1]]


def questions_of(found: Classification, scaled_rope: bool) -> list[Question]:
    """Return what a config asks for beyond what the templates write, each field once.

    ``scaled_rope``: whether the tables of scaled rotary positions are at hand.
    """
    by_field: dict[str, Question] = {}
    for question in _questions(found, scaled_rope):
        first = by_field.get(question.field)
        if first is not None:
            either = (
                first.condition
                if first.condition == question.condition
                else f"{first.condition} or {question.condition}"
            )
            question = replace(first, sentence=f"{first.sentence}; {question.sentence}", condition=either)
        by_field[question.field] = question
    return list(by_field.values())


def _questions(found: Classification, scaled_rope: bool) -> Iterator[Question]:
    backbone = found.parts.backbone
    nested = found.has(ROPE, "by kind of layer")
    for component in found.components:
        if component.name in _WRITTEN[component.group]:
            continue
        if component.group == ROPE and component.name in SCALED:
            if not scaled_rope and not nested:
                yield _of_scaled(backbone, component)
            continue
        yield from _of_component(backbone, component)
    for name, (neutral, sentence) in _FIELDS.items():
        value = backbone.data.get(name, neutral)
        if value != neutral and value is not None:
            test = f"config.{name}" if neutral is False else f"config.{name} is not None"
            condition = f"config.{name} != {neutral}" if isinstance(neutral, float) else test
            yield Question(name, condition, sentence, repr(neutral), value)


def _of_scaled(backbone: Part, component: Component) -> Question:
    name = "rope_scaling" if backbone.data.get("rope_scaling") else "rope_parameters"
    sentence = (
        f"which frequencies does {component.name} stretch, and by how much? Compare the tables with the reference"
    )
    condition = 'config.rope_parameters["rope_type"] != "default"'
    return Question(name, condition, sentence, "None", backbone.data.get(name))


def _of_component(backbone: Part, component: Component) -> Iterator[Question]:
    paths = [field.path.removeprefix(f"{backbone.path}.") for field in component.fields]
    names = [path.partition(".")[0] for path in paths if path.partition(".")[0] in backbone.data]
    sentence = _SENTENCES.get(component.name, f"{component.group}: {component.name}; how is it written?")
    if not names:
        return
    name = names[0]
    value = backbone.data[name]
    if name == "layer_types":
        condition = 'set(config.layer_types) - {"full_attention", "sliding_attention"}'
        yield Question(name, condition, sentence, '["full_attention"] * 2', value)
        return
    if name in ("rope_parameters", "rope_scaling"):
        condition = "any(isinstance(table, dict) for table in config.rope_parameters.values())"
        if component.name == "mrope":
            condition = '"mrope_section" in config.rope_parameters'
        yield Question(name, condition, sentence, "None", value)
        return
    neutral = "0" if isinstance(value, (int, float)) and not isinstance(value, bool) else _NEUTRAL.get(type(value))
    yield Question(name, f"config.{name}", sentence, neutral or "None", value)
