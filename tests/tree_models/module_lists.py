"""``nn.ModuleList``, however it is filled."""

from __future__ import annotations

from torch import nn

from .configs import Config


class Block(nn.Module):
    def __init__(self, size: int, index: int = 0):
        super().__init__()
        self.index = index
        self.proj = nn.Linear(size, size, bias=False)


class Expert(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.up = nn.Linear(size, 4)


class Comprehended(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.layers = nn.ModuleList([Block(size, i) for i in range(config.num_layers)])
        self.generated = nn.ModuleList(Block(size) for _ in range(config.num_layers))
        self.mapped = nn.ModuleList(map(lambda i: Block(size, i), range(config.num_layers)))
        self.keyword = nn.ModuleList(modules=[Block(size) for _ in range(config.num_layers)])
        self.from_tuple = nn.ModuleList(tuple(Block(size) for _ in range(config.num_layers)))
        self.squares = nn.ModuleList([Block(a * b + 1) for a in range(config.num_layers) for b in range(2)])
        self.nested = nn.ModuleList([nn.ModuleList([Expert(size) for _ in range(3)]) for _ in range(config.num_layers)])
        self.by_name = nn.ModuleList([Block(size) for _ in config.names])


class Looped(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.appended = nn.ModuleList()
        for index in range(config.num_layers):
            self.appended.append(Block(size, index))
        self.extended = nn.ModuleList()
        self.extended.extend([Block(size) for _ in range(config.num_layers)])
        self.added = nn.ModuleList([Block(size)])
        self.added += [Expert(size), Expert(size)]
        blocks = []
        for index in range(config.num_layers):
            block = Block(size, index)
            blocks.append(block)
        self.from_list = nn.ModuleList(blocks)
        grown = nn.ModuleList([])
        for _ in range(config.num_layers):
            grown.append(Block(size))
            grown.append(Expert(size))
        self.pairs = grown
        count = 0
        self.counted = nn.ModuleList()
        while count < config.num_layers:
            self.counted.append(Block(size))
            count += 1
        self.outer = nn.ModuleList()
        for _ in range(config.num_layers):
            inner = nn.ModuleList()
            for _ in range(2):
                inner.append(Expert(size))
            self.outer.append(inner)


class Fixed(nn.Module):
    """Elements that are written out keep their index."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.two = nn.ModuleList([nn.Linear(size, 1), nn.LayerNorm(size)])
        self.three = nn.ModuleList((nn.Linear(size, 1), nn.Identity(), nn.Linear(size, 1, bias=False)))
        self.built = nn.ModuleList()
        self.built.append(nn.Linear(size, 1))
        self.built.append(nn.LayerNorm(size))
        self.known = nn.ModuleList([nn.Linear(size, width) for width in (1, 2)])
        self.counted = nn.ModuleList([nn.Linear(size, i + 1) for i in range(3)])
        self.inserted = nn.ModuleList([nn.Linear(size, 1)])
        self.inserted.insert(0, nn.LayerNorm(size))
        self.replaced = nn.ModuleList([nn.Linear(size, 1), nn.Linear(size, 2)])
        self.replaced[0] = nn.LayerNorm(size)
        self.shortened = nn.ModuleList([nn.Linear(size, 1), nn.LayerNorm(size), nn.Linear(size, 3)])
        self.shortened = self.shortened[:2]
        self.cut = nn.ModuleList([nn.Linear(size, 1), nn.LayerNorm(size)])
        del self.cut[0]
        self.popped = nn.ModuleList([nn.Linear(size, 1), nn.LayerNorm(size)])
        self.popped.pop(0)
        self.summed = nn.ModuleList([nn.Linear(size, 1)] + [nn.LayerNorm(size)])  # noqa: RUF005
        self.starred = nn.ModuleList([nn.Linear(size, 1), *[nn.LayerNorm(size), nn.LayerNorm(size)]])


class Mixed(nn.Module):
    """Some elements are known, others come from a loop."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.first_and_more = nn.ModuleList([nn.Linear(size, 1), *(Block(size) for _ in range(config.num_layers))])
        more = [Expert(size)] + [Block(size) for _ in range(config.num_layers)]
        self.summed = nn.ModuleList(more)
        self.optional = nn.ModuleList([Block(size)])
        if config.bias:
            self.optional.append(Expert(size))
        self.with_none = nn.ModuleList([None, Block(size)])
        self.layers = nn.ModuleList()
        for index in range(config.num_layers):
            if index in config.moe_layers:
                self.layers.append(Expert(size))
            else:
                self.layers.append(Block(size))
        self.chosen = nn.ModuleList(
            [Expert(size) if i in config.moe_layers else Block(size) for i in range(config.num_layers)]
        )
        self.only_moe = nn.ModuleList([Expert(size) for i in range(config.num_layers) if i in config.moe_layers])
        self.alternating = nn.ModuleList([Block(size) if i % 2 == 0 else None for i in range(config.num_layers)])


class Changed(nn.Module):
    """What is done to the elements later on."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.layers = nn.ModuleList([Block(size) for _ in range(config.num_layers)])
        for layer in self.layers:
            layer.norm = nn.LayerNorm(size)
        for index, layer in enumerate(self.layers):
            if index in config.moe_layers:
                layer.mlp = Expert(size)
        self.others = nn.ModuleList([Block(size), Block(size)])
        self.others[0].extra = nn.Linear(size, 1)
        self.others[-1].proj = nn.Identity()
        self.last = nn.ModuleList([Block(size) for _ in range(config.num_layers)])
        self.last[-1].tail = nn.Linear(size, 1)
        for i in range(config.num_layers):
            self.last[i].gate = nn.Linear(size, 1)
        self.replaced = nn.ModuleList([Block(size) for _ in range(config.num_layers)])
        for i in range(len(self.replaced)):
            self.replaced[i] = Expert(size)


class Multiplied(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.same = nn.ModuleList([Block(size)] * 2)
        self.often = nn.ModuleList([Block(size)] * config.num_layers)
        holes = [None] * config.num_layers
        for index in range(config.num_layers):
            holes[index] = Block(size)
        self.filled = nn.ModuleList(holes)


CASES = {
    Comprehended: [Config(), Config(num_layers=3, names=("a", "b", "c"))],
    Looped: [Config(), Config(num_layers=3)],
    Fixed: [Config()],
    Mixed: [Config(num_layers=3), Config(num_layers=3, moe_layers=[1], bias=True), Config(moe_layers=[0, 1])],
    Changed: [Config(num_layers=3), Config(num_layers=3, moe_layers=[1])],
    Multiplied: [Config(), Config(num_layers=3)],
}
