"""Submodules and how an attribute can be given one."""

from __future__ import annotations

import torch
import torch.nn as layers
from torch import nn
from torch.nn import Linear as Dense

from .configs import Config


class Inner(nn.Module):
    def __init__(self, width: int, bias: bool = True):
        super().__init__()
        self.up = nn.Linear(width, 2 * width, bias=bias)
        self.act = nn.SiLU()
        self.down = nn.Linear(2 * width, width, bias=False)


class Nested(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.inner = Inner(config.hidden_size)
        self.plain: nn.Module = Inner(config.hidden_size, bias=False)
        self.norm = layers.LayerNorm(config.hidden_size)
        self.head = Dense(config.hidden_size, config.vocab_size, False)
        self.last = torch.nn.modules.linear.Linear(config.hidden_size, 3)


class Targets(nn.Module):
    """Tuples, chains, walrus, an attribute of an attribute, a local in between."""

    def __init__(self, config: Config):
        nn.Module.__init__(self)
        size = config.hidden_size
        self.a, self.b = nn.Linear(size, 1), nn.Linear(size, 2, bias=False)
        (self.c, [self.d, self.e]) = nn.ReLU(), (nn.LayerNorm(size), nn.Identity())
        self.f = self.g = nn.Linear(size, 4)
        if (made := nn.Linear(size, 5)) is not None:
            self.h = made
        first, *others = [nn.Linear(size, 6), nn.Linear(size, 7), nn.Linear(size, 8)]
        self.first = first
        self.others = nn.ModuleList(others)
        self.root = nn.Module()
        self.root.branch = nn.Module()
        self.root.branch.leaf = nn.Linear(1, 1)
        this = self
        this.under = nn.Linear(2, 2)


class Unregistered(nn.Module):
    """What holds a module without registering it."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.in_list = [nn.Linear(size, 1)]
        self.in_tuple = (nn.Linear(size, 2), nn.Linear(size, 3))
        self.in_dict = {"a": nn.Linear(size, 4)}
        object.__setattr__(self, "hidden", nn.Linear(size, 5))
        self.__dict__["also_hidden"] = nn.Linear(size, 6)
        self._refs = []
        self._refs.append(nn.Linear(size, 7))
        local = nn.Linear(size, 8)
        del local
        self.make = lambda: nn.Linear(size, 9)
        self.size = size
        self.tensor = torch.zeros(size)
        self.seen = nn.Linear(size, 10)


class Deleted(nn.Module):
    """Attributes that are taken away or replaced."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.first = nn.Linear(size, 1)
        self.second = nn.Linear(size, 2)
        self.third = nn.Linear(size, 3)
        self.fourth = nn.Linear(size, 4)
        self.fifth = nn.Linear(size, 5)
        self.sixth = nn.Linear(size, 6)
        self.seventh = nn.Linear(size, 7)
        self.inner = Inner(size)
        del self.first
        delattr(self, "second")
        self.third = None
        self.fourth = nn.Identity()
        self.fifth = Inner(size)
        self.sixth.bias = None
        del self.seventh.bias
        self.inner.down = nn.Linear(size, size, bias=True)
        del self.inner.up
        if config.bias:
            self.late = nn.Linear(size, 8)
        else:
            self.late = None
        setattr(self, "made", nn.Linear(size, 9))  # noqa: B010


class DeletedSometimes(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size)
        self.norm = nn.LayerNorm(config.hidden_size)
        if config.tied:
            del self.lm_head
        if config.bias:
            self.norm = None


CASES = {
    Nested: [Config()],
    Targets: [Config()],
    Unregistered: [Config()],
    Deleted: [Config(), Config(bias=True)],
    DeletedSometimes: [Config(), Config(tied=True), Config(bias=True)],
}
