"""Registration by name: ``setattr``, ``add_module`` and their like, with names that are put together."""

from __future__ import annotations

import torch
from torch import nn

from .configs import Config


class Block(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.proj = nn.Linear(size, size, bias=False)


class ByName(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.add_module("a", nn.Linear(size, 1))
        self.register_module("b", nn.Linear(size, 2))
        self.add_module(name="c", module=nn.LayerNorm(size))
        setattr(self, "d", Block(size))  # noqa: B010
        self.__setattr__("e", Block(size))
        super().__setattr__("f", Block(size))
        nn.Module.__setattr__(self, "g", Block(size))
        self._modules["h"] = Block(size)
        self._parameters["i"] = nn.Parameter(torch.zeros(size))
        self._buffers["j"] = torch.zeros(size)
        self.add_module("nothing", None)
        nn.Module.add_module(self, "k", Block(size))
        self.l = Block(size)
        setattr(self.l, "extra", nn.Linear(size, 1))  # noqa: B010
        self.get_submodule("l").more = nn.Linear(size, 1)


class Formatted(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        for index in range(config.num_layers):
            setattr(self, f"layer{index}", Block(size))
            self.add_module(f"norm_{index}_post", nn.LayerNorm(size))
            self.add_module("gate" + str(index), nn.Linear(size, 1))
            self.register_parameter(f"scale_{index}", nn.Parameter(torch.ones(size)))
        for index in range(2):
            setattr(self, f"fixed{index}", Block(size))
            setattr(self, "fixed_too_%d" % index, Block(size))  # noqa: UP031
            setattr(self, "last_{}".format(index), Block(size))  # noqa: UP032
        for name in ("q", "k", "v"):
            setattr(self, f"{name}_proj", nn.Linear(size, size))
        for name, bias in (("up", True), ("down", False)):
            setattr(self, name, nn.Linear(size, 1, bias=bias))
        for name, width in {"wide": 8, "narrow": 2}.items():
            self.add_module(name, nn.Linear(size, width))
        for name in config.names:
            setattr(self, f"{name}_head", nn.Linear(size, 1))
        for part in zip(["one", "two"], [nn.Linear(size, 1), nn.LayerNorm(size)]):  # noqa: B905
            setattr(self, *part)


class Reread(nn.Module):
    """What was registered by name is read by name again."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        for name in ("q", "k"):
            setattr(self, f"{name}_proj", Block(size))
        for name in ("q", "k"):
            getattr(self, f"{name}_proj").extra = nn.Linear(size, 1)
        for index in range(config.num_layers):
            setattr(self, f"layer{index}", Block(size))
        for index in range(config.num_layers):
            getattr(self, f"layer{index}").norm = nn.LayerNorm(size)
        for name, child in self.named_children():
            if name.startswith("q"):
                child.tail = nn.Linear(size, 1)
        for child in list(self.children()):
            child.all = nn.Linear(size, 1)


class Swapped(nn.Module):
    """Children that are found by going over the module and replaced."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.a = nn.Linear(size, 1)
        self.b = nn.LayerNorm(size)
        self.inner = Block(size)
        for name, child in self.named_children():
            if isinstance(child, nn.Linear):
                setattr(self, name, Block(size))
        for name, child in list(self.inner.named_children()):
            setattr(self.inner, name, nn.Sequential(child, nn.LayerNorm(size)))


CASES = {
    ByName: [Config()],
    Formatted: [Config(), Config(num_layers=3, names=("a", "b", "c"))],
    Reread: [Config(), Config(num_layers=3)],
    Swapped: [Config()],
}
