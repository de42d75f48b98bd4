"""Tensors that are split, put together, dropped and made up; adapters of adapters, mixins, shared helpers."""

from __future__ import annotations

from collections import defaultdict
from functools import partial

import torch

from .body import Adapter, Config, Model
from .texts import ReplaceAdapter, SlicesAdapter


class ByExpert:
    """Splits grouped experts, and stacks them again; who is derived from it names its part of the tree."""

    @property
    def _segment(self):
        return "experts"

    def _split(self, name, tensor):
        which = name.rpartition(".")[2]
        if f".{self._segment}.{which}" not in name:
            return None
        if tensor.ndim != 3 or tensor.shape[0] != self.config.experts:
            raise ValueError(f"{name}: {tuple(tensor.shape)}")
        start = name[: -len(which)]
        return [(f"{start}{index}.{which}", tensor[index].contiguous()) for index in range(self.config.experts)]

    def _stacked(self, state_dict):
        groups, made = defaultdict(dict), {}
        for name in list(state_dict):
            tensor = state_dict.pop(name)
            start, _, end = name.partition(f".{self._segment}.")
            index, _, which = end.partition(".")
            if index.isdigit():
                groups[f"{start}.experts.{which}"][int(index)] = tensor
            else:
                made[name] = tensor
        for name, parts in groups.items():
            if len(parts) == self.config.experts:
                made[name] = torch.stack([parts[i] for i in sorted(parts)])
        return made


class Grouped(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = GroupedAdapter(config)


class GroupedAdapter(ByExpert, Adapter):
    def convert(self, name, tensor, **kwargs):
        return self._split(name, tensor) or [(name, tensor)]

    def from_hf(self, state_dict, device_mesh=None, **kwargs):
        return self._stacked(state_dict)


class Fused(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = FusedAdapter(config)


class FusedAdapter(Adapter):
    def to_hf(self, state_dict, **kwargs):
        made, parts = {}, defaultdict(dict)
        for name, tensor in state_dict.items():
            start, found, end = name.partition(".attn.")
            if found:
                parts[start][end.split(".")[0]] = tensor
                continue
            made[name] = tensor
        for start, qkv in parts.items():
            made[f"{start}.attn.qkv.weight"] = torch.cat([qkv[part] for part in "qkv"], dim=0)
        return made

    def from_hf(self, state_dict, device_mesh=None, **kwargs):
        made = dict(state_dict)
        for name in [n for n in state_dict if n.endswith(".qkv.weight")]:
            for part, tensor in zip("qkv", made.pop(name).chunk(3), strict=True):
                made[name.replace(".qkv.", f".{part}.")] = tensor
        return made


class InPlace(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = InPlaceAdapter(config)


class InPlaceAdapter(Adapter):
    def to_hf(self, state_dict, **kwargs):
        for name in list(state_dict.keys()):
            if name.startswith("model."):
                state_dict["x" + name] = state_dict.pop(name)
        if "lm_head.weight" in state_dict:
            del state_dict["lm_head.weight"]
        state_dict["version"] = torch.ones(1)
        return state_dict

    def from_hf(self, state_dict, device_mesh=None, **kwargs):
        renamed = ((n[1:], t) for n, t in state_dict.items() if n != "version")
        return {**dict(renamed), "lm_head.weight": state_dict["xmodel.embed.weight"].clone()}


class Inner(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = InnerAdapter.of(config)


class InnerAdapter(Adapter):
    def __init__(self, config, prefix):
        super().__init__(config)
        self.parts = [ReplaceAdapter(config)]
        self.inner, self.prefixed = GroupedAdapter(config), partial(_prefixed, prefix)

    @classmethod
    def of(cls, config):
        return cls(config, "net.")

    def to_hf(self, state_dict, **kwargs):
        made = self.inner.to_hf(state_dict, **kwargs)
        for part in self.parts:
            made = part.to_hf(made)
        return dict(self._all(made))

    def _all(self, state_dict):
        for name, tensor in state_dict.items():
            yield self.prefixed(name), tensor

    def from_hf(self, state_dict, device_mesh=None, **kwargs):
        bare = {name.removeprefix("net."): tensor for name, tensor in state_dict.items()}
        for part in reversed(self.parts):
            bare = part.from_hf(bare)
        return self.inner.from_hf(bare)


def _prefixed(prefix, name):
    return prefix + name


class Derived(Model):
    """Its adapter is a property, and goes on where its base ends."""

    @property
    def state_dict_adapter(self):
        return DerivedAdapter(self.config)


class DerivedAdapter(SlicesAdapter):
    def stored(self, name):
        made = super().stored(name)
        return made if made.startswith("backbone.") else f"backbone.{made}"

    def native(self, name):
        return super().native(name if name.startswith("backbone.blocks") else name.removeprefix("backbone."))


class Single(Model):
    """Its adapter converts a whole state dict otherwise than one tensor."""

    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = SingleAdapter(config)


class SingleAdapter(GroupedAdapter):
    def to_hf(self, state_dict, **kwargs):
        made = {}
        for name, tensor in state_dict.items():
            made.update(self.convert_single_tensor_to_hf(name.replace("lm_head", "head"), tensor))
        return made

    def convert_single_tensor_to_hf(self, fqn, tensor, **kwargs):
        if fqn == "model.norm.weight":
            return []
        return [(f"x.{name}", value) for name, value in self.convert(fqn, tensor)]

    def from_hf(self, state_dict, device_mesh=None, **kwargs):
        return super().from_hf({name[2:].replace("head", "lm_head"): t for name, t in state_dict.items()})


HAND = {
    "Grouped": {
        "model.layers.*.experts.up": ["model.layers.*.experts.*.up"],
        "model.layers.*.experts.down": ["model.layers.*.experts.*.down"],
    },
    "Fused": {
        "model.layers.*.attn.q.weight": ["model.layers.*.attn.qkv.weight"],
        "model.layers.*.attn.k.weight": ["model.layers.*.attn.qkv.weight"],
        "model.layers.*.attn.v.weight": ["model.layers.*.attn.qkv.weight"],
    },
    "InPlace": {
        "model.embed.weight": ["xmodel.embed.weight"],
        "model.layers.*.attn.q.weight": ["xmodel.layers.*.attn.q.weight"],
        "model.layers.*.attn.k.weight": ["xmodel.layers.*.attn.k.weight"],
        "model.layers.*.attn.v.weight": ["xmodel.layers.*.attn.v.weight"],
        "model.layers.*.experts.up": ["xmodel.layers.*.experts.up"],
        "model.layers.*.experts.down": ["xmodel.layers.*.experts.down"],
        "model.layers.*.norm.weight": ["xmodel.layers.*.norm.weight"],
        "model.norm.weight": ["xmodel.norm.weight"],
        "lm_head.weight": [],
        "": ["version"],
    },
    "Inner": {
        "model.embed.weight": ["net.model.embed.weight"],
        "model.layers.*.attn.q.weight": ["net.backbone.blocks.*.attention.q.weight"],
        "model.layers.*.attn.k.weight": ["net.backbone.blocks.*.attention.k.weight"],
        "model.layers.*.attn.v.weight": ["net.backbone.blocks.*.attention.v.weight"],
        "model.layers.*.experts.up": ["net.backbone.blocks.*.experts.*.up"],
        "model.layers.*.experts.down": ["net.backbone.blocks.*.experts.*.down"],
        "model.layers.*.norm.weight": ["net.backbone.blocks.*.norm.weight"],
        "model.norm.weight": ["net.model.norm.weight"],
        "lm_head.weight": ["net.output.weight"],
    },
    "Single": {
        "model.embed.weight": ["x.model.embed.weight"],
        "model.layers.*.attn.q.weight": ["x.model.layers.*.attn.q.weight"],
        "model.layers.*.attn.k.weight": ["x.model.layers.*.attn.k.weight"],
        "model.layers.*.attn.v.weight": ["x.model.layers.*.attn.v.weight"],
        "model.layers.*.experts.up": ["x.model.layers.*.experts.*.up"],
        "model.layers.*.experts.down": ["x.model.layers.*.experts.*.down"],
        "model.layers.*.norm.weight": ["x.model.layers.*.norm.weight"],
        "model.norm.weight": [],
        "lm_head.weight": ["x.head.weight"],
    },
    "Derived": {
        "model.embed.weight": ["backbone.embed.weight"],
        "model.layers.*.attn.q.weight": ["backbone.blocks.*.attn.q.weight"],
        "model.layers.*.attn.k.weight": ["backbone.blocks.*.attn.k.weight"],
        "model.layers.*.attn.v.weight": ["backbone.blocks.*.attn.v.weight"],
        "model.layers.*.experts.up": ["backbone.blocks.*.experts.up"],
        "model.layers.*.experts.down": ["backbone.blocks.*.experts.down"],
        "model.layers.*.norm.weight": ["backbone.blocks.*.norm.weight"],
        "model.norm.weight": ["backbone.final.weight"],
        "lm_head.weight": ["backbone.output.weight"],
    },
}
HAND_SINGLY = {
    "model.layers.*.experts.up": ["x.model.layers.*.experts.*.up"],
    "model.norm.weight": [],
    "lm_head.weight": ["x.lm_head.weight"],
}
# The way back of Derived takes what its base would have made of the embedding for a name of its own.
ONE_WAY = {"Derived": ["model.embed.weight"]}
