"""Which implementation of a layer a model is built from."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class BackendConfig:
    """Choices that change how a model computes and not what it is."""

    linear: str = "torch"
    # None: the router projects in the dtype of its input. Scores are fp32 in any case.
    gate_precision: torch.dtype | None = None
    enable_hf_state_dict_adapter: bool = True


def initialize_linear_module(
    implementation: str, in_features: int, out_features: int, *, bias: bool = False, dtype: torch.dtype | None = None
) -> nn.Linear:
    """Build a projection ``[..., in_features] -> [..., out_features]``."""
    if implementation != "torch":
        raise ValueError(f"unknown linear implementation {implementation!r}; this checkout has only 'torch'")
    return nn.Linear(in_features, out_features, bias=bias, dtype=dtype)
