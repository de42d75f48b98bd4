"""The dictionary of a configuration made tiny: recursively, and with the relations between its fields put back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from automodel_lint.probe.worker.tiny.layers import (
    FIRST_LAYERS,
    LABELS,
    LAST_LAYERS,
    LAYER_COUNTS,
    LAYER_INDEX,
    OTHER_COUNT,
    PER_LAYER,
    THRESHOLD,
    Plan,
    index_base,
    is_index_list,
    is_sequence,
    make_plan,
)
from automodel_lint.probe.worker.tiny.sizes import TEXT, VOCABULARY, Sizes, role_of

TOKEN = re.compile(r".*(token|start|end|sep|pad|bos|eos)_(id|ids|index)|.*token_ids?|.*_start_id|.*_end_id")
SMALL_TOKEN, FIRST_TOKEN = 64, 100  # ids below the first stay; the others become those from the second on
UNTOUCHED = ("rope_parameters", "rope_scaling")
# but for these: an original length above the tiny one or above that of the inputs leaves a scaling without work
POSITIONS = {"original_max_position_embeddings": 8, "max_position_embeddings": 64}
TEXT_PART = re.compile(r".*(text|llm|language|thinker).*config|decoder")


@dataclass
class Shrinker:
    """What all parts of one configuration share."""

    keep_head_dim: bool = False
    keep_ties: bool = False
    tokens: dict[int, int] = field(default_factory=dict)
    text_hidden: int | None = None

    def shrink(self, whole: dict[str, Any]) -> dict[str, Any]:
        """Return the dictionary of a configuration with tiny sizes; ``whole`` stays as it is."""
        large = sorted({item for item in _token_ids(whole) if item >= SMALL_TOKEN})
        room = VOCABULARY - FIRST_TOKEN
        self.tokens = {item: FIRST_TOKEN + place % room for place, item in enumerate(large)}
        self.text_hidden = _text_hidden(whole)
        return self.part(whole, TEXT, None, None)

    def part(self, node: dict[str, Any], role: str, plan: Plan | None, sizes: Sizes | None) -> dict[str, Any]:
        """Return a part of the whole, made tiny; ``plan`` and ``sizes`` are those of what it lies in."""
        own = make_plan(node)
        plan = own or plan
        if sizes is None or "model_type" in node or own:
            sizes = Sizes(node, role, self.text_hidden, self.keep_head_dim, self.keep_ties)
        tiny = {name: self.field(name, value, plan, sizes) for name, value in node.items()}
        if own:
            tiny.update({name: len(own.kept) for name in LAYER_COUNTS if node.get(name) == own.count})
        _reconcile(node, tiny, sizes)
        return tiny

    def field(self, name: str, value: Any, plan: Plan | None, sizes: Sizes) -> Any:
        """Return what the field ``name`` of a part becomes."""
        if name in LABELS or (name in UNTOUCHED and not _holds_parts(value)):
            return value
        if name == "quantization_config":
            return None
        if name == PER_LAYER and isinstance(value, dict) and plan:
            return self.per_layer(value, plan, sizes)
        if isinstance(value, dict):
            whole = "model_type" in value
            return self.part(value, role_of(name, sizes.role), None if whole else plan, None if whole else sizes)
        if plan and is_sequence(name, value, plan.count):
            return plan.sequence(value)
        if plan and is_index_list(name, value, plan.count):
            return plan.indices(value, index_base(sizes.node, plan.count))
        if isinstance(value, (list, tuple)):
            return self.items(name, value, sizes)
        return self.integer(name, value, plan, sizes) if type(value) is int else value

    def items(self, name: str, values: Any, sizes: Sizes) -> Any:
        """Return a list that is none of layers: of token ids, or of widths."""
        if TOKEN.fullmatch(name):
            return [self.tokens.get(item, item) if type(item) is int else item for item in values]
        return values

    def per_layer(self, value: dict[Any, Any], plan: Plan, sizes: Sizes) -> dict[str, Any]:
        """Return the exceptions of single layers, under the new indices."""
        width = len(str(len(plan.kept) - 1))
        kept = {int(index): item for index, item in value.items() if int(index) in plan.kept}
        return {f"{plan.before(i):0{width}d}": self.part(item, sizes.role, None, sizes) for i, item in kept.items()}

    def integer(self, name: str, value: int, plan: Plan | None, sizes: Sizes) -> int:
        """Return what a number becomes."""
        if TOKEN.fullmatch(name):
            return self.tokens.get(value, value)
        if plan and THRESHOLD.fullmatch(name):
            return plan.before(value)
        if plan and LAST_LAYERS.fullmatch(name):
            return len(plan.kept) - plan.before(plan.count - value)
        if plan and LAYER_INDEX.fullmatch(name):
            return max(plan.before(value + 1) - 1, 0)
        if OTHER_COUNT.fullmatch(name):
            return min(value, FIRST_LAYERS)
        return sizes.of(name, value)


def _holds_parts(value: Any) -> bool:
    return isinstance(value, dict) and "model_type" in value


def _token_ids(node: Any) -> Iterator[int]:
    for name, value in node.items():
        if isinstance(value, dict):
            yield from _token_ids(value)
        elif TOKEN.fullmatch(str(name)):
            yield from (item for item in (value if isinstance(value, (list, tuple)) else [value]) if type(item) is int)


def _text_hidden(node: dict[str, Any]) -> int | None:
    for name, value in node.items():
        if isinstance(value, dict) and TEXT_PART.fullmatch(name):
            found = _text_hidden(value)
            if found:
                return found
    found = node.get("hidden_size") or node.get("d_model")
    return found if type(found) is int else None


def _reconcile(node: dict[str, Any], tiny: dict[str, Any], sizes: Sizes) -> None:
    """Put back the relations between fields that shrinking each for itself has broken."""
    if all(type(tiny.get(part)) is int for part in ("qk_nope_head_dim", "qk_rope_head_dim")):
        if "qk_head_dim" in tiny:
            tiny["qk_head_dim"] = tiny["qk_nope_head_dim"] + tiny["qk_rope_head_dim"]
        if type(node.get("head_dim")) is int:
            total = node["qk_nope_head_dim"] + node["qk_rope_head_dim"]
            tiny["head_dim"] = tiny["qk_rope_head_dim"] if node["head_dim"] < total else tiny["qk_head_dim"]
    patch = next((node[name] for name in ("patch_size", "vit_patch_size") if type(node.get(name)) is int), None)
    for name in ("image_size", "max_img_size"):
        if patch and node.get(name):
            tiny[name] = 4 * patch if type(node[name]) is int else [4 * patch] * len(node[name])
    for name in node:
        if re.fullmatch(r".*pos_emb_(height|width|grid_[hw])|.*num_patch_per_side", name):
            tiny[name] = 4
    if type(node.get("num_position_embeddings")) is int:
        tiny["num_position_embeddings"] = 16
    for name in UNTOUCHED:
        if isinstance(node.get(name), dict):
            tiny[name] = _rotary(node[name], sizes.head_dim)


def _rotary(node: dict[str, Any], head_dim: tuple[int, int]) -> dict[str, Any]:
    """The parameters of rotary embeddings, with the sections of their dimensions in the ratio of the head's."""
    made = dict(node)
    for name, value in node.items():
        if isinstance(value, dict):
            made[name] = _rotary(value, head_dim)
        elif name == "mrope_section" and value and all(head_dim):
            made[name] = sections(value, head_dim[1] * sum(value) // head_dim[0])
        elif name in POSITIONS and type(value) is int:
            made[name] = min(value, POSITIONS[name])
    return made


def sections(old: list[int], total: int) -> list[int]:
    """Divide ``total`` in the ratios of ``old``, by the largest remainders."""
    exact = [part * total / sum(old) for part in old]
    new = [int(part) for part in exact]
    by_remainder = sorted(range(len(old)), key=lambda i: new[i] - exact[i])
    for place in by_remainder[: total - sum(new)]:
        new[place] += 1
    return new
