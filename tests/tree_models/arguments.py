"""How arguments reach a constructor."""

from __future__ import annotations

from typing import Any

from torch import nn

from .configs import Config


class Block(nn.Module):
    def __init__(
        self, size: int, width: int = 4, *, bias: bool = True, norm: bool = False, act: type[nn.Module] = nn.ReLU
    ):
        super().__init__()
        self.proj = nn.Linear(size, width, bias=bias)
        self.norm = nn.LayerNorm(width) if norm else None
        self.act = act()


class Forwards(nn.Module):
    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()
        self.block = Block(*args, **kwargs)


class Takes(nn.Module):
    def __init__(self, config: Config, **kwargs: Any):
        super().__init__()
        size = config.hidden_size
        bias = kwargs.pop("bias", False)
        norm = kwargs.get("norm", False)
        self.linear = nn.Linear(size, 2, bias=bias)
        self.norm = nn.LayerNorm(2) if norm else nn.Identity()
        if "extra" in kwargs:
            self.extra = nn.Linear(size, kwargs["extra"])
        if kwargs:
            self.rest = nn.Linear(size, 1)


class Sub(Takes):
    def __init__(self, config: Config, **kwargs: Any):
        super().__init__(config, bias=True, **kwargs)


class Call(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.positional = Block(size, 3)
        self.keyword = Block(size=size, width=3, bias=False)
        self.forwarded = Forwards(size, bias=False, norm=True)
        both = {"bias": False, "norm": True}
        self.spread = Block(size, **both)
        self.mixed = Block(size, **{**both, "norm": False})
        row = (size, 5)
        self.row = Block(*row)
        self.made = Block(size, **dict(bias=config.bias))
        self.takes = Takes(config)
        self.takes_bias = Takes(config, bias=True, norm=True)
        self.takes_extra = Takes(config, extra=3)
        self.sub = Sub(config)
        self.sub_extra = Sub(config, extra=3)
        self.with_class = Block(size, act=nn.PReLU)
        self.optional = Optional(size)
        self.optional_given = Optional(size, Block(size))
        kwargs = {}
        if config.gated:
            kwargs["norm"] = True
        self.gated = Block(size, **kwargs)
        factory_kwargs = {"device": None, "dtype": None}
        self.factory = nn.Linear(size, 2, **factory_kwargs)
        self.rows = nn.ModuleList([Block(*pair) for pair in ((size, 1), (size, 2))])


class Optional(nn.Module):
    def __init__(self, size: int, inner: nn.Module | None = None, outer: nn.Module | None = None):
        super().__init__()
        self.inner = inner
        if outer is None:
            outer = nn.Linear(size, 1)
        self.outer = outer


class Defaulted(nn.Module):
    """Arguments of the class itself that a caller may or may not give."""

    def __init__(self, config: Config, width: int = 3, with_norm: bool = False, layer: nn.Module | None = None):
        super().__init__()
        self.proj = nn.Linear(config.hidden_size, width)
        if with_norm:
            self.norm = nn.LayerNorm(width)
        self.layer = layer if layer is not None else nn.Identity()


CASES = {
    Call: [Config(), Config(bias=True), Config(gated=True)],
    Defaulted: [Config()],
}
