"""What an integer of a configuration becomes, by its name: small, and different from every other size."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

TEXT, VISION, AUDIO = "text", "vision", "audio"
ROLES = (
    (VISION, re.compile(r".*(vision|visual|vit|image).*|vt")),
    (AUDIO, re.compile(r".*(audio|sound|speech).*")),
)

# The widths of each role. No two are equal, nor are the products with the numbers of heads and of experts, so that a
# swapped or transposed weight does not fit. Hidden size is always heads times an even head dimension, as a
# configuration without ``head_dim`` wants it.
HIDDEN = {TEXT: 64, VISION: 80, AUDIO: 48}
INTERMEDIATE = {TEXT: 88, VISION: 104, AUDIO: 72}
HEADS, KV_HEADS, EXPERTS, VOCABULARY = 4, 2, 6, 200
HEAD_DIM, ROPE_DIM, NOPE_DIM, VALUE_DIM, INDEX_DIM = 24, 8, 16, 20, 32
SPREAD = 4  # between two sizes of one kind


@dataclass(frozen=True)
class Rule:
    """A kind of size: fields whose whole name the pattern matches, and the value of the first of them.

    The value is an upper limit, as a smaller original (0 or 1) has a meaning of its own; ``None`` leaves the field to
    whoever knows more than its name. ``spread`` says that two originals of one kind become two values.
    """

    pattern: re.Pattern[str]
    value: int | dict[str, int] | None
    spread: bool = False


def _rules(*rules: tuple[str, int | dict[str, int] | None] | tuple[str, int | dict[str, int] | None, bool]) -> Any:
    return tuple(Rule(re.compile(pattern), *rest) for pattern, *rest in rules)


HEAD_DIMS = re.compile(r"(swa_|global_|attention_|full_)?(attention_)?head_dim|head_size|kv_channels")
ROTARY_DIM = re.compile(r".*rotary_dim|.*rope_dim")
WIDTH = re.compile(r"(?!.*(vocab|image|patch|window|chunk|kernel|merge)).*_(size|dim|rank)")
LINK = re.compile(
    r"(out|output|text|llm|lm|language|decoder|projection|mm_embed|output_proj)_?(hidden|dim|embed|dmodel).*"
)
HIDDEN_NAME = re.compile(r"(.*_)?(hidden_size|hidden_dim|d_model|dmodel|embed_dim|emb_dim|width|n_embd)|dim|vision_dim")
HIDDEN_NAMES = ("hidden_size", "vt_hidden_size", "d_model", "n_embd", "width", "embed_dim", "dim")
OTHER_WIDTH = re.compile(r"qkv|.*(expert|moe|inter|ffn|mlp|projector|projection)")
ATTENTION_HEADS = re.compile(r"(.*_)?num_attention_heads|num_heads|n_heads?|heads|.*(encoder|decoder)_attention_heads")
KV_NAME = re.compile(r".*(key_value|kv)_heads|num_attention_groups|linear_num_key_heads|n_groups|o_groups")

RULES: tuple[Rule, ...] = _rules(
    (r".*vocab_size.*|num_embeddings", VOCABULARY, True),
    (r"num_position_embeddings|image_size|max_img_size|.*pos_emb_(height|width|grid_[hw])|.*num_patch_per_side", None),
    # below the length of the inputs and below what follows, or the scaling of positions is not at work
    (r"original_max_position_embeddings", 8),
    (r".*position_embeddings|max_(seq|sequence|source|target)_?(len|length|positions)?.*|model_max_length", 64),
    (r"mamba_num_heads", 8),
    (r".*heads", HEADS),
    (r"qk_rope_head_dim", ROPE_DIM),
    (r"qk_nope_head_dim", NOPE_DIM),
    (r".*v_head_dim", VALUE_DIM),
    (r"index(er)?_head_dim", INDEX_DIM),
    (r"linear_key_head_dim", 12),
    (r"linear_value_head_dim", VALUE_DIM),
    (r"mamba_head_dim|engram_head_dim", 10),
    (r".*head_dim", NOPE_DIM),
    (r".*num_shared_experts?|n_shared_experts", 2),
    (r"index_topk", 8),
    (r"index_kpool", 4),
    (r"qkv_hidden_size", HEADS * HEAD_DIM),
    (r".*topk_blocks|indexer_budget", 16),
    (r".*(per_tok|per_token|top_k|topk|moe_k)|top_k_experts", 2),
    (r"n_group|num_expert_group", 2),
    (r"topk_group", 1),
    (r".*experts", EXPERTS),
    (r".*shared?_?(expert|intermediate).*(size|dim)", 56, True),
    (r".*(moe|expert).*(size|dim)", 40, True),
    (r".*(intermediate|ffn|inter|mlp).*(size|dim|hidden)", INTERMEDIATE, True),
    (r"q_lora_rank", 36),
    (r"kv_lora_rank", 28),
    (r"o_lora_rank", 44),
    (r".*lowrank|.*_rank", 12),
    (r".*state_size|.*d_state", 14),
    (r".*chunk_size|.*window.*", {TEXT: 8, VISION: 1 << 20, AUDIO: 8}),  # a tower's window is in pixels
    (r".*project(or|ion).*(size|dim)|.*(latent|adapter|channel).*(size|dim)", 84, True),
    (r"num_mel_bins", 16),
    (r"num_nextn_predict_layers|num_mtp_layers", 1),
)


@dataclass
class Sizes:
    """Gives out the sizes of one configuration or part of one.

    ``node`` is the original; ``text_hidden`` the original hidden size of the text part of the whole, ``keep_head_dim``
    leaves the dimension of a head as it is, ``keep_ties`` makes widths equal that were.
    """

    node: dict[str, Any]
    role: str
    text_hidden: int | None
    keep_head_dim: bool = False
    keep_ties: bool = False
    tied: dict[int, int] = field(default_factory=dict)
    given: dict[tuple[str, int], int] = field(default_factory=dict)

    @property
    def heads(self) -> int:
        """The original number of attention heads, 0 if unknown."""
        return _first_int(self.node, ATTENTION_HEADS)

    @property
    def own_hidden(self) -> int:
        """The original hidden size, 0 if unknown."""
        for name in HIDDEN_NAMES:
            if type(self.node.get(name)) is int:
                return self.node[name]
        return _first_int(self.node, HIDDEN_NAME)

    @property
    def head_dim(self) -> tuple[int, int]:
        """The original dimension of a head and the tiny one, zeros if unknown."""
        explicit = self.node.get("head_dim") if "qk_rope_head_dim" not in self.node else None
        own = explicit if type(explicit) is int and explicit else 0
        if (self.role != TEXT or self.keep_ties) and own * self.heads == self.own_hidden:
            own = 0  # written down by a tower that does not read it
        old = own or (self.own_hidden // self.heads if self.heads else 0)
        if self.keep_head_dim or 0 < old < 8:
            return old, old
        return old, HEAD_DIM if own else HIDDEN[self.role] // min(self.heads or HEADS, HEADS)

    @property
    def hidden(self) -> int:
        """The tiny hidden size."""
        old, new = self.head_dim
        if self.keep_head_dim and self.heads and old * self.heads == self.own_hidden:
            return new * min(self.heads, HEADS)
        return HIDDEN[self.role]

    def of(self, name: str, value: int) -> int:
        """Return what the field ``name`` becomes; a name that says nothing keeps its value, or follows an equal one."""
        known = self._by_name(name, value)
        if known is None:
            return self._following(value)
        if self.keep_ties and value > 1 and WIDTH.fullmatch(name):
            self.tied.setdefault(self.own_hidden, self.hidden)
            return self.tied.setdefault(value, known)
        return known

    def _by_name(self, name: str, value: int) -> int | None:
        if value <= 1:
            return value
        if HEAD_DIMS.fullmatch(name) and "qk_rope_head_dim" not in self.node:
            return self._scaled(value, *self.head_dim)
        if ROTARY_DIM.fullmatch(name) and self.head_dim[0] >= value:
            return self._scaled(value, *self.head_dim)
        if KV_NAME.fullmatch(name):
            return min(value, HEADS if value == self.heads else KV_HEADS)
        if ATTENTION_HEADS.fullmatch(name):
            return self._scaled(value, max(self.heads, HEADS), HEADS) if value > HEADS else value
        if re.fullmatch(r"linear_num_value_heads", name):
            keys = self.node.get("linear_num_key_heads") or value
            return KV_HEADS * max(value // keys, 1) if value > KV_HEADS else value
        if self._is_link(name, value):
            return HIDDEN[TEXT]
        if HIDDEN_NAME.fullmatch(name) and not OTHER_WIDTH.match(name):
            return min(value, self._hidden_of(name, value))
        for rule in RULES:
            if rule.pattern.fullmatch(name):
                return self._by_rule(rule, value)
        return None

    def _is_link(self, name: str, value: int) -> bool:
        """Whether a field of a tower or of the whole is the width of the text part."""
        if LINK.fullmatch(name):
            return True
        return self.role != TEXT and value == self.text_hidden and name != "hidden_size" and value >= 256

    def _hidden_of(self, name: str, value: int) -> int:
        if value == self.own_hidden:
            return self.hidden
        role = next((role for role, pattern in ROLES if pattern.match(name)), self.role)
        return self.spread("hidden", value, HIDDEN[role] + (SPREAD * 2 if role == self.role else 0))

    def _by_rule(self, rule: Rule, value: int) -> int:
        limit = rule.value[self.role] if isinstance(rule.value, dict) else rule.value
        if limit is None or value <= limit:
            return value
        return self.spread(rule.pattern.pattern, value, limit) if rule.spread else limit

    def spread(self, kind: str, value: int, first: int) -> int:
        """Return ``first`` for the first original of a kind, and the next free one for every other."""
        taken = [new for (other, _), new in self.given.items() if other == kind]
        return self.given.setdefault((kind, value), max(taken) + SPREAD if taken else first)

    def _scaled(self, value: int, old: int, new: int) -> int:
        """``value`` in the ratio of ``new`` to ``old`` where that is a whole even number, ``new`` otherwise."""
        if old and value * new % old == 0 and (value * new // old) % 2 == 0:
            return value * new // old
        return new

    def _following(self, value: int) -> int:
        """A field that is no size by its name, but is as large as one of the widths, follows it."""
        widths = {value: new for (_, value), new in self.given.items()}
        if self.own_hidden >= 256:
            widths.setdefault(self.own_hidden, self.hidden)
        return widths.get(value, value) if value >= 256 else value


def _first_int(node: dict[str, Any], pattern: re.Pattern[str]) -> int:
    for name, value in node.items():
        if type(value) is int and value > 0 and pattern.fullmatch(name):
            return value
    return 0


def role_of(name: str, outer: str) -> str:
    """Return the role of a part by the name of its field, else that of the whole it lies in."""
    if re.fullmatch(r".*(text|llm|language|thinker|talker|decoder).*", name):
        return TEXT
    return next((role for role, pattern in ROLES if pattern.fullmatch(name)), outer)
