"""One module or parameter under several names."""

from __future__ import annotations

import torch
from torch import nn

from .configs import Config


class Tied(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size, words = config.hidden_size, config.vocab_size
        self.embed = nn.Embedding(words, size)
        self.head = nn.Linear(size, words, bias=False)
        self.head.weight = self.embed.weight
        self.other = nn.Linear(size, words)
        if config.tied:
            self.other.weight = self.embed.weight
        self.scale = nn.Parameter(torch.ones(size))
        self.also_scale = self.scale
        self.setting = nn.Linear(size, words)
        setattr(self.setting, "weight", self.embed.weight)  # noqa: B010
        self.register_parameter("registered", self.embed.weight)


class Shared(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.block = nn.Sequential(nn.Linear(size, size), nn.LayerNorm(size))
        self.again = self.block
        self.part = self.block[0]
        norm = nn.LayerNorm(size)
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(size, 1), norm) for _ in range(2)])
        self.held = Holder(self.block, norm)
        self.experts = nn.ModuleList([nn.Linear(size, 1), nn.Linear(size, 2)])
        self.first_expert = self.experts[0]
        self.last_expert = self.experts[-1]


class Holder(nn.Module):
    def __init__(self, block: nn.Module, norm: nn.Module):
        super().__init__()
        self.block = block
        object.__setattr__(self, "parent", block)
        self.__dict__["norm_ref"] = norm
        self.refs = [norm]


class Child(nn.Module):
    """Knows its parent without registering it."""

    def __init__(self, parent: nn.Module, config: Config):
        super().__init__()
        self._parent = [parent]
        self.proj = nn.Linear(config.hidden_size, 1)


class Parent(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.child = Child(self, config)
        self.shared_norm = nn.LayerNorm(config.hidden_size)
        self.layers = nn.ModuleList([Child(self, config) for _ in range(config.num_layers)])
        for layer in self.layers:
            layer.norm = self.shared_norm


CASES = {
    Tied: [Config(), Config(tied=True)],
    Shared: [Config()],
    Parent: [Config(), Config(num_layers=3)],
}
