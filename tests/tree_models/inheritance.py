"""Constructors along the method resolution order."""

from __future__ import annotations

import torch
from torch import nn

from . import submodules
from .configs import Config
from .submodules import Inner as Imported
from .submodules import Nested


class Block(nn.Module):
    def __init__(self, config: Config, width: int = 4):
        super().__init__()
        self.config = config
        self.up = nn.Linear(config.hidden_size, width)
        self.attn = self._attention(config)

    def _attention(self, config: Config) -> nn.Module:
        return nn.Linear(config.hidden_size, 1)


class Wider(Block):
    def __init__(self, config: Config):
        super().__init__(config, width=8)
        self.more = nn.Linear(config.hidden_size, 2)


class Widest(Wider):
    """No constructor of its own but a method that the base calls."""

    def _attention(self, config: Config) -> nn.Module:
        return nn.LayerNorm(config.hidden_size)


class Replacing(Wider):
    """Replaces and removes what its base made."""

    def __init__(self, config: Config):
        super(Replacing, self).__init__(config)  # noqa: UP008
        self.attn = Imported(config.hidden_size)
        self.up.bias = None
        del self.more
        if config.bias:
            self.up = nn.Linear(config.hidden_size, 4, bias=False)


class Explicit(Block):
    def __init__(self, config: Config):
        Block.__init__(self, config, 3)
        self.own = nn.Linear(1, 1)


class Skipping(Wider):
    """Leaves out one constructor of the order."""

    def __init__(self, config: Config):
        super(Wider, self).__init__(config)
        self.own = nn.Linear(1, 1)


class OnlyModule(Block):
    """Runs none of the constructors of its base."""

    def __init__(self, config: Config):
        nn.Module.__init__(self)
        self.own = nn.Linear(config.hidden_size, 1)


class WithHead:
    """A mixin that builds."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.head = nn.Linear(self.config.hidden_size, 1)


class WithNorm:
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.norm = nn.LayerNorm(self.config.hidden_size)
        self._more()

    def _more(self) -> None:
        self.from_mixin = nn.Linear(1, 1)


class Mixed(WithHead, WithNorm, Block):
    """Constructors that call each other along the order."""


class Diamond(Wider, WithHead):
    """The mixin comes behind the base and is never called."""

    def __init__(self, config: Config):
        super().__init__(config)
        self.own = nn.Linear(1, 1)


class OtherFile(Nested):
    def __init__(self, config: Config):
        super().__init__(config)
        self.inner.up = nn.Identity()
        self.part = submodules.Inner(config.hidden_size)


class Linear(nn.Linear):
    def __init__(self, inner: int, outer: int):
        super().__init__(inner, outer, bias=False)
        self.scale = nn.Parameter(torch.ones(outer))


class Plain(nn.Linear):
    """A subclass without a constructor."""


class Norm(nn.LayerNorm):
    def __init__(self, size: int, affine: bool = True):
        nn.LayerNorm.__init__(self, size, elementwise_affine=affine)
        self.register_buffer("seen", torch.zeros(1))


class Embedding(nn.Embedding):
    def __init__(self, config: Config):
        super().__init__(config.vocab_size, config.hidden_size)
        self.proj = nn.Linear(self.embedding_dim, self.num_embeddings)


class Conv(nn.Conv2d):
    def __init__(self, *args, **kwargs):
        kwargs.setdefault("bias", False)
        super().__init__(*args, **kwargs)


class OfTorch(nn.Module):
    """Subclasses of the leaves of torch."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.linear = Linear(size, 3)
        self.plain = Plain(size, 3)
        self.biased = Plain(size, 3, bias=config.bias)
        self.norm = Norm(size)
        self.bare = Norm(size, affine=False)
        self.embedding = Embedding(config)
        self.conv = Conv(size, 4, 3)
        self.conv_biased = Conv(size, 4, 3, bias=True)


class Generic(nn.Module):
    """Attributes of the class that later classes fill in."""

    inner_class: type[nn.Module]
    size = 3
    with_bias = False

    def __init__(self, config: Config):
        super().__init__()
        self.inner = self.inner_class(config.hidden_size)
        self.linear = nn.Linear(config.hidden_size, self.size, bias=self.with_bias)


class Filled(Generic):
    inner_class = Imported
    with_bias = True


CASES = {
    Block: [Config()],
    Wider: [Config()],
    Widest: [Config()],
    Replacing: [Config(), Config(bias=True)],
    Explicit: [Config()],
    Skipping: [Config()],
    OnlyModule: [Config()],
    Mixed: [Config()],
    Diamond: [Config()],
    OtherFile: [Config()],
    OfTorch: [Config(), Config(bias=True)],
    Filled: [Config()],
}
