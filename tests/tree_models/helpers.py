"""Construction in methods and functions that the constructor calls."""

from __future__ import annotations

from torch import nn

from .configs import Config


class Block(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.proj = nn.Linear(size, size, bias=False)


def add_head(model: nn.Module, config: Config, name: str = "head") -> None:
    setattr(model, name, nn.Linear(config.hidden_size, config.vocab_size, bias=config.bias))


def attach(model: nn.Module, size: int) -> nn.Module:
    model.attached = Block(size)
    return model


class Methods(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self._build_layers(config.num_layers)
        self.norm = self._norm()
        self._build_optional()
        for index in range(2):
            self._add(index)
        add_head(self, config)
        add_head(self, config, name="second_head")
        add_head(self.norm_holder(), config)
        self.block = attach(Block(config.hidden_size), config.hidden_size)
        a, b = self._pair()
        self.a = a
        self.b = b
        self._deep(2)

    def _build_layers(self, count: int) -> None:
        self.layers = nn.ModuleList()
        for index in range(count):
            self.layers.append(self._layer(index))

    def _layer(self, index: int) -> nn.Module:
        block = Block(self.config.hidden_size)
        if index in self.config.moe_layers:
            block.gate = nn.Linear(self.config.hidden_size, 2)
        return block

    def _norm(self) -> nn.Module:
        return nn.LayerNorm(self.config.hidden_size)

    def _build_optional(self) -> None:
        if not self.config.gated:
            return
        self.gate = nn.Linear(self.config.hidden_size, 1)

    def _add(self, index: int) -> None:
        setattr(self, f"added{index}", Block(self.config.hidden_size))

    def norm_holder(self) -> nn.Module:
        self.holder = nn.Module()
        return self.holder

    def _pair(self) -> tuple[nn.Module, nn.Module]:
        return Block(self.config.hidden_size), nn.Identity()

    def _deep(self, levels: int) -> None:
        setattr(self, f"level{levels}", Block(self.config.hidden_size))
        if levels > 0:
            self._deep(levels - 1)


class Builder:
    """A plain object that builds modules."""

    def __init__(self, config: Config):
        self.config = config
        self.made = 0

    def linear(self, width: int) -> nn.Module:
        self.made += 1
        return nn.Linear(self.config.hidden_size, width, bias=self.config.bias)

    def __call__(self, width: int) -> nn.Module:
        return self.linear(width)


class WithBuilder(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        builder = Builder(config)
        self.a = builder.linear(1)
        self.b = builder(2)
        self.builder = builder
        self.c = self.builder.linear(3)
        make = builder.linear
        self.d = make(4)


class Tree(nn.Module):
    """A class that contains itself: how often, the tree does not say."""

    def __init__(self, config: Config, depth: int = 2):
        super().__init__()
        self.proj = nn.Linear(config.hidden_size, 1)
        self.below = Tree(config, depth - 1) if depth > 0 else None


class Later(nn.Module):
    """Methods that the constructor does not call build nothing."""

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.proj = nn.Linear(config.hidden_size, 1)

    def resize(self) -> None:
        self.proj = nn.LayerNorm(1)
        self.late = nn.Linear(1, 1)

    def forward(self, x):
        self.cache = nn.Linear(1, 1)
        return self.proj(x)


CASES = {
    Methods: [Config(), Config(moe_layers=[1], bias=True), Config(gated=True)],
    WithBuilder: [Config(), Config(bias=True)],
    Tree: [Config()],
    Later: [Config()],
}
OPAQUE = {"Tree": ["below"]}
