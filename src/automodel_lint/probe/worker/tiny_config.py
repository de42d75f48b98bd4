"""A tiny configuration for a registered model class, derived from the class's own configuration.

The defaults of the configuration class are shrunk by the kind of each name: sizes, counts of layers and experts, token
ids. Of the layers, the first two and one of every kind are kept, so that each kind of parameter name appears once at
least. All hidden sizes are the same: names are wanted here, not shapes, and equal widths fit every projection between
two towers. What a class needs beyond that is a recipe: data, see ``recipes.json``.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from transformers import AutoConfig, PretrainedConfig

HIDDEN, HEADS, HEAD_DIM, ROPE_DIM, VOCABULARY = 64, 4, 16, 8, 256
FIRST_LAYERS = 2

# What an integer becomes, by its name: the first pattern that matches the whole name decides. The number is an upper
# limit, as a smaller original (0 or 1) has a meaning of its own; None leaves the field to ``_reconcile``.
SIZES: tuple[tuple[str, int | None], ...] = (
    (r".*vocab_size.*|n_embed|num_embeddings", VOCABULARY),
    (r"num_position_embeddings|image_size|max_img_size|.*pos_emb_(height|width|grid_[hw])|.*num_patch_per_side", None),
    (r".*position_embeddings|max_(seq|sequence|source|target)_?(len|length|positions)?.*|model_max_length", 64),
    (r".*(key_value|kv)_heads|num_attention_groups|linear_num_key_heads|n_groups|o_groups", 2),
    (r"mamba_num_heads", 8),
    (r".*heads", HEADS),
    (r"qk_(rope|nope)_head_dim|.*rotary_dim|.*rope_dim", ROPE_DIM),
    (r".*head_dim", HEAD_DIM),
    (r".*num_shared_experts?|n_shared_experts", 2),
    (r".*index_topk|.*topk_blocks", 16),
    (r".*(per_tok|per_token|top_k|topk|moe_k)|top_k_experts", 2),
    (r"n_group|num_expert_group", 2),
    (r"topk_group", 1),
    (r".*experts", 4),
    (r".*(moe|expert|shared).*(size|dim)", 32),
    (r".*(intermediate|ffn|inter|mlp).*(size|dim|hidden)", 96),
    (r".*lora_rank|.*lowrank|.*markov_rank", 24),
    (r".*state_size|.*d_state", 16),
    (r".*chunk_size|.*window.*", 8),
    (r".*(hidden|embed|output|latent|adapter|channel|mm|projector|text).*(size|dim)", HIDDEN),
    (r"d_model|width|dim|vision_dim", HIDDEN),
    (r"num_mel_bins", 16),
    (r"num_nextn_predict_layers|num_mtp_layers", 1),
)
COMPILED = tuple((re.compile(pattern), limit) for pattern, limit in SIZES)

# How a configuration speaks of its layers: their number (and that of other stacks), lists of indices, a first index of
# some kind, a number of last layers, one index.
LAYER_COUNTS = ("num_hidden_layers", "n_layers", "num_layers", "depth", "layers", "encoder_layers")
OTHER_COUNT = re.compile(r"(decoder|vision|encoder|audio|vit|num_decoder).*layers|.*_num_hidden_layers")
INDEX_LIST = re.compile(r".*(layers|layer_ids|layer_idx|layers_enum|indexes|indices)")
THRESHOLD = re.compile(
    r"first_k_dense_replace|max_window_layers|num_hash_layers|moe_layer_start_index|mtp_base_layer_idx"
)
LAST_LAYERS = re.compile(r"num_kv_shared_layers")
LAYER_INDEX = re.compile(r".*layer_id|moe_layer_end_index")
PER_LAYER = "per_layer_config"
LABELS = ("id2label", "label2id")
TOKEN = re.compile(r".*(token|start|end|sep|pad|bos|eos)_(id|ids|index)|.*token_ids?")


# --- which configuration class -------------------------------------------------------------------------------------


def find_config_class(cls: type, architectures: list[str]) -> type[PretrainedConfig] | None:
    """The configuration class that ``cls`` is made for: by annotation, attribute, transformers, or its package."""
    annotated, declared = _annotated(cls), getattr(cls, "config_class", None)
    found = annotated or declared
    if annotated and declared and issubclass(declared, annotated):
        found = declared
    found = found or _of_transformers(architectures) or _of_package(cls)
    return _preferred(found, cls) if found else None


def _annotated(cls: type) -> type[PretrainedConfig] | None:
    for owner in cls.__mro__:
        if "__init__" in vars(owner) and owner.__module__.startswith("nemo_automodel"):
            annotation = inspect.unwrap(vars(owner)["__init__"]).__annotations__.get("config")
            if isinstance(annotation, str):
                try:
                    annotation = eval(annotation, vars(sys.modules[owner.__module__]))
                except Exception:
                    return None
            choices = (annotation,) if isinstance(annotation, type) else typing.get_args(annotation)
            return next((choice for choice in choices if _is_config(choice)), None)
    return None


def _is_config(thing: Any) -> bool:
    return isinstance(thing, type) and issubclass(thing, PretrainedConfig) and thing is not PretrainedConfig


def _of_transformers(architectures: list[str]) -> type[PretrainedConfig] | None:
    import transformers

    for name in architectures:
        config_class = getattr(getattr(transformers, name, None), "config_class", None)
        if _is_config(config_class):
            return config_class
    return None


def _of_package(cls: type) -> type[PretrainedConfig] | None:
    """The configuration class of the model's own package whose name is most like the model's."""
    package = importlib.import_module(cls.__module__.rpartition(".")[0])
    modules = [importlib.import_module(cls.__module__)]
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        if "config" in module.name.rpartition(".")[2]:
            modules.append(importlib.import_module(module.name))
    configs = [thing for module in modules for thing in vars(module).values() if _is_config(thing)]
    found = [config for config in configs if config.__module__.startswith(package.__name__ + ".")]

    def likeness(config_class: type) -> int:
        pairs = zip(config_class.__name__, cls.__name__, strict=False)
        return next((i for i, (a, b) in enumerate(pairs) if a != b), len(cls.__name__))

    return max(found, key=likeness, default=None)


def _preferred(found: type[PretrainedConfig], cls: type) -> type[PretrainedConfig]:
    """The class that the product's registry gives to the same model type, if it lies in the model's package."""
    from nemo_automodel._transformers.registry import resolve_custom_config_cls

    custom = resolve_custom_config_cls(getattr(found, "model_type", "") or "")
    package = cls.__module__.rpartition(".")[0] + "."
    return custom if custom is not None and custom.__module__.startswith(package) else found


# --- the layers that stay ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """Which layers of ``count`` stay: their old indices, rising."""

    count: int
    kept: tuple[int, ...]

    def before(self, layer: int) -> int:
        """How many of the kept layers come before the old index."""
        return sum(index < layer for index in self.kept)

    def sequence(self, items: Any) -> list[Any]:
        """A per-layer list, with whatever follows the layers (entries for MTP) left in place."""
        return [items[index] for index in self.kept] + list(items[self.count :])

    def indices(self, items: list[int], base: int) -> list[int]:
        """A list of layer indices, counted from ``base``."""
        return [self.before(item - base) + base for item in items if item - base in self.kept]


def _facts(node: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every field of a configuration and of the plain dictionaries in it that are no configurations themselves."""
    for name, value in node.items():
        if name in LABELS:
            continue
        if isinstance(value, dict) and name != PER_LAYER and "model_type" not in value:
            yield from _facts(value)
        else:
            yield name, value


def _is_sequence(value: Any, count: int) -> bool:
    return isinstance(value, (list, tuple)) and count > 1 and count <= len(value) <= count + 4


def _is_index_list(name: str, value: Any, count: int) -> bool:
    if not INDEX_LIST.fullmatch(name) or not isinstance(value, (list, tuple)) or not 0 < len(value) < count:
        return False
    return all(type(item) is int and 0 <= item <= count for item in value)


def _index_base(node: dict[str, Any], count: int) -> int:
    """1 where an index list names a layer that counting from 0 does not reach."""
    lists = [value for name, value in _facts(node) if _is_index_list(name, value, count)]
    return int(any(max(value) == count for value in lists) and all(min(value) >= 1 for value in lists))


def make_plan(node: dict[str, Any]) -> Plan | None:
    """The first layers and one of each kind, judged by all that the configuration says about single layers."""
    count = next((node[name] for name in LAYER_COUNTS if type(node.get(name)) is int and node[name] > 0), None)
    if count is None:
        return None
    seen, kept = set(), []
    for layer in range(count):
        kind = _kind(node, layer, count)
        if layer < FIRST_LAYERS or kind not in seen:
            seen.add(kind)
            kept.append(layer)
    return Plan(count, tuple(kept))


def _kind(node: dict[str, Any], layer: int, count: int) -> tuple[Any, ...]:
    """What distinguishes a layer from others: equal for two layers that the configuration treats alike."""
    kind: list[Any] = []
    for name, value in _facts(node):
        if _is_sequence(value, count):
            kind.append(repr(value[layer]))
        elif _is_index_list(name, value, count):
            kind.append(layer + _index_base(node, count) in value)
        elif name == PER_LAYER and isinstance(value, dict):
            kind.append(repr({int(index): item for index, item in value.items()}.get(layer)))
        elif type(value) is int and THRESHOLD.fullmatch(name):
            kind.append(layer < value)
        elif type(value) is int and LAST_LAYERS.fullmatch(name):
            kind.append(layer >= count - value)
    return tuple(kind)


# --- shrinking -----------------------------------------------------------------------------------------------------


def shrink(node: dict[str, Any], plan: Plan | None = None) -> dict[str, Any]:
    """The dictionary of a configuration with tiny sizes; ``plan`` is that of the configuration it is a part of."""
    own = make_plan(node)
    plan = own or plan
    base = _index_base(node, plan.count) if plan else 0
    tiny = {name: _field(name, value, plan, base) for name, value in node.items()}
    if own:
        tiny.update({name: len(own.kept) for name in LAYER_COUNTS if node.get(name) == own.count})
    _reconcile(node, tiny)
    return tiny


def _field(name: str, value: Any, plan: Plan | None, base: int) -> Any:
    if name in LABELS:
        return value
    if name == "quantization_config":
        return None
    if name == PER_LAYER and isinstance(value, dict) and plan:
        width = len(str(len(plan.kept) - 1))
        return {f"{plan.before(int(k)):0{width}d}": shrink(v) for k, v in value.items() if int(k) in plan.kept}
    if isinstance(value, dict):
        return shrink(value, None if "model_type" in value else plan)
    if name == "mrope_section" and value:
        return [3, 3, 2][: len(value)]
    if plan and _is_sequence(value, plan.count):
        return plan.sequence(value)
    if plan and _is_index_list(name, value, plan.count):
        return plan.indices(value, base)
    if isinstance(value, (list, tuple)) and TOKEN.fullmatch(name):
        return [_token(item) for item in value]
    return _integer(name, value, plan) if type(value) is int else value


def _integer(name: str, value: int, plan: Plan | None) -> int:
    if TOKEN.fullmatch(name):
        return _token(value)
    if plan and THRESHOLD.fullmatch(name):
        return plan.before(value)
    if plan and LAST_LAYERS.fullmatch(name):
        return len(plan.kept) - plan.before(plan.count - value)
    if plan and LAYER_INDEX.fullmatch(name):
        return max(plan.before(value + 1) - 1, 0)
    if OTHER_COUNT.fullmatch(name):
        return min(value, FIRST_LAYERS)
    for pattern, limit in COMPILED:
        if pattern.fullmatch(name):
            return value if limit is None else min(value, limit)
    return value


def _token(value: Any) -> Any:
    # ids below 100 stay; the large ones of one vocabulary rarely differ by a multiple of 151
    return value if type(value) is not int or value < 100 else 100 + value % 151


def _reconcile(node: dict[str, Any], tiny: dict[str, Any]) -> None:
    """Put back the relations between fields that shrinking each for itself has broken."""
    if all(type(tiny.get(part)) is int for part in ("qk_nope_head_dim", "qk_rope_head_dim")):
        if "qk_head_dim" in tiny:
            tiny["qk_head_dim"] = tiny["qk_nope_head_dim"] + tiny["qk_rope_head_dim"]
        if node.get("head_dim") == node["qk_rope_head_dim"]:
            tiny["head_dim"] = tiny["qk_rope_head_dim"]
    for heads in [name for name in node if name.endswith("num_attention_heads")]:
        kv = heads.replace("attention", "key_value")
        if type(node[heads]) is int and node.get(kv) == node[heads]:
            tiny[kv] = tiny[heads]
    patch = next((node[name] for name in ("patch_size", "vit_patch_size") if type(node.get(name)) is int), None)
    for name in ("image_size", "max_img_size"):
        if patch and node.get(name):
            tiny[name] = 4 * patch if type(node[name]) is int else [4 * patch] * len(node[name])
    for name in node:
        if re.fullmatch(r".*pos_emb_(height|width|grid_[hw])|.*num_patch_per_side", name):
            tiny[name] = 4
    if type(node.get("num_position_embeddings")) is int:
        tiny["num_position_embeddings"] = 16


# --- the whole -----------------------------------------------------------------------------------------------------


def merge(target: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """``target`` with ``changes`` laid over it, dictionary into dictionary; neither is altered."""
    merged = dict(target)
    for name, value in changes.items():
        old = merged.get(name)
        merged[name] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def default_dict(config_class: type[PretrainedConfig], given: dict[str, Any]) -> dict[str, Any]:
    """The defaults of a configuration class (``given`` laid over them), with its absent parts filled in."""
    whole = config_class(**given).to_dict()
    for name, part in (getattr(config_class, "sub_configs", None) or {}).items():
        if whole.get(name) is None and _is_config(part) and part is not AutoConfig:
            whole[name] = default_dict(part, {})
    return whole


def tiny_config(config_class: type[PretrainedConfig], recipe: dict[str, Any]) -> PretrainedConfig:
    """A tiny instance. The recipe's ``given`` holds before shrinking, its ``set`` afterwards; ``parts`` are recipes
    for attributes that hold a configuration of another class, which ``config_class`` does not make by itself."""
    tiny = merge(shrink(default_dict(config_class, recipe.get("given", {}))), recipe.get("set", {}))
    tiny.pop("transformers_version", None)
    config = config_class.from_dict(tiny)
    for name, part in recipe.get("parts", {}).items():
        setattr(config, name, tiny_config(resolve(part["config_class"]), part))
    return config


def resolve(path: str) -> Any:
    """The class or function that ``module:Class`` names."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def word_tokenizer(size: int) -> Any:
    """A fast tokenizer of ``size`` words, for classes that read the vocabulary while they are constructed."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from transformers import PreTrainedTokenizerFast

    words = {f"w{index}": index for index in range(size)}
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel(words, unk_token="w0")), unk_token="w0")


def arguments_of(recipe: dict[str, Any]) -> dict[str, Any]:
    """The constructor's arguments beside the configuration: each a call, ``module:name`` with its own arguments."""
    arguments = {}
    for name, call in recipe.get("arguments", {}).items():
        arguments[name] = resolve(call["call"])(**{key: value for key, value in call.items() if key != "call"})
    return arguments


def switch_on(config: PretrainedConfig, switches: dict[str, Any], cls: type) -> dict[str, Any]:
    """Set the fields of ``switches`` that are unset or false in ``config`` or a part of it.

    Gives the arguments for ``cls`` that do the same where the class takes the switch as an argument.
    """
    parts = [config, *(part for part in vars(config).values() if isinstance(part, PretrainedConfig))]
    for part in parts:
        for name, value in switches.items():
            if name in vars(part) and not getattr(part, name):
                setattr(part, name, value)
    known = inspect.signature(cls.__init__).parameters
    return {name: value for name, value in switches.items() if name in known}
