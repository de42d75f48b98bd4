"""What the source leaves to the config, to one layer, or to the machine it runs on."""

from __future__ import annotations

import json
import os
import re

import torch
from torch import nn

from .body import Adapter, Config, Model


class Nested(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = NestedAdapter(config)


class NestedAdapter(Adapter):
    """Both directions ask the config."""

    def to_hf(self, state_dict, **kwargs):
        if not self.config.nested:
            return state_dict
        return super().to_hf(state_dict, **kwargs)

    def stored(self, name):
        return f"language.{name}"

    def native(self, name):
        return name.removeprefix("language.") if self.config.nested else name


class First(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = FirstAdapter(config)


class FirstAdapter(Adapter):
    """The first layer is another."""

    def stored(self, name):
        return name.replace(".norm.", ".first_norm.") if ".layers.0." in name else name


class Stored(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = StoredAdapter(config)


class StoredAdapter(Adapter):
    """The names stand in a file."""

    def stored(self, name):
        if ".attn." not in name:
            return name
        with open(os.environ.get("NAMES", "names.json")) as file:
            return json.load(file)[name]


class Sometimes(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        if config.nested:
            self.state_dict_adapter = NestedAdapter(config)


class Hostile(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = HostileAdapter(config)


class HostileAdapter(Adapter):
    """A pattern that nobody waits for."""

    def stored(self, name):
        return re.sub("(a+)+" * 600 + "$", "", name) if ".attn." in name else name


class Virtual(Model):
    """One of its modules saves another tensor than the one it has."""

    def __init__(self, config: Config):
        super().__init__(config)
        self.extra = Saved(config)
        self.state_dict_adapter = Adapter(config)


class Saved(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.part = nn.Parameter(torch.zeros(config.width))

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        destination[f"{prefix}total"] = self.part.detach().sum(0, keepdim=True)


class Colliding(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.state_dict_adapter = CollidingAdapter(config)


class CollidingAdapter(Adapter):
    """Two tensors get one name."""

    def stored(self, name):
        return re.sub(r"attn\.[qk]\.", "attn.qk.", name)
