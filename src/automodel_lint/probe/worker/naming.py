"""Names, kinds and aliases of the tensors of a constructed model, as plain data."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


def described(model: nn.Module) -> dict[str, Any]:
    """Return ``parameters`` and ``buffers`` (shape and dtype by name) and ``aliases`` (names that share one tensor)."""
    owners = dict(model.named_modules(remove_duplicate=False))
    parameters, buffers = {}, {}
    names: dict[int, list[str]] = {}
    for name, tensor in model.named_parameters(remove_duplicate=False):
        parameters[name] = _form(tensor)
        names.setdefault(id(tensor), []).append(name)
    for name, tensor in model.named_buffers(remove_duplicate=False):
        owner, _, local = name.rpartition(".")
        buffers[name] = _form(tensor) | {"persistent": local not in owners[owner]._non_persistent_buffers_set}
        names.setdefault(id(tensor), []).append(name)
    aliases = [sorted(group) for group in names.values() if len(group) > 1]
    return {"parameters": parameters, "buffers": buffers, "aliases": sorted(aliases)}


def _form(tensor: torch.Tensor) -> dict[str, Any]:
    return {"shape": list(tensor.shape), "dtype": str(tensor.dtype).removeprefix("torch.")}
