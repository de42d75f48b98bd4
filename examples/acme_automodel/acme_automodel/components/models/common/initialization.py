"""Values for a model that has no checkpoint."""

from __future__ import annotations

import torch
import torch.nn as nn


@torch.no_grad()
def initialize_module_tree(model: nn.Module, std: float, buffer_device: torch.device | None = None) -> None:
    """Write every parameter and buffer; memory that came from ``torch.empty`` may hold anything.

    A module that owns bare parameters or buffers fills them itself, in a method ``init_weights``, and
    puts its buffers on ``buffer_device`` if one is given.
    """
    for module in model.modules():
        if module is not model and hasattr(module, "init_weights"):
            module.init_weights(std, buffer_device)
        elif isinstance(module, (nn.Linear, nn.Embedding, nn.Conv2d)):
            nn.init.normal_(module.weight, std=std)
        elif isinstance(module, (nn.RMSNorm, nn.LayerNorm)):
            nn.init.ones_(module.weight)
        else:
            continue
        if getattr(module, "bias", None) is not None:
            nn.init.zeros_(module.bias)
