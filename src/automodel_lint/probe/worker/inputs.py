"""Tiny inputs for ``forward``, and what comes out of it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from automodel_lint.probe.worker.tiny_config import TOKEN

BATCH, LENGTH = 2, 12
GENERATIVE = ("ForCausalLM", "ForConditionalGeneration")


def tiny_inputs(
    model: nn.Module, config: Any, recipe: dict[str, Any], seed: int = 0, extras: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return keyword arguments for ``forward``: ``input_ids`` ``[2, 12]`` (int64) and what the class needs beside them.

    The ids are none that the configuration names as special. ``extras`` names optional arguments to give as well:
    ``attention_mask`` of ones, ``position_ids`` that count; both ``[2, 12]`` (int64).
    """
    generator = torch.Generator().manual_seed(seed)
    written = Written(config, generator)
    own = {name: written.value(value) for name, value in recipe.get("inputs", {}).items()}
    known = inspect.signature(model.forward).parameters
    made = {"input_ids": written.tokens([f"* {LENGTH}"])} if "input_ids" in known else {}
    if "attention_mask" in known and (not is_generative(config) or "attention_mask" in extras):
        made["attention_mask"] = torch.ones(BATCH, LENGTH, dtype=torch.int64)
    if "position_ids" in known and "position_ids" in extras:
        made["position_ids"] = torch.arange(LENGTH).expand(BATCH, -1)
    return {name: value for name, value in {**made, **own}.items() if value is not None}


@dataclass
class Written:
    """Makes values as recipes write them down.

    ``{"tokens": ["*", "image_token_id 4", "* 5"]}``: ids ``[2, S]`` (int64), ordinary ones and those of a field;
    ``{"normal": [2, 12, "2*hidden_size"]}``: values of a normal distribution (fp32), ``zeros`` likewise;
    ``{"value": …}``: a tensor of what is written, or the value itself if it is no list; a list or an object: of such.
    """

    config: Any
    generator: torch.Generator

    def value(self, written: Any) -> Any:
        """Return what is written down."""
        if isinstance(written, list):
            return [self.value(item) for item in written]
        if not isinstance(written, dict):
            return written
        if "tokens" in written:
            return self.tokens(written["tokens"])
        if "normal" in written:
            return torch.randn([self.size(item) for item in written["normal"]], generator=self.generator)
        if "zeros" in written:
            return torch.zeros([self.size(item) for item in written["zeros"]])
        if "value" in written:
            plain = written["value"]
            return torch.tensor(plain) if isinstance(plain, list) else plain
        return {name: self.value(item) for name, item in written.items()}

    def tokens(self, parts: list[str]) -> torch.Tensor:
        """Return token ids ``[2, S]`` (int64): ``*`` is an ordinary one, anything else the field that holds the id."""
        ordinary, special = ordinary_ids(self.config), special_ids(self.config)
        columns = []
        for part in parts:
            name, _, count = part.partition(" ")
            shape = (BATCH, int(count or 1))
            drawn = ordinary[torch.randint(len(ordinary), shape, generator=self.generator)]
            columns.append(drawn if name == "*" else torch.full(shape, special[name]))
        return torch.cat(columns, 1)

    def size(self, written: int | str) -> int:
        """Return a size: a number, or ``factor*field`` of the configuration."""
        if isinstance(written, int):
            return written
        factor, _, name = written.rpartition("*")
        return int(factor or 1) * getattr(self.config, name)


def is_generative(config: Any) -> bool:
    """Tell whether every position gets logits, by the names of the architecture."""
    names = getattr(config, "architectures", None) or [""]
    return names[0].endswith(GENERATIVE)


def ordinary_ids(config: Any) -> torch.Tensor:
    """Return the token ids ``[N]`` (int64) of the vocabulary that have no special meaning."""
    special = {item for _, item in _special(config)}
    return torch.tensor([i for i in range(vocabulary(config)) if i not in special])


def vocabulary(config: Any) -> int:
    """Return the number of token ids that the text part of a configuration knows."""
    for part in parts(config):
        size = vars(part).get("vocab_size") or getattr(part, "vocab_size", None)
        if type(size) is int:
            return size
    raise ValueError("no vocab_size in the configuration")


def special_ids(config: Any) -> dict[str, int]:
    """Return a token id for every field of a configuration or a part of it that names one; the outer one wins."""
    found: dict[str, int] = {}
    for name, item in _special(config):
        found.setdefault(name, item)
    return found


def _special(config: Any) -> Iterator[tuple[str, int]]:
    for part in parts(config):
        for name, value in vars(part).items():
            if TOKEN.fullmatch(name):
                values = value if isinstance(value, (list, tuple)) else [value]
                yield from ((name, item) for item in values if type(item) is int)


def parts(config: Any) -> Iterator[Any]:
    """Yield a configuration and those in it: the text part right after the whole."""
    inner = [part for part in vars(config).values() if hasattr(part, "to_dict") and not isinstance(part, type)]
    yield config
    for part in sorted(inner, key=lambda part: not hasattr(part, "vocab_size")):
        yield from parts(part)


def logits_of(output: Any) -> torch.Tensor:
    """Return the logits in what ``forward`` returned, or what stands in their place.

    A tensor is taken as it is; of anything else the attribute ``logits``, ``last_hidden_state``, or the first tensor.
    """
    if isinstance(output, torch.Tensor):
        return output
    for name in ("logits", "last_hidden_state"):
        if isinstance(getattr(output, name, None), torch.Tensor):
            return getattr(output, name)
    if getattr(output, "hidden_states", None) is not None:
        return output.hidden_states[-1]
    items = output.values() if isinstance(output, dict) else output
    return next(item for item in items if isinstance(item, torch.Tensor))
