"""The tensors that must stay in fp32 whatever the dtype of a model, and whether a value has been rounded."""

from __future__ import annotations

import re

import torch
from torch import nn

NAMES = frozenset({"A_log", "dt_bias", "e_score_correction_bias", "sinks", "attention_sink_bias"})
ROTARY = re.compile(r"(?!.*original_inv_freq$)(.*inv_freq|freqs_cis|freqs_cache|freqs|(cos|sin)_(cached|h|w))$")
LOW = (torch.bfloat16, torch.float16)


def tensors_of(model: nn.Module) -> dict[str, torch.Tensor]:
    """Return every floating parameter and buffer by name; a shared one under each of its names."""
    named = [*model.named_parameters(remove_duplicate=False), *model.named_buffers(remove_duplicate=False)]
    return {name: tensor for name, tensor in named if tensor.is_floating_point()}


def intrinsic(model: nn.Module) -> list[str]:
    """Return the names of what must stay in fp32: by its name, or as the model shows.

    In a model that was constructed in a low precision, a tensor that is in fp32 beside parameters of its own module
    that are not was made so on purpose. Tables that are computed and not saved do not count: rounding them is rounding
    what they are added to; and rotary tables are another matter.
    """
    found = []
    for prefix, module in model.named_modules(remove_duplicate=False):
        own = {**module._parameters, **module._buffers}
        low = any(p is not None and p.dtype in LOW for p in module._parameters.values())
        for name, tensor in own.items():
            if tensor is None or not tensor.is_floating_point() or ROTARY.match(name):
                continue
            computed = name in module._non_persistent_buffers_set
            if name in NAMES or (low and tensor.dtype == torch.float32 and not computed):
                found.append(f"{prefix}.{name}".lstrip("."))
    return found


def fp32_expectations(model: nn.Module) -> dict[str, torch.Tensor]:
    """Return what must stay as it is in a model: the tensors of :func:`intrinsic`, as fp32 copies of today's values."""
    tensors = tensors_of(model)
    return {name: tensors[name].detach().float().clone() for name in intrinsic(model)}


@torch.no_grad()
def plant(model: nn.Module, names: list[str]) -> dict[str, torch.Tensor]:
    """Fill tensors with fp32 values that bf16 cannot hold, and return copies of them (fp32)."""
    tensors = tensors_of(model)
    planted = {}
    for name in names:
        if name in tensors:
            tensor = tensors[name]
            values = 0.1 + torch.arange(tensor.numel(), dtype=torch.float32) / (7 * tensor.numel())
            tensor.copy_(values.reshape(tensor.shape))
            planted[name] = values.reshape(tensor.shape).clone()
    return planted


def word(dtype: torch.dtype) -> str:
    """``bfloat16`` for ``torch.bfloat16``."""
    return str(dtype).removeprefix("torch.")


def is_rounded(tensor: torch.Tensor) -> bool:
    """Tell whether bf16 can hold every value of a tensor. By chance one fp32 value in 65,536 is like that."""
    values = tensor.detach().float()
    return torch.equal(values, values.bfloat16().float())


def what_was_lost(tensor: torch.Tensor, expected: torch.Tensor) -> str | None:
    """Say in words how a tensor differs from the fp32 one that it should be, ``None`` if it does not."""
    if tensor.dtype != torch.float32:
        return word(tensor.dtype)
    now, before = tensor.detach().flatten(), expected.flatten()
    if torch.equal(now, before):
        return None
    worst = int((now - before).abs().argmax())
    return f"rounded: {before[worst].item():.9g} became {now[worst].item():.9g}"
