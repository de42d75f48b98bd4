"""Functions, methods and tables that say which class is constructed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial

from torch import nn

from .configs import Config


class Dense(nn.Module):
    def __init__(self, size: int, bias: bool = True):
        super().__init__()
        self.up = nn.Linear(size, 4, bias=bias)


class Sparse(nn.Module):
    def __init__(self, size: int, bias: bool = True):
        super().__init__()
        self.gate = nn.Linear(size, 2, bias=bias)


def make_linear(inner: int, outer: int, bias: bool = False) -> nn.Module:
    return nn.Linear(inner, outer, bias)


def make_norm(kind: str, size: int) -> nn.Module:
    if kind == "layer":
        return nn.LayerNorm(size)
    if kind == "none":
        return nn.Identity()
    if kind == "rms":
        return nn.RMSNorm(size)
    raise ValueError(kind)


def class_for(config: Config) -> type[nn.Module]:
    return Sparse if config.num_experts else Dense


def nothing_or_dense(config: Config) -> nn.Module | None:
    if not config.gated:
        return None
    return Dense(config.hidden_size)


KINDS: dict[str, type[nn.Module]] = {"plain": Dense, "sparse": Sparse}
MAKERS = {"plain": lambda size: Dense(size), "sparse": lambda size: Sparse(size, bias=False)}


class Functions(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.linear = make_linear(size, 3)
        self.biased = make_linear(size, 3, bias=True)
        self.maybe = make_linear(size, 3, config.bias)
        self.norm = make_norm("layer", size)
        self.open = make_norm("rms" if config.gated else "none", size)
        self.layer = class_for(config)(size)
        cls = class_for(config)
        self.again = cls(size, bias=False)
        self.optional = nothing_or_dense(config)
        self.layers = nn.ModuleList([class_for(config)(size) for _ in range(config.num_layers)])


class Tables(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.by_kind = KINDS[config.kind](size)
        self.known = KINDS["sparse"](size)
        self.made = MAKERS[config.kind](size)
        self.got = KINDS.get(config.kind, Dense)(size)
        local = {"a": Dense, "b": Sparse}
        self.local = local["b"](size)
        self.local_open = {True: Dense, False: Sparse}[config.bias](size)
        chosen = Dense if config.gated else Sparse
        self.chosen = chosen(size)
        self.direct = (Dense if config.gated else Sparse)(size)
        first, second = Dense, Sparse
        self.second = second(size)
        self.first = [first, second][0](size)


class Partials(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        linear = partial(nn.Linear, size, bias=False)
        self.a = linear(1)
        self.b = linear(out_features=2, bias=True)
        norm = functools.partial(nn.LayerNorm, eps=1e-5)
        self.norm = norm(size)
        self.dense = partial(Dense, bias=config.bias)(size)
        self.nested = partial(linear, 3)()

        def local(width: int, bias: bool = config.bias) -> nn.Module:
            return nn.Linear(size, width, bias=bias)

        self.c = local(1)
        self.d = local(1, bias=True)
        quick = lambda width: nn.Linear(size, width, bias=False)  # noqa: E731
        self.e = quick(2)
        self.layers = nn.ModuleList([linear(1) for _ in range(config.num_layers)])
        self.given = Taking(size, norm_layer=partial(nn.LayerNorm, elementwise_affine=config.gated))
        self.by_default = Taking(size)
        self.by_class = Taking(size, norm_layer=nn.RMSNorm)


class Taking(nn.Module):
    """Is handed the class to construct."""

    def __init__(self, size: int, norm_layer: Callable[[int], nn.Module] = nn.LayerNorm):
        super().__init__()
        self.norm = norm_layer(size)
        self.norm_class = norm_layer


class Base(nn.Module):
    block_class: type[nn.Module] = Dense

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.block = self.block_class(config.hidden_size)
        self.mlp = self.make_mlp(config)
        self.norm = self._norm(config.hidden_size)
        self.build()

    def make_mlp(self, config: Config) -> nn.Module:
        return Dense(config.hidden_size)

    @staticmethod
    def _norm(size: int) -> nn.Module:
        return nn.LayerNorm(size)

    def build(self) -> None:
        self.head = nn.Linear(self.config.hidden_size, 1)


class Overriding(Base):
    """Factory methods and class attributes of a subclass."""

    block_class = Sparse

    def make_mlp(self, config: Config) -> nn.Module:
        return Sparse(config.hidden_size, bias=config.bias)

    def build(self) -> None:
        super().build()
        self.tail = nn.Linear(self.config.hidden_size, 2)


class ByClass(nn.Module):
    """Class methods, static methods, constructors with other names."""

    def __init__(self, config: Config):
        super().__init__()
        self.built = Built.from_config(config)
        self.small = Built.small()
        self.again = type(self.small)(2, 3)
        self.sub = SubBuilt.from_config(config)
        self.own = self.create(config)
        self.other = self.__class__.create(config)

    @staticmethod
    def create(config: Config) -> nn.Module:
        return nn.Linear(config.hidden_size, 1)


class Built(nn.Module):
    def __init__(self, inner: int, outer: int):
        super().__init__()
        self.proj = nn.Linear(inner, outer)

    @classmethod
    def from_config(cls, config: Config) -> Built:
        made = cls(config.hidden_size, config.vocab_size)
        made.extra = nn.Linear(1, 1)
        return made

    @classmethod
    def small(cls) -> Built:
        return cls(1, 1)


class SubBuilt(Built):
    def __init__(self, inner: int, outer: int):
        super().__init__(inner, outer)
        self.more = nn.LayerNorm(outer)


def made_class(width: int) -> type[nn.Module]:
    class Local(nn.Module):
        def __init__(self, size: int):
            super().__init__()
            self.proj = nn.Linear(size, width)

    return Local


class Inner(nn.Module):
    """Classes that are defined in functions and classes."""

    class Part(nn.Module):
        def __init__(self, size: int):
            super().__init__()
            self.proj = nn.Linear(size, 1)

    def __init__(self, config: Config):
        super().__init__()

        class Here(nn.Module):
            def __init__(self):
                super().__init__()
                self.proj = nn.Linear(config.hidden_size, 1)

        class Below(Dense):
            def __init__(self):
                super().__init__(config.hidden_size)
                self.more = nn.Linear(1, 1)

        self.part = self.Part(config.hidden_size)
        self.named = Inner.Part(config.hidden_size)
        self.local = made_class(3)(config.hidden_size)
        self.here = Here()
        self.below = Below()


CASES = {
    Functions: [Config(), Config(bias=True, gated=True), Config(num_experts=2)],
    Tables: [Config(), Config(kind="sparse"), Config(bias=True), Config(gated=True)],
    Partials: [Config(), Config(bias=True), Config(gated=True)],
    Base: [Config()],
    Overriding: [Config(), Config(bias=True)],
    ByClass: [Config()],
    Inner: [Config()],
}
