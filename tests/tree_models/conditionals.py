"""Both sides of a condition on the configuration."""

from __future__ import annotations

import torch
from torch import nn

from .configs import Config


class Dense(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.up = nn.Linear(size, 4)


class Sparse(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.gate = nn.Linear(size, 2, bias=False)


class Sides(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        if config.bias:
            self.one = nn.Linear(size, 1)
        if config.bias:
            self.mlp = Dense(size)
        else:
            self.mlp = Sparse(size)
        if not config.gated:
            self.ungated = nn.Linear(size, 1)
        self.chosen = Dense(size) if config.gated else Sparse(size)
        self.maybe = nn.Linear(size, 1) if config.bias else None
        self.flag = nn.Linear(size, 1, bias=config.bias)
        self.flag_or = nn.Linear(size, 1, bias=config.bias or config.gated)
        self.flag_not = nn.Linear(size, 1, bias=not config.bias)
        self.same = nn.Linear(size, 1) if config.bias else nn.Linear(size, 2)
        self.act = nn.SiLU() if config.kind == "plain" else nn.GELU()
        bias = config.bias if config.gated else False
        self.local = nn.Linear(size, 1, bias=bias)
        self.norm = nn.LayerNorm(size) if config.rank is not None else nn.Identity()
        self.down = nn.Linear(size, config.rank, bias=False) if config.rank else None


class Chain(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        if config.kind == "plain":
            self.layer = Dense(size)
        elif config.kind == "sparse":
            self.layer = Sparse(size)
            self.extra = nn.Linear(size, 1)
        elif config.kind in ("both", "all"):
            self.layer = Dense(size)
            self.second = Sparse(size)
        else:
            raise ValueError(config.kind)
        match config.kind:
            case "plain":
                self.matched = Dense(size)
            case "sparse" | "all":
                self.matched = Sparse(size)
            case _:
                self.matched = nn.Identity()


class Nested(nn.Module):
    """Conditions in conditions, and the same condition twice."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        if config.bias:
            if config.gated:
                self.both = nn.Linear(size, 1)
            else:
                self.only_bias = nn.Linear(size, 1)
        if config.bias and config.gated:
            self.also_both = nn.Linear(size, 1)
        if config.bias or config.gated:
            self.either = nn.Linear(size, 1)
        if config.bias:
            self.first = nn.Linear(size, 1)
        if not config.bias:
            self.first = nn.Linear(size, 2)
        use_gate = config.gated and config.kind != "plain"
        if use_gate:
            self.gate = nn.Linear(size, 1)
        self.has = config.bias
        if self.has:
            self.through_self = nn.Linear(size, 1)
        if config.bias:  # noqa: SIM102
            if not config.bias:
                self.never = nn.Linear(size, 1)
        if config.num_experts > 0:
            self.experts = nn.ModuleList([Dense(size) for _ in range(config.num_experts)])
        self.mixed = Sparse(size) if config.num_experts > 0 else Dense(size)
        if config.num_experts > 0 and isinstance(self.mixed, Sparse):
            self.mixed.shared = nn.Linear(size, 1)


class Early(nn.Module):
    """The constructor leaves before its end."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        if config.kind == "broken":
            raise ValueError("broken")
        assert config.num_layers > 0
        self.embed = nn.Embedding(config.vocab_size, size)
        if config.tied:
            return
        self.head = nn.Linear(size, 1)
        if config.bias:
            self.bias = nn.Parameter(torch.zeros(1))
            if config.gated:
                return
        self.last = nn.Linear(size, 2)


class Chained(nn.Module):
    """Several sides of a chain leave, and what follows leaves again."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        if config.tied:
            self.first = nn.Linear(size, 1)
            return
        elif config.bias:
            self.second = nn.Linear(size, 1)
            return
        elif config.kind == "other":
            self.third = nn.Linear(size, 1)
        self.middle = nn.Linear(size, 1)
        if config.gated or config.rank is not None:
            if config.kind == "other":
                return
            self.fourth = nn.Linear(size, 1)
        else:
            self.fourth = nn.LayerNorm(size)
        if (config.gated or config.kind == "other") and config.rank is None:
            return
        if config.gated or (config.kind == "other" and config.rank is None):
            self.fifth = nn.Linear(size, 1)
        self.last = nn.Linear(size, 2)


class Defaults(nn.Module):
    def __init__(self, config: Config, norm: nn.Module | None = None, width: int | None = None):
        super().__init__()
        size = config.hidden_size
        self.norm = norm or nn.LayerNorm(size)
        width = width or config.rank or 4
        self.up = nn.Linear(size, width)
        self.scale = nn.Parameter(torch.ones(1)) if config.scale is None else config.scale
        if width is not None:
            self.given = nn.Linear(size, 1)
        rank = config.rank
        if rank:
            self.low = nn.Linear(size, rank, bias=False)
        if norm is None:
            self.no_norm = nn.Linear(size, 1)


class Literal(nn.Module):
    """Conditions that the source decides."""

    USE_BIAS = True

    def __init__(self, config: Config, enabled: bool = False):
        super().__init__()
        size = config.hidden_size
        if enabled:
            self.never = nn.Linear(size, 1)
        if self.USE_BIAS:
            self.always = nn.Linear(size, 1)
        if len(("a", "b")) == 2 and 1 < 2 <= 3:
            self.two = nn.Linear(size, 1)
        if isinstance(self.always, nn.Linear):
            self.linear = nn.Linear(size, 1)
        if hasattr(self, "always") and not hasattr(self, "never"):
            self.has = nn.Linear(size, 1)
        mode = "a"
        if mode == "b":
            self.b = nn.Linear(size, 1)
        elif mode == "a":
            self.a = nn.Linear(size, 1)
        if getattr(self, "missing", None) is not None:
            self.missed = nn.Linear(size, 1)
        if callable(Dense):
            self.dense = Dense(size)
        if not callable(self.dense):
            raise TypeError("a module can be called")
        self.callable = nn.Linear(size, 1)


CASES = {
    Sides: [
        Config(),
        Config(bias=True),
        Config(gated=True),
        Config(kind="other", rank=2),
        Config(bias=True, gated=True),
    ],
    Chain: [Config(), Config(kind="sparse"), Config(kind="both"), Config(kind="all")],
    Nested: [
        Config(),
        Config(bias=True),
        Config(gated=True),
        Config(gated=True, kind="other"),
        Config(bias=True, gated=True),
        Config(num_experts=2),
    ],
    Early: [Config(), Config(tied=True), Config(bias=True), Config(bias=True, gated=True)],
    Chained: [
        Config(tied=tied, bias=bias, gated=gated, kind=kind, rank=rank)
        for tied, bias in ((False, False), (False, True), (True, False))
        for gated in (False, True)
        for kind in ("plain", "other")
        for rank in (None, 2)
    ],
    Defaults: [Config(), Config(rank=2), Config(scale=0.5)],
    Literal: [Config()],
}
