"""Which class is built: by registries, enumerations, methods found by name, decorated and generating functions."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from enum import Enum

import torch
from torch import nn

from .configs import Config

REGISTRY: dict[str, type[nn.Module]] = {}
LATER = {}


def register(name: str) -> Callable[[type], type]:
    def add(cls: type) -> type:
        REGISTRY[name] = cls
        return cls

    return add


@register("plain")
class Dense(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.up = nn.Linear(size, 4)


@register("sparse")
class Sparse(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.gate = nn.Linear(size, 2)


LATER["plain"] = Dense
LATER.update(sparse=Sparse)


class Kind(Enum):
    PLAIN = "plain"
    SPARSE = "sparse"


class Name(str, Enum):
    PLAIN = "plain"


class Registered(nn.Module):
    """A table that decorators fill: what is in it is more than the source of one function says."""

    def __init__(self, config: Config):
        super().__init__()
        self.layer = REGISTRY[config.kind](config.hidden_size)
        self.known = nn.Linear(1, 1)


class Later(nn.Module):
    """A table that the module itself fills."""

    def __init__(self, config: Config):
        super().__init__()
        self.layer = LATER[config.kind](config.hidden_size)
        self.fixed = LATER["sparse"](config.hidden_size)


class Enumerated(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        if Kind(config.kind) == Kind.PLAIN:
            self.plain = nn.Linear(size, 1)
        if config.kind == Name.PLAIN:
            self.named = nn.Linear(size, 1)
        if config.kind == Kind.SPARSE.value:
            self.sparse = nn.Linear(size, 1)
        kind = Kind.PLAIN
        self.known = nn.Linear(size, 1) if kind is Kind.PLAIN else nn.Identity()
        self.by_member = {Kind.PLAIN: Dense, Kind.SPARSE: Sparse}[kind](size)


class ByName(nn.Module):
    """Methods whose names are put together."""

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        for part in ("plain", "sparse"):
            setattr(self, f"{part}_layer", getattr(self, f"_build_{part}")())
        self.open = getattr(self, f"_build_{config.kind}")()

    def _build_plain(self) -> nn.Module:
        return Dense(self.config.hidden_size)

    def _build_sparse(self) -> nn.Module:
        return Sparse(self.config.hidden_size)


class Abstract(nn.Module, ABC):
    def __init__(self, config: Config):
        super().__init__()
        self.layer = self.build(config)

    @abstractmethod
    def build(self, config: Config) -> nn.Module:
        raise NotImplementedError

    def extend(self, config: Config) -> None:
        raise NotImplementedError


class Concrete(Abstract):
    def __init__(self, config: Config):
        super().__init__(config)
        self.extend(config)

    def build(self, config: Config) -> nn.Module:
        return Dense(config.hidden_size)

    def extend(self, config: Config) -> None:
        self.more = Sparse(config.hidden_size)


def traced(function: Callable[..., nn.Module]) -> Callable[..., nn.Module]:
    @functools.wraps(function)
    def run(*args, **kwargs):
        return function(*args, **kwargs)

    return run


@traced
def decorated(size: int) -> nn.Module:
    return nn.Linear(size, 1)


@functools.lru_cache(maxsize=None)  # noqa: UP033
def cached(size: int) -> nn.Module:
    return nn.Linear(size, 2)


def generated(size: int, count: int) -> Iterator[nn.Module]:
    yield nn.LayerNorm(size)
    for _ in range(count):
        yield nn.Linear(size, size, bias=False)


class Functions(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.decorated = decorated(size)
        self.cached = cached(size)
        self.generated = nn.ModuleList(generated(size, config.num_layers))
        self.spread = nn.Sequential(*generated(size, 1))
        makers = [lambda i=i: nn.Linear(size, i + 1) for i in range(2)]
        self.made = nn.ModuleList([make() for make in makers])
        self.method = nn.ModuleList([make(size) for make in (self._dense, Sparse)])
        self.bound = functools.partial(self._dense, size)()
        self.any = nn.Linear(size, 1) if any(n == "left" for n in config.names) else None
        self.many = nn.Linear(size, 1) if len(config.moe_layers) > 0 else None

    @staticmethod
    def _dense(size: int) -> nn.Module:
        return Dense(size)


class Lazy(nn.Module):
    """Attributes that are built when they are first asked for."""

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self._norm = None
        self._unused = None
        self.width = self.norm.normalized_shape

    @property
    def norm(self) -> nn.Module:
        if self._norm is None:
            self._norm = nn.LayerNorm(self.config.hidden_size)
        return self._norm

    @property
    def unused(self) -> nn.Module:
        if self._unused is None:
            self._unused = nn.LayerNorm(self.config.hidden_size)
        return self._unused


class Initialised(nn.Module):
    """Initialisers hand back what they are given; a parameter that is put where another was."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.a = nn.Parameter(nn.init.normal_(torch.empty(size)))
        self.b = nn.Parameter(torch.nn.init.zeros_(torch.empty(size, dtype=torch.float32)))
        self.proj = nn.Linear(size, size)
        self.proj.weight.data.normal_(0, 1)
        self.proj.bias.data.zero_()
        self.proj.register_parameter("bias", None)
        self.norm = nn.LayerNorm(size)
        delattr(self.norm, "bias")
        self.norm.register_buffer("bias", torch.zeros(size))
        self.embed = nn.Embedding.from_pretrained(torch.zeros(3, 2))
        self.wrapped = nn.Parameter(self.a)
        self.data = nn.Parameter(self.a.data)


CASES = {
    Registered: [Config(), Config(kind="sparse")],
    Later: [Config(), Config(kind="sparse")],
    Enumerated: [Config(), Config(kind="sparse")],
    ByName: [Config(), Config(kind="sparse")],
    Concrete: [Config()],
    Functions: [Config(), Config(num_layers=3, names=("a",), moe_layers=[1])],
    Lazy: [Config()],
    Initialised: [Config()],
}
OPAQUE = {"Registered": ["layer"]}
