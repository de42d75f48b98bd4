"""Names that are made with regular expressions."""

from __future__ import annotations

import re
from enum import Enum

from .body import Adapter, Config, Model

LAYER = re.compile(r"^model\.layers\.(?P<index>\d+)\.(?P<rest>.+)$")
RULES = [
    (re.compile(r"^model\.layers\.(\d+)\.attn\.([qkv])\.weight$"), r"blocks.\1.attn.w\2"),
    (re.compile(r"^model\.(embed|norm)\.weight$"), r"\1"),
    (re.compile(r"^model\.layers\.(\d+)\.(.+)$"), r"blocks.\1.\2"),
]


class Form(Enum):
    LAYER = re.compile(r"layers\.(\d+)\.norm\.weight")
    HEAD = "lm_head"


class Rules(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = RulesAdapter(config)


class RulesAdapter(Adapter):
    def stored(self, name):
        return _first(name, RULES)

    def native(self, name):
        if m := re.match(r"blocks\.(\d+)\.attn\.w([qkv])$", name):
            return f"model.layers.{m.group(1)}.attn.{m[2]}.weight"
        if name in ("embed", "norm"):
            return f"model.{name}.weight"
        return re.sub(r"^blocks\.", "model.layers.", name)


def _first(name, rules):
    for pattern, new in rules:
        made, count = pattern.subn(new, name, count=1)
        if count:
            return made
    return name


class Functions(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = FunctionsAdapter(config)


class FunctionsAdapter(Adapter):
    def __init__(self, config):
        super().__init__(config)
        self.words = {"q": "query", "k": "key", "v": "value"}

    def stored(self, name):
        name = re.sub(r"(?<=attn\.)([qkv])\b", lambda m: self.words[m.group(1)], name)
        return re.sub(r"^model\.", self._prefix, name)

    @staticmethod
    def _prefix(found):
        return found.group(0).upper().lower() + "inner."

    def native(self, name):
        back = {v: k for k, v in self.words.items()}
        name = name.replace("model.inner.", "model.")
        return re.sub(r"attn\.(\w+)\.", lambda m: f"attn.{back.get(m.group(1), m.group(1))}.", name)


class Named(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = NamedAdapter(config)


class NamedAdapter(Adapter):
    def stored(self, name):
        found = LAYER.fullmatch(name)
        if found is None:
            return name
        parts = found.groupdict()
        if not any(re.search(word, parts["rest"]) for word in ("attn", "norm")):
            return name
        return f"layer_{parts['index']}.{found['rest']}"

    def native(self, name):
        return re.sub(r"^layer_(\d+)\.", r"model.layers.\g<1>.", name)


class Enums(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = EnumsAdapter(config)


class EnumsAdapter(Adapter):
    def stored(self, name):
        match = Form.LAYER.value.search(name)
        if match:
            return f"norms.{match.group(1)}"
        return name.replace(Form.HEAD.value, Form.HEAD.name.lower())


HAND = {
    "Rules": {
        "model.embed.weight": ["embed"],
        "model.layers.*.attn.q.weight": ["blocks.*.attn.wq"],
        "model.layers.*.attn.k.weight": ["blocks.*.attn.wk"],
        "model.layers.*.attn.v.weight": ["blocks.*.attn.wv"],
        "model.layers.*.experts.up": ["blocks.*.experts.up"],
        "model.layers.*.experts.down": ["blocks.*.experts.down"],
        "model.layers.*.norm.weight": ["blocks.*.norm.weight"],
        "model.norm.weight": ["norm"],
    },
    "Functions": {
        "model.embed.weight": ["model.inner.embed.weight"],
        "model.layers.*.attn.q.weight": ["model.inner.layers.*.attn.query.weight"],
        "model.layers.*.attn.k.weight": ["model.inner.layers.*.attn.key.weight"],
        "model.layers.*.attn.v.weight": ["model.inner.layers.*.attn.value.weight"],
        "model.layers.*.experts.up": ["model.inner.layers.*.experts.up"],
        "model.layers.*.experts.down": ["model.inner.layers.*.experts.down"],
        "model.layers.*.norm.weight": ["model.inner.layers.*.norm.weight"],
        "model.norm.weight": ["model.inner.norm.weight"],
    },
    "Named": {
        "model.layers.*.attn.q.weight": ["layer_*.attn.q.weight"],
        "model.layers.*.attn.k.weight": ["layer_*.attn.k.weight"],
        "model.layers.*.attn.v.weight": ["layer_*.attn.v.weight"],
        "model.layers.*.norm.weight": ["layer_*.norm.weight"],
    },
    "Enums": {
        "model.layers.*.norm.weight": ["norms.*"],
        "lm_head.weight": ["head.weight"],
    },
}
ONE_WAY = {"Enums": ["model.layers.*.norm.weight", "lm_head.weight"]}
