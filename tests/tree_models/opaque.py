"""What cannot be followed: the tree says where, and is right about the rest."""

from __future__ import annotations

import importlib
from enum import Enum
from typing import Any

import einops.layers.torch
import tokenizers
from einops.layers.torch import Rearrange, Reduce
from torch import nn

from .configs import Config


class Given(nn.Module):
    """The class comes from where only running can look."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        module = importlib.import_module("torch." + config.kind)
        self.imported = getattr(module, "Linear")(size, 1)  # noqa: B009
        self.by_name = getattr(nn, config.names[0])(size)
        self.known = nn.Linear(size, 1)


class Library(nn.Module):
    """A class of a library whose source is not followed."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.rearrange = Rearrange("b c -> c b")
        self.reduce = Reduce("b c -> b", "mean")
        self.mix = einops.layers.torch.EinMix("b c -> b d", weight_shape="c d", c=size, d=2)
        self.layers = nn.ModuleList([Rearrange("b c -> c b") for _ in range(config.num_layers)])
        self.tokenizer = tokenizers.AddedToken("x")
        self.known = nn.Linear(size, 1)


class OutsideBase(einops.layers.torch.EinMix):
    def __init__(self, config: Config):
        super().__init__("b c -> b d", weight_shape="c d", c=config.hidden_size, d=2)
        self.own = nn.Linear(1, 1)


class BelowOutside(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.part = OutsideBase(config)
        self.known = nn.Linear(1, 1)


def base_class() -> type[nn.Module]:
    return eval("nn.Linear")


class UnknownBase(base_class()):
    def __init__(self, config: Config):
        super().__init__(config.hidden_size, 1)
        self.own = nn.Linear(1, 1)


class Kind(Enum):
    ONE = "one"


class Harmless(nn.Module):
    """Calls that build no module: the tree stays complete."""

    def __init__(self, config: Config):
        super().__init__()
        self.kind = Kind("one")
        self.number = int(str(config.hidden_size))
        self.cache: dict[str, Any] = {}
        self.text = f"{config.kind}".upper()
        self.rank = min(config.num_layers, 4) // 2
        self.shape = tuple(range(self.number))
        self.proj = nn.Linear(config.hidden_size, 1)
        self.hook = self.proj.register_forward_hook(lambda *_: None)
        self.apply(self._init)
        nn.init.zeros_(self.proj.weight)
        self.train(False)
        print(end="")

    def _init(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.ones_(module.weight)


CASES = {
    Given: [Config(kind="nn", names=("LayerNorm",))],
    Library: [Config()],
    BelowOutside: [Config()],
    UnknownBase: [Config()],
    Harmless: [Config()],
}
OPAQUE = {
    "Given": ["imported", "by_name"],
    "Library": ["mix", "tokenizer"],
    "BelowOutside": ["part"],
    "UnknownBase": [""],
}
