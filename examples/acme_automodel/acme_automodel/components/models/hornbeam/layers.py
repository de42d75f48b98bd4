"""What Hornbeam's layers are made of. The checkpoints are bf16, and so is what nobody gives another dtype."""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F

from acme_automodel.components.moe.layers import MoE


def build_norm(size: int, eps: float = 1e-6, dtype: torch.dtype = torch.bfloat16) -> nn.Module:
    """Build the norm that stands before and after every block."""
    return nn.RMSNorm(size, eps=eps, dtype=dtype)


class DenseMLP(nn.Module):
    """``down(gelu(up(x)))``, shape-preserving on ``[..., H]``."""

    def __init__(self, hidden_size: int, intermediate_size: int, dtype: torch.dtype = torch.bfloat16):
        super().__init__()
        self.up_proj = nn.Linear(hidden_size, intermediate_size, bias=False, dtype=dtype)
        self.down_proj = nn.Linear(intermediate_size, hidden_size, bias=False, dtype=dtype)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.down_proj(F.gelu(self.up_proj(hidden)))


class MaskedMoE(MoE):
    """The shared experts, which give nothing to padding."""

    def forward(self, hidden: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        """Map ``[B, S, H]`` to ``[B, S, H]``; ``attention_mask [B, S]`` is 1 for a token and 0 for padding."""
        mixed = super().forward(hidden)
        return mixed if attention_mask is None else mixed * attention_mask[..., None].to(mixed.dtype)
