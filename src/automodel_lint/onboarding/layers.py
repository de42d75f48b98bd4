"""Which of a model's layers attend in which way, and which of them have experts, as far as its config says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from automodel_lint.onboarding.parts import LAYERS, Field, Part, brief

FULL, SLIDING, CHUNKED, RECURRENT, PARALLEL = "full", "sliding-window", "chunked", "recurrent", "parallel"
_TYPES = ("layer_types", "layers_block_type", "block_types", "_block_types", "attention_types", "layer_type_list")
_PATTERN = ("hybrid_override_pattern",)
_LETTERS = {"M": RECURRENT, "*": FULL, "G": RECURRENT, "-": "mlp", "E": "moe"}
_WORDS = (  # the first that a layer's type contains says what it is
    ("hybrid", PARALLEL),
    ("mamba", RECURRENT),
    ("linear", RECURRENT),
    ("recurrent", RECURRENT),
    ("conv", RECURRENT),
    ("gated_delta", RECURRENT),
    ("deltanet", RECURRENT),
    ("kda", RECURRENT),
    ("ssm", RECURRENT),
    ("rwkv", RECURRENT),
    ("lightning", RECURRENT),
    ("sliding", SLIDING),
    ("local", SLIDING),
    ("chunked", CHUNKED),
    ("moe", "moe"),
    ("mlp", "mlp"),
    ("attention", FULL),
    ("full", FULL),
    ("global", FULL),
)
# Fields that only a linear attention or a state-space layer has a use for.
RECURRENT_FIELDS = (
    "ssm_state_size",
    "state_size",
    "mamba_d_state",
    "mamba_d_ssm",
    "mamba_num_heads",
    "mamba_n_heads",
    "mamba_d_conv",
    "ssm_cfg",
    "linear_num_value_heads",
    "linear_num_heads",
    "linear_attn_config",
    "lru_width",
    "rwkv_version",
)
_SOME = ("full_attention_interval", "attn_layer_period", "attn_layer_indices", "full_attn_idxs", "layer_group_size")


@dataclass(frozen=True)
class Layout:
    """How many layers there are of each kind.

    Attributes:
        count: how many layers the model has; ``None`` if that is not stated.
        mixers: how often a layer attends how (``full``, ``sliding-window``, ``chunked``, ``recurrent``,
            ``parallel``); empty where the config does not tell layers apart.
        evidence: the fields that say so.
    """

    count: Field | None
    mixers: Counter[str]
    evidence: tuple[Field, ...]

    @property
    def only_recurrent(self) -> bool:
        """Whether no layer attends: a state-space model throughout."""
        return self.has(RECURRENT) and not self.has(FULL, SLIDING, CHUNKED, PARALLEL)

    def has(self, *kinds: str) -> bool:
        """Tell whether some layer is of one of these kinds."""
        return any(self.mixers[kind] for kind in kinds)


def layout_of(part: Part) -> Layout:
    """Return the layout of a language model's layers; raises :class:`ConfigProblem` for fields of a wrong type."""
    found = _listed(part) or _patterned(part) or _of_linear_config(part) or _attention_types(part)
    field, kinds = found if found else (None, [])
    stated = part.size(*LAYERS) or part.size("num_decoder_layers", "decoder_num_layers")
    if stated is None and field is not None and kinds:
        stated = Field(field.path, len(kinds))
    mixers = Counter(kind for kind in kinds if kind not in ("moe", "mlp"))
    if found is None:
        return _by_fields(part, stated)
    return Layout(stated, mixers, (field,) if field is not None else ())


def _listed(part: Part) -> tuple[Field, list[str]] | None:
    field = part.entries(*_TYPES)
    if field is None or not field.value or not all(isinstance(value, str) for value in field.value):
        return None
    count = part.size(*LAYERS)
    kinds = [_kind(value) for value in field.value]
    if count is not None and 0 < len(kinds) < count.value and field.path.rpartition(".")[2] != "layer_types":
        kinds = [kinds[n % len(kinds)] for n in range(count.value)]  # a pattern that is repeated
    return Field(field.path, _short(Counter(field.value))), kinds


def _kind(word: str) -> str:
    return next((kind for part, kind in _WORDS if part in word.lower()), FULL)


def _patterned(part: Part) -> tuple[Field, list[str]] | None:
    field = part.get(*_PATTERN)
    if field is None or not isinstance(field.value, str):
        return None
    return field, [_LETTERS.get(letter, "mlp") for letter in field.value if letter not in "|/ "]


def _of_linear_config(part: Part) -> tuple[Field, list[str]] | None:
    """Kimi's form: a table that lists, layer by layer, which attend in full and which are linear."""
    table = part.table("linear_attn_config")
    if table is None:
        return None
    linear = table.value.get("kda_layers") or table.value.get("linear_layers")
    full = table.value.get("full_attn_layers")
    if not isinstance(linear, list) or not isinstance(full, list):
        return None
    said = f"{len(linear)} linear, {len(full)} full"
    return Field(table.path, said), [RECURRENT] * len(linear) + [FULL] * len(full)


def _attention_types(part: Part) -> tuple[Field, list[str]] | None:
    """MiniMax's form: 0 for linear and 1 for softmax attention."""
    field = part.entries("attn_type_list")
    if field is None or not field.value or not set(field.value) <= {0, 1, 2}:
        return None
    kinds = [RECURRENT if value == 0 else FULL for value in field.value]
    return Field(field.path, _short(Counter(kinds))), kinds


def _by_fields(part: Part, count: Field | None) -> Layout:
    """Layers that are not told apart one by one."""
    recurrent = _stated(part, RECURRENT_FIELDS)
    if not recurrent:
        return Layout(count, Counter(), ())
    some = _stated(part, _SOME)
    kinds: Iterable[str] = (FULL, RECURRENT) if some else (PARALLEL,)
    if not some and part.get("num_attention_heads", "n_head", "n_heads") is None:
        kinds = (RECURRENT,)
    return Layout(count, Counter(kinds), (*recurrent, *some))


def _stated(part: Part, names: Iterable[str]) -> tuple[Field, ...]:
    found = (part.get(name) for name in names)
    return tuple(Field(f.path, brief(f.value)) for f in found if f is not None and f.value not in (0, [], {}, False))


def _short(counted: Counter[str]) -> str:
    return ", ".join(f"{number} × {word}" for word, number in counted.items())
