"""Sizes and rules of a mixture of experts."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass
class MoEConfig:
    """What the shared MoE layer has to know; models fill it from their own configuration."""

    dim: int
    moe_inter_dim: int
    n_routed_experts: int
    n_activated_experts: int
    n_shared_experts: int = 0
    route_scale: float = 1.0
    # Above zero, the gate owns a correction bias that is moved by this much a step, against the load.
    gate_bias_update_factor: float = 0.0
    dtype: torch.dtype = torch.float32
