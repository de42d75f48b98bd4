"""Which layers of a configuration stay: the first ones and one of each kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

FIRST_LAYERS = 2

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


@dataclass(frozen=True)
class Plan:
    """Which layers of ``count`` stay: their old indices, rising."""

    count: int
    kept: tuple[int, ...]

    def before(self, layer: int) -> int:
        """How many of the kept layers come before the old index."""
        return sum(index < layer for index in self.kept)

    def sequence(self, items: Any) -> Any:
        """A per-layer list or string, with whatever follows the layers (entries for MTP) left in place."""
        kept = [items[index] for index in self.kept] + list(items[self.count :])
        return "".join(kept) if isinstance(items, str) else kept

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


def is_sequence(name: str, value: Any, count: int) -> bool:
    """Tell whether a field has an entry for each of ``count`` layers: a list, or a string of one letter each."""
    if not isinstance(value, (list, tuple)) and not (isinstance(value, str) and "pattern" in name):
        return False
    return count > 1 and count <= len(value) <= count + 4


def is_index_list(name: str, value: Any, count: int) -> bool:
    """Tell whether a field lists some of ``count`` layers by their indices."""
    if not INDEX_LIST.fullmatch(name) or not isinstance(value, (list, tuple)) or not 0 < len(value) < count:
        return False
    return all(type(item) is int and 0 <= item <= count for item in value)


def index_base(node: dict[str, Any], count: int) -> int:
    """1 where an index list names a layer that counting from 0 does not reach."""
    lists = [value for name, value in _facts(node) if is_index_list(name, value, count)]
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
        if is_sequence(name, value, count):
            kind.append(repr(value[layer]))
        elif is_index_list(name, value, count):
            kind.append(layer + index_base(node, count) in value)
        elif name == PER_LAYER and isinstance(value, dict):
            kind.append(repr({int(index): item for index, item in value.items()}.get(layer)))
        elif type(value) is int and THRESHOLD.fullmatch(name):
            kind.append(layer < value)
        elif type(value) is int and LAST_LAYERS.fullmatch(name):
            kind.append(layer >= count - value)
    return tuple(kind)
