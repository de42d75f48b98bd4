"""The dtype of a model, and the tensors that do not follow it."""

from __future__ import annotations

from itertools import chain

import torch
import torch.nn as nn


def dtype_of(config: object) -> torch.dtype:
    """Return the dtype that a config names, as ``"bfloat16"`` or as a ``torch.dtype``."""
    return config.dtype if isinstance(config.dtype, torch.dtype) else getattr(torch, config.dtype)


def cast_model_to_dtype(model: nn.Module, dtype: torch.dtype) -> None:
    """Cast parameters and buffers in place, all but those whose name the model has pinned to fp32.

    A pattern pins every tensor in whose full name it occurs. The pinned ones are never touched: casting them
    down and up again would keep the dtype and lose the value.
    """
    patterns = [
        *(getattr(model, "_keep_in_fp32_modules_strict", None) or ()),
        *(getattr(model, "_keep_in_fp32_modules", None) or ()),
    ]
    named = chain(model.named_parameters(remove_duplicate=False), model.named_buffers(remove_duplicate=False))
    pinned = {id(tensor) for name, tensor in named if any(pattern in name for pattern in patterns)}

    def convert(tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) in pinned or not tensor.is_floating_point():
            return tensor
        return tensor.to(dtype)

    model._apply(convert)
