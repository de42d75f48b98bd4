"""Loops over what the source knows and over what only the configuration knows."""

from __future__ import annotations

from torch import nn

from .configs import Config

PARTS = ("alpha", "beta")
WIDTHS = {"wide": 8, "narrow": 2}


class Block(nn.Module):
    def __init__(self, size: int, sparse: bool = False):
        super().__init__()
        self.proj = nn.Linear(size, size, bias=False)
        if sparse:
            self.gate = nn.Linear(size, 2, bias=False)


class Known(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        for name in PARTS:
            self.add_module(name, nn.Linear(size, 1))
        for name, width in WIDTHS.items():
            self.add_module(name, nn.Linear(size, width))
        for index, name in enumerate(["zero", "one"]):
            self.add_module(f"{name}{index}", nn.Linear(size, index + 1))
        for index, name in enumerate(("x", "y"), start=5):
            self.add_module(f"{name}{index}", nn.Linear(size, 1))
        for name, bias in zip(("with_bias", "without"), (True, False), strict=True):
            self.add_module(name, nn.Linear(size, 1, bias=bias))
        for index in reversed(range(2)):
            self.add_module(f"reversed{index}", nn.Linear(size, 1))
        for name in sorted({"q", "k"}):
            self.add_module(f"sorted_{name}", nn.Linear(size, 1))
        for name in "ab":
            self.add_module(f"letter_{name}", nn.Linear(size, 1))
        for index in range(1, 7, 2):
            self.add_module(f"step{index}", nn.Linear(size, 1))
        for name in [*PARTS, "gamma"]:
            self.add_module(f"more_{name}", nn.Linear(size, 1))
        for index in range(10):
            if index == 1:
                continue
            if index == 3:
                break
            self.add_module(f"broken{index}", nn.Linear(size, 1))
        for name in PARTS:
            if name == "beta":
                self.only_beta = nn.Linear(size, 1)
        for name in ():
            self.add_module(f"never_{name}", nn.Linear(size, 1))
        for index in range(3):
            self.overwritten = nn.Linear(size, index + 1)
        for index in range(2):
            for name in PARTS:
                self.add_module(f"{name}_{index}", nn.Linear(size, 1))
        count = 0
        while count < 3:
            self.add_module(f"while{count}", nn.Linear(size, 1))
            count += 1
        for _index in range(2):
            pass
        else:
            self.after = nn.Linear(size, 1)


class Open(nn.Module):
    """The number of rounds is the configuration's; conditions on the index."""

    def __init__(self, config: Config):
        super().__init__()
        size, count = config.hidden_size, config.num_layers
        self.sparse = nn.ModuleList([Block(size, sparse=i in config.moe_layers) for i in range(count)])
        self.first_dense = nn.ModuleList([Block(size, sparse=i > 0) for i in range(count)])
        self.alternating = nn.ModuleList([Block(size, i % 2 == 1) for i in range(count)])
        self.last = nn.ModuleList([Block(size, i == count - 1) for i in range(count)])
        self.after = nn.ModuleList([Block(size, i >= config.num_experts) for i in range(count)])
        self.by_type = nn.ModuleList([Block(size, kind == "right") for kind in config.names])
        self.zipped = nn.ModuleList([Block(size, sparse) for _, sparse in zip(range(count), config.moe_layers)])  # noqa: B905
        for index in range(count):
            self.add_module(f"layer{index}", Block(size, sparse=index == 0))
        for index, name in enumerate(config.names):
            self.add_module(f"{name}_{index}", Block(size))
        self.by_helper = nn.ModuleList([self._layer(size, i) for i in range(count)])
        flags = [i in config.moe_layers for i in range(count)]
        self.by_flags = nn.ModuleList([Block(size, flag) for flag in flags])

    def _layer(self, size: int, index: int) -> nn.Module:
        if index == 0:
            return nn.Linear(size, 1)
        return Block(size)


class Kept(nn.Module):
    """Rounds that are left out."""

    def __init__(self, config: Config):
        super().__init__()
        kept = []
        for index in range(config.num_layers):
            if index not in config.moe_layers:
                continue
            kept.append(Block(config.hidden_size))
        self.kept = nn.ModuleList(kept)
        self.first = nn.ModuleList()
        for index in range(config.num_layers):
            if config.rank is not None and index >= config.rank:
                break
            self.first.append(Block(config.hidden_size))


class Rows(nn.Module):
    """Has a loop of its own, whose variable is called like that of the loop around its construction."""

    def __init__(self, config: Config, index: int | None = None):
        super().__init__()
        self.rows = nn.ModuleList()
        for index in range(config.num_layers):
            if index in config.moe_layers:
                self.rows.append(nn.Linear(config.hidden_size, 1))
        self.kinds = nn.ModuleList(
            [Block(config.hidden_size, index in config.moe_layers) for index in range(config.num_layers)]
        )


class Same(nn.Module):
    """Is told the index of the loop around its construction, which stays what it is."""

    def __init__(self, config: Config, index: int):
        super().__init__()
        if index in config.moe_layers:
            self.moe = nn.Linear(config.hidden_size, 1)
        else:
            self.dense = nn.Linear(config.hidden_size, 1)


class Variables(nn.Module):
    """Two variables of one name are two; one that is handed on is one."""

    def __init__(self, config: Config):
        super().__init__()
        self.layers = nn.ModuleList()
        for index in range(config.num_layers):
            if index in config.moe_layers:
                self.layers.append(nn.ModuleDict({"rows": Rows(config), "same": Same(config, index)}))
            else:
                self.layers.append(nn.ModuleDict({"others": Rows(config), "same": Same(config, index)}))


CASES = {
    Variables: [Config(num_layers=3, moe_layers=[1]), Config(num_layers=3, moe_layers=[0, 1, 2]), Config()],
    Known: [Config()],
    Kept: [Config(), Config(moe_layers=[1]), Config(rank=0)],
    Open: [Config(num_layers=3, moe_layers=[1, 0]), Config(num_layers=4, num_experts=1, moe_layers=[0, 1, 2])],
}
