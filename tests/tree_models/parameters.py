"""Parameters: how they are made and registered, which are trained."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import Parameter as P
from torch.nn.parameter import Parameter

from .configs import Config


class Made(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.a = nn.Parameter(torch.ones(size))
        self.b = P(torch.empty(size, 2))
        self.c = Parameter(data=torch.zeros((size, config.vocab_size)))
        self.d: nn.Parameter = torch.nn.Parameter(torch.full((2, size), 0.5))
        self.e = self.f = nn.Parameter(torch.randn(size))
        self.g, self.h = nn.Parameter(torch.rand(1)), nn.Parameter(torch.eye(size))
        self.register_parameter("i", nn.Parameter(torch.zeros(size)))
        self.register_parameter(name="j", param=nn.Parameter(torch.zeros(size, size)))
        self.register_parameter("none", None)
        self.l = nn.Parameter(torch.linspace(0, 1, size))
        setattr(self, "m", nn.Parameter(torch.ones_like(self.a)))  # noqa: B010
        self.n = nn.Parameter(torch.zeros(size).unsqueeze(0))
        values = torch.zeros(size)
        self.o = nn.Parameter(values)
        self.p = nn.Parameter(torch.cat([torch.zeros(size), torch.ones(size)]))


class Filled(nn.Module):
    """A name that is ``None`` at first, or that a parameter replaces, and parameters of parts."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.register_parameter("bias", None)
        if config.bias:
            self.bias = nn.Parameter(torch.zeros(size))
        self.weight = None
        self.weight = nn.Parameter(torch.zeros(size))
        self.gate = nn.Linear(size, 2, bias=False)
        self.gate.e_score_correction_bias = nn.Parameter(torch.zeros(2))
        self.norm = nn.LayerNorm(size)
        self.norm.weight = nn.Parameter(torch.ones(size, dtype=torch.float32))
        self.gone = nn.Parameter(torch.zeros(1))
        del self.gone
        self.void = nn.Parameter(torch.zeros(1))
        self.void = None


class Frozen(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.a = nn.Parameter(torch.zeros(size), requires_grad=False)
        self.b = nn.Parameter(torch.zeros(size), False)
        self.c = nn.Parameter(torch.zeros(size), requires_grad=True)
        self.d = nn.Parameter(torch.zeros(size))
        self.d.requires_grad = False
        self.e = nn.Parameter(torch.zeros(size))
        self.e.requires_grad_(False)
        self.f = nn.Parameter(torch.zeros(size)).requires_grad_(False)
        self.g = nn.Linear(size, size).requires_grad_(False)
        self.h = nn.Linear(size, size)
        for parameter in self.h.parameters():
            parameter.requires_grad = False
        self.i = nn.Linear(size, size)
        self.i.weight.requires_grad_(False)
        self.j = nn.Parameter(torch.zeros(size, dtype=torch.int64), requires_grad=False)


CASES = {
    Made: [Config()],
    Filled: [Config(), Config(bias=True)],
    Frozen: [Config()],
}
