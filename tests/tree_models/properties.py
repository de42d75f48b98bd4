"""Attributes that are computed."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import nn

from .configs import Config


class Inner(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList([nn.Linear(config.hidden_size, 1) for _ in range(config.num_layers)])

    @property
    def width(self) -> int:
        return self.config.hidden_size * 2

    @property
    def has_bias(self) -> bool:
        return self.config.bias


class Aliases(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.model = Inner(config)
        self.head = nn.Linear(self.model.width, config.vocab_size, bias=self.model.has_bias)
        for layer in self.layers:
            layer.extra = nn.Linear(1, 1)
        self.language_model.norm = nn.LayerNorm(config.hidden_size)
        self.embed = nn.Linear(self.dim, 1)

    @property
    def layers(self) -> nn.ModuleList:
        return self.model.layers

    @property
    def language_model(self) -> nn.Module:
        return self.model

    @cached_property
    def dim(self) -> int:
        return self.model.width


class Setting(nn.Module):
    """Setters that register elsewhere, or keep a reference."""

    def __init__(self, config: Config):
        super().__init__()
        self.model = Inner(config)
        self.tokens = config.hidden_size
        self.scale = torch.ones(1)

    @property
    def tokens(self) -> nn.Module:
        return self.model.embed_tokens

    @tokens.setter
    def tokens(self, size: int) -> None:
        self.model.embed_tokens = nn.Embedding(3, size)
        self.model.tokens_norm = nn.LayerNorm(size)

    @property
    def scale(self) -> torch.Tensor:
        return self._scale

    @scale.setter
    def scale(self, value: torch.Tensor) -> None:
        self._scale = nn.Parameter(value)


class Forwarding(nn.Module):
    """Unknown attributes are those of the model inside."""

    def __init__(self, config: Config):
        super().__init__()
        self.model = Inner(config)
        self.head = nn.Linear(self.embed_tokens.embedding_dim, len(self.layers))

    def __getattr__(self, name: str):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.model, name)


CASES = {
    Aliases: [Config(), Config(bias=True)],
    Setting: [Config()],
    Forwarding: [Config()],
}
