"""The model that all adapters of this folder serve, and what they are derived from."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

STORED = "backbone.blocks."


class Config:
    def __init__(self, layers: int = 2, experts: int = 3, width: int = 4, nested: bool = True):
        self.layers, self.experts, self.width, self.nested = layers, experts, width, nested


class Attention(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.q = nn.Linear(config.width, config.width, bias=False)
        self.k = nn.Linear(config.width, config.width, bias=False)
        self.v = nn.Linear(config.width, config.width, bias=False)


class Experts(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.up = nn.Parameter(torch.empty(config.experts, config.width, config.width))
        self.down = nn.Parameter(torch.empty(config.experts, config.width, config.width))


class Layer(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.attn = Attention(config)
        self.experts = Experts(config)
        self.norm = nn.LayerNorm(config.width, bias=False)


class Body(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.embed = nn.Embedding(8, config.width)
        self.layers = nn.ModuleList([Layer(config) for _ in range(config.layers)])
        self.norm = nn.LayerNorm(config.width, bias=False)


class Model(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.model = Body(config)
        self.lm_head = nn.Linear(config.width, 8, bias=False)


class Adapter:
    """Hands every name on; the others replace what they need."""

    def __init__(self, config: Config):
        self.config = config

    def to_hf(self, state_dict: dict[str, Any], exclude: str | None = None, **kwargs: Any) -> dict[str, Any]:
        made = {}
        for name, tensor in state_dict.items():
            for new, value in self.convert(name, tensor, **kwargs):
                made[new] = value
        return made

    def from_hf(self, state_dict: dict[str, Any], device_mesh: Any = None, **kwargs: Any) -> dict[str, Any]:
        return {self.native(name): tensor for name, tensor in state_dict.items()}

    def convert(self, name: str, tensor: torch.Tensor, **kwargs: Any) -> list[tuple[str, torch.Tensor]]:
        return [(self.stored(name), tensor)]

    def stored(self, name: str) -> str:
        return name

    def native(self, name: str) -> str:
        return name
