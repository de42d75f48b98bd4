"""Buffers, persistent or not, registered or assigned."""

from __future__ import annotations

import torch
from torch import nn

from .configs import Config


class Registered(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.register_buffer("a", torch.zeros(size))
        self.register_buffer("b", torch.zeros(size, 2), persistent=False)
        self.register_buffer("c", torch.zeros(size), False)
        self.register_buffer(name="d", tensor=torch.ones(size), persistent=True)
        self.register_buffer("none", None)
        self.register_buffer("later", None, persistent=False)
        self.later = torch.zeros(size)
        self.register_buffer("again", torch.zeros(size), persistent=False)
        self.again = torch.ones(size, size)
        keep = False
        self.register_buffer("e", torch.arange(size), persistent=keep)
        inverse = 1.0 / (10000 ** (torch.arange(0, size, 2, dtype=torch.int64).float() / size))
        self.register_buffer("inv_freq", inverse, persistent=False)
        self.original = self.inv_freq
        self.f: torch.Tensor
        self.register_buffer("f", torch.tensor([1, 2, 3]))
        self.register_buffer("g", torch.tril(torch.ones(size, size, dtype=torch.bool)))


class Assigned(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.a = nn.Buffer(torch.zeros(size))
        self.b = nn.Buffer(torch.zeros(size), persistent=False)
        self.d = torch.nn.Buffer(data=torch.ones(size), persistent=True)
        self.e = torch.nn.parameter.Buffer(torch.ones(size))
        self.inner = nn.Module()
        self.inner.f = nn.Buffer(torch.ones(1), persistent=False)
        self.inner.register_buffer("g", torch.ones(1))
        self.changed = nn.Buffer(torch.ones(1))
        self.changed -= 0.5
        self.replaced = nn.Buffer(torch.ones(1), persistent=False)
        self.replaced = self.replaced * 2
        self.gone = nn.Buffer(torch.ones(1))
        del self.gone
        self.void = nn.Buffer(torch.ones(1))
        self.void = None


class Sometimes(nn.Module):
    """Persistence and presence by configuration; the same name as a parameter or a buffer."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.register_buffer("kept", torch.zeros(size), persistent=config.tied)
        if config.bias:
            self.register_buffer("table", torch.zeros(size))
        else:
            self.table = nn.Parameter(torch.zeros(size))
        if config.gated:
            self.register_buffer("gate", torch.zeros(size))
        else:
            self.register_buffer("gate", None)
        self.sometimes = nn.Buffer(torch.zeros(size)) if config.bias else None


class Named(nn.Module):
    """Names that are put together."""

    def __init__(self, config: Config):
        super().__init__()
        for name in ("cos", "sin"):
            self.register_buffer(f"{name}_cached", torch.zeros(4), persistent=False)
        for index in range(config.num_layers):
            self.register_buffer(f"mask_{index}", torch.zeros(4))
        prefix = "table"
        self.register_buffer(prefix + "_a", torch.zeros(4))
        self.register_buffer("{}_b".format(prefix), torch.zeros(4))  # noqa: UP032
        self.register_buffer("%s_c" % prefix, torch.zeros(4))  # noqa: UP031


CASES = {
    Registered: [Config()],
    Assigned: [Config()],
    Sometimes: [Config(), Config(tied=True), Config(bias=True), Config(gated=True)],
    Named: [Config(), Config(num_layers=3)],
}
