"""The output head and the input embedding of a model, and the setting that says whether they are one tensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from automodel_lint.probe.worker.checks import NotProbed
from automodel_lint.probe.worker.subject import Subject

FLAG = "tie_word_embeddings"
SETTINGS = {"both": (True, False), "tied_only": (True,), "untied_only": (False,)}


@dataclass(frozen=True)
class Pair:
    """The names of the two weights, and the weights ``[V, H]``."""

    head_name: str
    embedding_name: str
    head: torch.Tensor
    embedding: torch.Tensor

    @property
    def aliased(self) -> bool:
        """Whether both are the same memory."""
        if self.head is self.embedding:
            return True
        if "meta" in (self.head.device.type, self.embedding.device.type):
            return False
        same = self.head.untyped_storage().data_ptr() == self.embedding.untyped_storage().data_ptr()
        return same and self.head.storage_offset() == self.embedding.storage_offset()


def policy_of(cls: type) -> str:
    """Return the settings that a class supports: ``both``, ``tied_only`` or ``untied_only``; undeclared is ``both``."""
    declared = getattr(cls, "tie_word_embeddings_support", None)
    value = getattr(declared, "value", "both" if declared is None else declared)
    if value not in SETTINGS:
        raise NotProbed(f"its tie_word_embeddings_support is {declared!r}, which says nothing")
    return value


def config_with(subject: Subject, tied: bool, inside: bool = False) -> Any:
    """Return a tiny configuration with the flag set where it decides, as a user sets it.

    That is the outermost configuration; only where it has no such field a configuration inside it. ``inside`` sets it
    in that of the text as well.
    """
    config = subject.config()
    setattr(controlling(config), FLAG, tied)
    if inside:
        setattr(_text_of(config), FLAG, tied)
    return config


def unasked(subject: Subject, tied: bool) -> bool:
    """Tell whether the outer configuration has this setting by default and that of the text the other one.

    Then the outer flag is no request of anybody, and a class does right to ask the inner one.
    """
    try:
        plain = subject.config_class()
        text = _text_of(plain)
        return text is not plain and bool(getattr(plain, FLAG)) == tied != bool(getattr(text, FLAG))
    except Exception:  # what cannot be made without arguments has no defaults
        return False


def _text_of(config: Any) -> Any:
    text = config.get_text_config() if hasattr(config, "get_text_config") else getattr(config, "text_config", None)
    return config if text is None else text


def controlling(config: Any) -> Any:
    """Return the configuration whose flag decides."""
    if hasattr(config, FLAG):
        return config
    thinker = getattr(config, "thinker_config", None)
    if thinker is not None:
        return thinker
    return _text_of(config)


def find_pair(model: nn.Module) -> Pair:
    """Find the two weights.

    Raises:
        NotProbed: if the model has no causal head or no input embedding.
    """
    named = dict(model.named_parameters(remove_duplicate=False))
    head_name = _name_of(model, named, "get_output_embeddings") or next(_last_parts(named, "lm_head"), None)
    embedding_name = _name_of(model, named, "get_input_embeddings")
    embedding_name = embedding_name or next(_last_parts(named, "embed_tokens"), None)
    if head_name is None:
        raise NotProbed("no causal head")
    if embedding_name is None:
        raise NotProbed("no input embedding found beside its head")
    return Pair(head_name, embedding_name, named[head_name], named[embedding_name])


def _last_parts(named: dict[str, nn.Parameter], module: str) -> Iterator[str]:
    """The names of weights of modules of a name, the shortest name first."""
    ends = (name for name in named if f".{name}".endswith(f".{module}.weight"))
    yield from sorted(ends, key=lambda name: name.count("."))


def _name_of(model: nn.Module, named: dict[str, nn.Parameter], method: str) -> str | None:
    """The name of the weight of the module that a method returns, by the last name it has if it has several."""
    try:
        module = getattr(model, method)()
    except Exception:  # transformers' own raises where a class has none
        return None
    weight = getattr(module, "weight", None)
    if weight is None:
        return None
    prefixes = [name for name, one in model.named_modules(remove_duplicate=False) if one is module]
    return next((f"{prefix}.weight" for prefix in prefixes if f"{prefix}.weight" in named), None)
