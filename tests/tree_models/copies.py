"""Copies of modules are modules of their own."""

from __future__ import annotations

import copy
from copy import deepcopy

from torch import nn

from .configs import Config


class Block(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.proj = nn.Linear(size, size, bias=False)
        self.register_buffer("seen", self.proj.weight.detach().clone(), persistent=False)


class Copied(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.block = Block(size)
        self.copied = deepcopy(self.block)
        self.copied.extra = nn.Linear(size, 1)
        self.block.own = nn.Linear(size, 1)
        self.layers = nn.ModuleList([copy.deepcopy(Block(size)) for _ in range(config.num_layers)])
        template = Block(size)
        self.cloned = nn.ModuleList([deepcopy(template) for _ in range(config.num_layers)])
        self.pair = nn.ModuleList([template, copy.deepcopy(template)])
        self.container = deepcopy(self.pair)
        inner = copy.copy(config)
        inner.bias = True
        self.changed = nn.Linear(size, 1, bias=inner.bias)
        self.unchanged = nn.Linear(size, 1, bias=config.bias)
        deep = deepcopy(config)
        deep.num_layers = 1
        self.few = nn.ModuleList([Block(size) for _ in range(deep.num_layers)])


CASES = {Copied: [Config(), Config(bias=True, num_layers=3)]}
