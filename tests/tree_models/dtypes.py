"""The dtypes that tensors are allocated with."""

from __future__ import annotations

import torch
from torch import float32, nn

from .configs import Config

HALF = torch.bfloat16
BY_NAME = {"bf16": torch.bfloat16, "fp32": torch.float32}


def allocated(size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.zeros(size, dtype=dtype)


class Parameters(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.default = nn.Parameter(torch.zeros(size))
        self.fp32 = nn.Parameter(torch.zeros(size, dtype=torch.float32))
        self.short = nn.Parameter(torch.zeros(size, dtype=float32))
        self.alias = nn.Parameter(torch.zeros(size, dtype=torch.float))
        self.as_half = nn.Parameter(torch.zeros(size, dtype=torch.half))
        self.as_double = nn.Parameter(torch.zeros(size, dtype=torch.double))
        self.constant = nn.Parameter(torch.ones(size, dtype=HALF))
        self.full = nn.Parameter(torch.full((size,), 1.0, dtype=torch.bfloat16))
        self.number = nn.Parameter(torch.tensor(1.0, dtype=torch.float32))
        self.as_to = nn.Parameter(torch.zeros(size).to(torch.float32))
        self.to_dtype = nn.Parameter(torch.zeros(size).to(dtype=torch.float32))
        self.called_float = nn.Parameter(torch.zeros(size).float())
        self.called_half = nn.Parameter(torch.zeros(size, dtype=torch.float32).bfloat16())
        self.like = nn.Parameter(torch.zeros_like(self.fp32))
        self.like_other = nn.Parameter(torch.ones_like(self.fp32, dtype=torch.float16))
        self.computed = nn.Parameter(torch.log(torch.arange(1, size + 1, dtype=torch.float32)))
        self.sum = nn.Parameter(torch.zeros(size, dtype=torch.float32) + 1)
        self.negative = nn.Parameter(-torch.ones(size, dtype=torch.float32))
        self.inverse = nn.Parameter(1.0 / torch.ones(size, dtype=torch.float32))
        self.viewed = nn.Parameter(torch.ones(size, dtype=torch.float32).view(-1, 1).repeat(1, 2))
        self.helper = nn.Parameter(allocated(size))
        self.helped = nn.Parameter(allocated(size, torch.bfloat16))
        self.cloned = nn.Parameter(self.fp32.detach().clone())
        self.by_table = nn.Parameter(torch.zeros(size, dtype=BY_NAME["fp32"]))
        self.by_getattr = nn.Parameter(torch.zeros(size, dtype=getattr(torch, "float32")))  # noqa: B009
        self.random = nn.Parameter(torch.randn(size, dtype=torch.float32).abs())
        self.empty = nn.Parameter(torch.empty((size, size), dtype=torch.float32, device="cpu"))
        self.scaled = nn.Parameter(torch.empty(size, dtype=torch.float32).uniform_(0, 1))


class Buffers(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.register_buffer("default", torch.zeros(size))
        self.register_buffer("fp32", torch.zeros(size, dtype=torch.float32))
        self.register_buffer("int64", torch.arange(size))
        self.register_buffer("int32", torch.zeros(size, dtype=torch.int32))
        self.register_buffer("flags", torch.zeros(size, dtype=torch.bool))
        self.register_buffer("inv_freq", 1.0 / (10000 ** (torch.arange(0, size, 2).float() / size)))
        self.register_buffer("steps", torch.arange(0, size, dtype=torch.float32))
        self.register_buffer("outer", torch.outer(self.steps, self.steps), persistent=False)
        self.register_buffer("cos", self.outer.cos().to(torch.bfloat16))
        self.assigned = nn.Buffer(torch.zeros(size, dtype=torch.float32))
        self.register_buffer("replaced", torch.zeros(size))
        self.replaced = torch.zeros(size, dtype=torch.float32)


class FromConfig(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size, dtype = config.hidden_size, config.store_dtype
        self.weight = nn.Parameter(torch.zeros(size, dtype=dtype))
        self.linear = nn.Linear(size, 1, dtype=config.store_dtype)
        self.norm = nn.LayerNorm(size, dtype=torch.float32)
        self.part = Typed(size, dtype=dtype)
        self.fixed = Typed(size)
        self.cast = nn.Linear(size, 1).to(dtype)
        self.register_buffer("table", torch.zeros(size, dtype=dtype))
        self.chosen = nn.Parameter(torch.zeros(size, dtype=torch.float32 if config.bias else torch.bfloat16))
        self.module_default = nn.Linear(size, 1, dtype=torch.get_default_dtype())


class Typed(nn.Module):
    def __init__(self, size: int, dtype: torch.dtype = torch.bfloat16):
        super().__init__()
        self.proj = nn.Linear(size, 1, dtype=dtype)
        self.bias = nn.Parameter(torch.zeros(size, dtype=torch.float32))
        self.scale = nn.Parameter(torch.zeros(size, dtype=dtype))


class Cast(nn.Module):
    """Modules that are cast after they were made."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.cast_to = nn.Linear(size, 1).to(torch.float32)
        self.to_keyword = nn.Linear(size, 1).to(dtype=torch.float32)
        self.called_float = nn.LayerNorm(size).float()
        self.as_half = nn.Sequential(nn.Linear(size, 1), nn.LayerNorm(1)).bfloat16()
        self.later = nn.Linear(size, 1)
        self.later.to(torch.float32)
        self.later_half = nn.ModuleList([nn.Linear(size, 1) for _ in range(config.num_layers)])
        self.later_half.half()
        for layer in self.later_half:
            layer.weight.data = layer.weight.data.to(torch.float32)
        self.on_device = nn.Linear(size, 1).to("cpu")


class CastWhole(nn.Module):
    """The tree has what tensors are allocated with: what a cast of the whole model rounds is for rules to say."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.pinned = nn.Parameter(torch.zeros(size, dtype=torch.float32))
        self.register_buffer("steps", torch.arange(size))
        self.register_buffer("table", torch.zeros(size))
        self.to(torch.bfloat16)
        self.after = nn.Parameter(torch.zeros(size, dtype=torch.float32))


CASES = {
    Parameters: [Config()],
    Buffers: [Config()],
    FromConfig: [Config(store_dtype=torch.float16), Config(), Config(bias=True, store_dtype=torch.bfloat16)],
    Cast: [Config()],
    CastWhole: [Config()],
}
# Rounded by the cast of the whole model.
UNFOLLOWED = ["pinned", "table"]
