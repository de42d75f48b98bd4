"""``nn.ModuleDict``, however it is filled."""

from __future__ import annotations

from torch import nn

from .configs import Config


class Expert(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.up = nn.Linear(size, 4, bias=False)


class Written(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.literal = nn.ModuleDict({"q": nn.Linear(size, 1), "k": nn.LayerNorm(size)})
        self.keywords = nn.ModuleDict(dict(q=nn.Linear(size, 1), k=nn.LayerNorm(size)))
        self.pairs = nn.ModuleDict([("q", nn.Linear(size, 1)), ["k", nn.LayerNorm(size)]])
        self.merged = nn.ModuleDict({**{"q": nn.Linear(size, 1)}, "k": nn.LayerNorm(size)})
        self.joined = nn.ModuleDict({"q": nn.Linear(size, 1)} | {"k": nn.LayerNorm(size)})
        self.assigned = nn.ModuleDict()
        self.assigned["q"] = nn.Linear(size, 1)
        self.assigned["k"] = nn.LayerNorm(size)
        self.assigned.add_module("v", nn.Linear(size, 2))
        self.updated = nn.ModuleDict({"q": nn.Linear(size, 1)})
        self.updated.update({"k": nn.LayerNorm(size)})
        self.popped = nn.ModuleDict({"q": nn.Linear(size, 1), "k": nn.LayerNorm(size)})
        self.popped.pop("q")
        self.deleted = nn.ModuleDict({"q": nn.Linear(size, 1), "k": nn.LayerNorm(size)})
        del self.deleted["k"]
        self.zipped = nn.ModuleDict(dict(zip(["q", "k"], [nn.Linear(size, 1), nn.LayerNorm(size)])))  # noqa: B905
        self.named = nn.ModuleDict({f"{name}_proj": nn.Linear(size, 1) for name in ("q", "k")})
        self.replaced = nn.ModuleDict({"q": nn.Linear(size, 1)})
        self.replaced["q"] = nn.LayerNorm(size)
        self.inner = nn.ModuleDict({"a": nn.ModuleDict({"b": nn.Linear(size, 1)})})


class Counted(nn.Module):
    """Keys that only the configuration knows."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.experts = nn.ModuleDict({str(i): Expert(size) for i in range(config.num_layers)})
        self.looped = nn.ModuleDict()
        for index in range(config.num_layers):
            self.looped[str(index)] = Expert(size)
        self.numbered = nn.ModuleDict()
        for index in range(config.num_layers):
            self.numbered[f"expert_{index}"] = Expert(size)
        self.by_name = nn.ModuleDict({name: Expert(size) for name in config.names})
        self.updated = nn.ModuleDict()
        for name in config.names:
            self.updated.update({f"{name}_head": Expert(size)})
        self.added = nn.ModuleDict()
        for name in config.names:
            self.added.add_module(name, Expert(size))
        plain = {}
        for name in config.names:
            plain[name] = Expert(size)
        self.from_plain = nn.ModuleDict(plain)
        self.enumerated = nn.ModuleDict({f"{i}": Expert(size) for i, _ in enumerate(config.names)})


class Changed(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.parts = nn.ModuleDict({"q": Expert(size), "k": Expert(size)})
        for part in self.parts.values():
            part.norm = nn.LayerNorm(size)
        for name, part in self.parts.items():
            setattr(part, f"{name}_bias", nn.Linear(size, 1))
        self.parts["q"].gate = nn.Linear(size, 1)
        self.layers = nn.ModuleDict({str(i): Expert(size) for i in range(config.num_layers)})
        for layer in self.layers.values():
            layer.norm = nn.LayerNorm(size)
        for name in self.layers:
            self.layers[name].tail = nn.Linear(size, 1)
        self.optional = nn.ModuleDict({"q": Expert(size)})
        if config.bias:
            self.optional["k"] = Expert(size)


class OpenKeys(nn.Module):
    """Several entries under keys of which nothing is known."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.heads = nn.ModuleDict()
        self.heads[config.kind] = nn.Linear(size, 1)
        self.heads[config.names[0]] = nn.LayerNorm(size)
        self.heads["known"] = Expert(size)
        self.add_module(config.names[1] + "_x", nn.Linear(size, 1))
        self.add_module(config.kind + "_x", Expert(size))


CASES = {
    OpenKeys: [Config(), Config(kind="other", names=("a", "b"))],
    Written: [Config()],
    Counted: [Config(), Config(num_layers=3, names=("a", "b", "c"))],
    Changed: [Config(), Config(num_layers=3, bias=True)],
}
