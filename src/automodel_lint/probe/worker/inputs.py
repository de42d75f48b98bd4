"""Tiny inputs for ``forward``, and what comes out of it."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


def tiny_inputs(model: nn.Module, config: Any, recipe: dict[str, Any], seed: int = 0) -> dict[str, Any]:
    """Return keyword arguments for ``forward``."""
    generator = torch.Generator().manual_seed(seed)
    size = getattr(config, "vocab_size", None) or config.get_text_config().vocab_size
    return {"input_ids": torch.randint(0, size, (2, 12), generator=generator)}


def logits_of(output: Any) -> torch.Tensor:
    """Return the logits in what ``forward`` returned."""
    if isinstance(output, torch.Tensor):
        return output
    return output.logits if hasattr(output, "logits") else output[0]
