"""Rotary position embedding."""

from __future__ import annotations

import torch
import torch.nn as nn


class RotaryEmbedding(nn.Module):
    """Holds one inverse frequency for each pair of channels, ``inv_freq [D/2]``.

    The table stays fp32 (models pin it): at position 4000 a bf16 frequency is off by whole turns.
    """

    def __init__(self, head_dim: int, theta: float):
        super().__init__()
        self.head_dim = head_dim
        self.theta = theta
        self.register_buffer("inv_freq", torch.empty(head_dim // 2, dtype=torch.float32), persistent=False)
        self.init_weights()

    def init_weights(self, std: float = 0.0, buffer_device: torch.device | None = None) -> None:
        """Compute the table; nothing in it is random, so ``std`` plays no part."""
        channels = torch.arange(0, self.head_dim, 2, dtype=torch.float32, device=buffer_device or self.inv_freq.device)
        self.inv_freq = self.theta ** (-channels / self.head_dim)

    def forward(self, position_ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Map positions ``[B, S]`` to cosines and sines, each ``[B, 1, S, D]`` and fp32."""
        angles = position_ids[:, None, :, None].float() * self.inv_freq.float()
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos(), angles.sin()


def apply_rotary(states: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turn queries or keys ``[B, N, S, D]`` by their positions; computed in fp32, returned in their own dtype."""
    first, second = states.float().chunk(2, dim=-1)
    return (states.float() * cos + torch.cat((-second, first), dim=-1) * sin).to(states.dtype)
