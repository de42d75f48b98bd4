"""``nn.Sequential`` and the containers of parameters."""

from __future__ import annotations

import collections
from collections import OrderedDict

import torch
from torch import nn

from .configs import Config


class Written(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.plain = nn.Sequential(nn.Linear(size, 4), nn.GELU(), nn.Linear(4, size, bias=False))
        self.named = nn.Sequential(
            OrderedDict([("fc1", nn.Linear(size, 4)), ("act", nn.ReLU()), ("fc2", nn.Linear(4, 1))])
        )
        self.from_dict = nn.Sequential(collections.OrderedDict(a=nn.Linear(size, 4), b=nn.LayerNorm(4)))
        self.literal = nn.Sequential(OrderedDict({"a": nn.Linear(size, 4), "b": nn.LayerNorm(4)}))
        parts = [nn.Linear(size, 4)]
        parts.append(nn.ReLU())
        parts += [nn.Linear(4, 2)]
        self.spread = nn.Sequential(*parts)
        self.appended = nn.Sequential()
        self.appended.append(nn.Linear(size, 4))
        self.appended.append(nn.LayerNorm(4))
        self.chained = nn.Sequential(nn.Linear(size, 4)).append(nn.LayerNorm(4))
        self.added = nn.Sequential()
        self.added.add_module("first", nn.Linear(size, 4))
        self.added.add_module("second", nn.LayerNorm(4))
        self.nested = nn.Sequential(nn.Sequential(nn.Linear(size, 4), nn.ReLU()), nn.Linear(4, 1))
        self.replaced = nn.Sequential(nn.Linear(size, 4), nn.ReLU())
        self.replaced[0] = nn.LayerNorm(size)
        self.ordered = OrderedDict()
        ordered = OrderedDict()
        ordered["a"] = nn.Linear(size, 4)
        ordered["b"] = nn.LayerNorm(4)
        self.filled = nn.Sequential(ordered)
        self.extended = nn.Sequential(nn.Linear(size, 4)).extend([nn.LayerNorm(4), nn.Linear(4, 2)])
        self.sliced = nn.Sequential(nn.Linear(size, 4), nn.LayerNorm(4), nn.Linear(4, 2))[:-1]


class Depending(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.deep = nn.Sequential(*[nn.Linear(size, size) for _ in range(config.num_layers)])
        parts: list[nn.Module] = []
        for _ in range(config.num_layers):
            parts.extend([nn.Linear(size, size), nn.ReLU()])
        self.spread = nn.Sequential(*parts)
        self.norm = nn.Sequential(nn.Linear(size, 1), nn.LayerNorm(1) if config.bias else nn.Identity())
        tail = [nn.Linear(size, 1)]
        if config.gated:
            tail.append(nn.LayerNorm(1))
        self.tail = nn.Sequential(*tail)


class Parameters(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.fixed = nn.ParameterList([nn.Parameter(torch.zeros(size)), nn.Parameter(torch.zeros(2))])
        self.counted = nn.ParameterList([nn.Parameter(torch.zeros(size)) for _ in range(config.num_layers)])
        self.appended = nn.ParameterList()
        for _ in range(config.num_layers):
            self.appended.append(nn.Parameter(torch.zeros(size)))
        self.tensors = nn.ParameterList([torch.zeros(size), torch.zeros(2)])
        self.by_key = nn.ParameterDict({"a": nn.Parameter(torch.zeros(size)), "b": nn.Parameter(torch.zeros(1))})
        self.assigned = nn.ParameterDict()
        self.assigned["a"] = nn.Parameter(torch.zeros(size))
        for name in config.names:
            self.assigned[f"of_{name}"] = nn.Parameter(torch.zeros(size))
        self.plain_key = nn.ParameterDict({"a": torch.zeros(size)})


class Stack(nn.Sequential):
    """A sequence with a class of its own."""

    def __init__(self, size: int):
        super().__init__(nn.Linear(size, 4), nn.ReLU(), nn.Linear(4, 2))


class Named(nn.Sequential):
    def __init__(self, size: int, layers: int):
        parts = OrderedDict()
        parts["first"] = nn.Linear(size, 4)
        for index in range(layers):
            parts[f"layer{index}"] = nn.Linear(4, 4)
        super().__init__(parts)


class Layers(nn.ModuleList):
    def __init__(self, size: int, count: int):
        super().__init__([nn.Linear(size, size) for _ in range(count)])


class Growing(nn.ModuleList):
    def __init__(self, size: int, count: int):
        super().__init__()
        for _ in range(count):
            self.append(nn.Linear(size, size))
        self.norm = nn.LayerNorm(size)


class Table(nn.ModuleDict):
    def __init__(self, size: int):
        super().__init__({"a": nn.Linear(size, 1)})
        self["b"] = nn.Linear(size, 2)


class Subclasses(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.stack = Stack(size)
        self.named = Named(size, config.num_layers)
        self.layers = Layers(size, config.num_layers)
        self.growing = Growing(size, config.num_layers)
        self.table = Table(size)


CASES = {
    Written: [Config()],
    Depending: [Config(), Config(num_layers=3, bias=True), Config(gated=True)],
    Parameters: [Config(), Config(num_layers=3, names=("a", "b", "c"))],
    Subclasses: [Config(), Config(num_layers=3)],
}
