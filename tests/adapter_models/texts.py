"""Names that are made with the methods of texts."""

# ruff: noqa: SIM401, UP031, UP032 - old spellings are spellings

from __future__ import annotations

import functools
import re

from .body import STORED, Adapter, Config, Model

PAIRS = [("attn.q.", "attention.query."), ("attn.k.", "attention.key."), ("attn.v.", "attention.value.")]
EXACT = {"model.norm.weight": "final.weight", "lm_head.weight": "output.weight"}
PREFIXES = ("model.layers.",)


class Replace(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = ReplaceAdapter(config)


class ReplaceAdapter(Adapter):
    def stored(self, name):
        return name.replace("model.layers.", STORED, 1).replace(".attn.", ".attention.").replace("lm_head", "output")

    def native(self, name):
        return name.replace(STORED, "model.layers.").replace(".attention.", ".attn.").replace("output", "lm_head")


class Slices(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = SlicesAdapter(config)


class SlicesAdapter(Adapter):
    def stored(self, name):
        if name.startswith(PREFIXES):
            return STORED + name[len(PREFIXES[0]) :]
        if not name.endswith("norm.weight") and name[:6] == "model.":
            return f"backbone.{name[6:]}"
        return EXACT.get(name, name)

    def native(self, name):
        if name.startswith(STORED):
            return "model.layers." + name.removeprefix(STORED)
        if name.startswith("backbone."):
            return "model." + name[9:]
        return {v: k for k, v in EXACT.items()}.get(name, name)


class Tables(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = TablesAdapter(config)


class TablesAdapter(Adapter):
    def __init__(self, config):
        super().__init__(config)
        self.table = dict(PAIRS)
        self.table.update({"experts.up": "mlp.w1"})

    def stored(self, name):
        for old, new in self.table.items():
            if old in name:
                name = name.replace(old, new)
                break
        else:
            name = EXACT[name] if name in EXACT else name
        return name

    def native(self, name):
        return functools.reduce(lambda n, pair: n.replace(pair[1], pair[0]), self.table.items(), name)


class Segments(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = SegmentsAdapter(config)


class SegmentsAdapter(Adapter):
    def stored(self, name):
        parts = name.split(".")
        if len(parts) > 3 and parts[1] == "layers":
            _, _, index, *rest = parts
            return ".".join(["h", str(int(index)), *rest])
        head, _, tail = name.rpartition(".")
        return "{}:{}".format(head, tail) if head == "lm_head" else "%s.%s" % (head, tail)

    def native(self, name):
        return "model.layers." + name[2:] if name.startswith("h.") else name.replace(":", ".")


class Matched(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = MatchedAdapter(config)


class MatchedAdapter(Adapter):
    def stored(self, name):
        match name:
            case "lm_head.weight":
                return "output.weight"
            case "model.embed.weight":
                return "embedding.weight"
        old = next((o for o, _ in PAIRS if o in name), None)
        while old is not None and old in name:
            name = name.replace(old, dict(PAIRS)[old])
        return name


class Tried(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = TriedAdapter(config)


class TriedAdapter(Adapter):
    def stored(self, name):
        try:
            return EXACT[name]
        except KeyError:
            pass
        try:
            return f"layer.{int(name.split('.')[2])}.{name.split('.', 3)[3]}"
        except (ValueError, IndexError):
            try:
                return self._other(name)
            except KeyError:
                return f"rest.{name}"

    def _other(self, name):
        try:
            return re.match(r"model\.(head)\.", name).group(1)
        except AttributeError as error:
            raise KeyError(name) from error

    def native(self, name):
        if name.startswith("layer."):
            return f"model.layers.{name[6:]}"
        return {v: k for k, v in EXACT.items()}.get(name, name[5:])


HAND = {
    "Tried": {
        "model.embed.weight": ["rest.model.embed.weight"],
        "model.layers.*.attn.q.weight": ["layer.*.attn.q.weight"],
        "model.layers.*.attn.k.weight": ["layer.*.attn.k.weight"],
        "model.layers.*.attn.v.weight": ["layer.*.attn.v.weight"],
        "model.layers.*.experts.up": ["layer.*.experts.up"],
        "model.layers.*.experts.down": ["layer.*.experts.down"],
        "model.layers.*.norm.weight": ["layer.*.norm.weight"],
        "model.norm.weight": ["final.weight"],
        "lm_head.weight": ["output.weight"],
    },
    "Replace": {
        "model.layers.*.attn.q.weight": ["backbone.blocks.*.attention.q.weight"],
        "model.layers.*.attn.k.weight": ["backbone.blocks.*.attention.k.weight"],
        "model.layers.*.attn.v.weight": ["backbone.blocks.*.attention.v.weight"],
        "model.layers.*.experts.up": ["backbone.blocks.*.experts.up"],
        "model.layers.*.experts.down": ["backbone.blocks.*.experts.down"],
        "model.layers.*.norm.weight": ["backbone.blocks.*.norm.weight"],
        "lm_head.weight": ["output.weight"],
    },
    "Slices": {
        "model.embed.weight": ["backbone.embed.weight"],
        "model.layers.*.attn.q.weight": ["backbone.blocks.*.attn.q.weight"],
        "model.layers.*.attn.k.weight": ["backbone.blocks.*.attn.k.weight"],
        "model.layers.*.attn.v.weight": ["backbone.blocks.*.attn.v.weight"],
        "model.layers.*.experts.up": ["backbone.blocks.*.experts.up"],
        "model.layers.*.experts.down": ["backbone.blocks.*.experts.down"],
        "model.layers.*.norm.weight": ["backbone.blocks.*.norm.weight"],
        "model.norm.weight": ["final.weight"],
        "lm_head.weight": ["output.weight"],
    },
    "Tables": {
        "model.layers.*.attn.q.weight": ["model.layers.*.attention.query.weight"],
        "model.layers.*.attn.k.weight": ["model.layers.*.attention.key.weight"],
        "model.layers.*.attn.v.weight": ["model.layers.*.attention.value.weight"],
        "model.layers.*.experts.up": ["model.layers.*.mlp.w1"],
        "model.norm.weight": ["final.weight"],
        "lm_head.weight": ["output.weight"],
    },
    "Segments": {
        "model.layers.*.attn.q.weight": ["h.*.attn.q.weight"],
        "model.layers.*.attn.k.weight": ["h.*.attn.k.weight"],
        "model.layers.*.attn.v.weight": ["h.*.attn.v.weight"],
        "model.layers.*.experts.up": ["h.*.experts.up"],
        "model.layers.*.experts.down": ["h.*.experts.down"],
        "model.layers.*.norm.weight": ["h.*.norm.weight"],
        "lm_head.weight": ["lm_head:weight"],
    },
    "Matched": {
        "model.embed.weight": ["embedding.weight"],
        "model.layers.*.attn.q.weight": ["model.layers.*.attention.query.weight"],
        "model.layers.*.attn.k.weight": ["model.layers.*.attention.key.weight"],
        "model.layers.*.attn.v.weight": ["model.layers.*.attention.value.weight"],
        "lm_head.weight": ["output.weight"],
    },
}
# What does not come back: the way back of Tables knows nothing of the exact names, Matched has none at all.
ONE_WAY = {
    "Tables": ["model.norm.weight", "lm_head.weight"],
    "Matched": [
        "model.embed.weight",
        "model.layers.*.attn.q.weight",
        "model.layers.*.attn.k.weight",
        "model.layers.*.attn.v.weight",
        "lm_head.weight",
    ],
}
