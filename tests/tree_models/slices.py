"""Containers that are cut, joined, reversed and gone over with the tools of Python."""

from __future__ import annotations

import itertools

from torch import nn

from .configs import Config


class Block(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.proj = nn.Linear(size, size, bias=False)


class Cut(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size, count = config.hidden_size, config.num_layers
        layers = [Block(size) for _ in range(count)]
        self.first = nn.ModuleList(layers[:1])
        self.some = nn.ModuleList([Block(size) for _ in range(count)])[: count - 1]
        self.popped = nn.ModuleList([Block(size) for _ in range(count)])
        self.popped.pop(-1)
        self.deleted = nn.ModuleList([Block(size) for _ in range(count)])
        del self.deleted[0]
        self.shorter = nn.ModuleList([Block(size) for _ in range(count)])
        del self.shorter[1:]
        self.longer = nn.ModuleList([Block(size) for _ in range(count)])
        self.longer.insert(0, nn.LayerNorm(size))
        self.replaced = nn.Sequential(nn.Linear(size, 1), nn.ReLU())
        self.replaced[-1] = nn.LayerNorm(1)
        self.every_other = nn.ModuleList([nn.Linear(size, i + 1) for i in range(4)][::2])


class Joined(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size, count = config.hidden_size, config.num_layers
        self.sum = nn.ModuleList([nn.Linear(size, 1)] + [Block(size) for _ in range(count)])
        self.chained = nn.ModuleList(itertools.chain([nn.Linear(size, 1)], [Block(size) for _ in range(count)]))
        self.twice = nn.ModuleList([nn.Linear(size, 1), nn.LayerNorm(size)] * 2)
        self.reversed = nn.ModuleList(reversed([nn.Linear(size, 1), nn.LayerNorm(size)]))
        self.listed = nn.ModuleList(list(Block(size) for _ in range(count)))
        first, rest = Block(size), [nn.Linear(size, 1), nn.LayerNorm(size)]
        self.unpacked = nn.ModuleList([first, *rest])
        self.pairs = nn.ModuleList([nn.ModuleList(pair) for pair in ((Block(size), nn.Linear(size, 1)),)])
        self.added = nn.ModuleList()
        for index in range(count):
            self.added.add_module(str(index), Block(size))
        self.from_dict = nn.ModuleList({"a": Block(size), "b": nn.LayerNorm(size)}.values())
        self.filtered = nn.ModuleList([m for m in (Block(size), None, nn.LayerNorm(size)) if m is not None])
        self.optional = nn.ModuleList([m for m in (Block(size), nn.Linear(1, 1) if config.bias else None) if m])


class Widths(nn.Module):
    """Sizes that come in rows."""

    def __init__(self, config: Config):
        super().__init__()
        sizes = [config.hidden_size, 4, 2]
        self.steps = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:])])  # noqa: B905, RUF007
        self.indexed = nn.ModuleList([nn.Linear(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 1)])
        self.pairwise = nn.Sequential(*(nn.Linear(a, b) for a, b in itertools.pairwise(sizes)))
        self.grid = nn.ModuleList([nn.Linear(a, b) for a, b in itertools.product((1, 2), (3, 4))])
        self.unrolled = nn.ModuleList([nn.Linear(config.hidden_size, w) for w in (*sizes, 1)])
        width = config.hidden_size
        self.halving = nn.ModuleList()
        for _ in range(2):
            self.halving.append(nn.Linear(width, width // 2))
            width //= 2
        self.keys = nn.ModuleDict({f"{i:02d}": nn.Linear(1, 1) for i in range(2)})
        self.joined = nn.ModuleDict({"_".join(("a", str(i))): nn.Linear(1, 1) for i in range(2)})


class Walked(nn.Module):
    """All modules below are gone over."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.outer = nn.Sequential(Block(size), nn.Sequential(Block(size), nn.LayerNorm(size)))
        self.layers = nn.ModuleList([Block(size) for _ in range(config.num_layers)])
        for module in self.modules():
            if isinstance(module, Block):
                module.extra = nn.LayerNorm(size)
        for _name, module in self.named_modules():
            if isinstance(module, nn.LayerNorm):
                module.tail = nn.Linear(1, 1)


CASES = {
    Cut: [Config(), Config(num_layers=3)],
    Joined: [Config(), Config(num_layers=3, bias=True)],
    Widths: [Config()],
    Walked: [Config(), Config(num_layers=3)],
}
