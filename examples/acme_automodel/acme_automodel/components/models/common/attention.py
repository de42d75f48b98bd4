"""Grouped-query attention, and the mask that goes with it."""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F

from acme_automodel.components.models.common.rotary import apply_rotary


def build_attention_mask(
    states: torch.Tensor, attention_mask: torch.Tensor | None, *, causal: bool, window: int | None = None
) -> torch.Tensor:
    """Say which key each query may see.

    Args:
        states: hidden states ``[B, S, H]``; only shape and device are used.
        attention_mask: ``[B, S]``, 1 for a token and 0 for padding, or None.
        causal: hide later tokens.
        window: hide tokens this many positions back and further.

    Returns:
        ``[B or 1, 1, S, S]``, True where a query (third axis) sees a key (fourth axis).
    """
    positions = torch.arange(states.shape[1], device=states.device)
    distance = positions[:, None] - positions[None, :]
    visible = torch.ones_like(distance, dtype=torch.bool)
    if causal:
        visible = distance >= 0
    if window is not None:
        visible = visible & (distance < window)
    visible = visible[None, None]
    if attention_mask is not None:
        visible = visible & attention_mask[:, None, None, :].bool()
    # A padding token that sees nothing would turn into NaN, and spread from there.
    return visible | (distance == 0)


class GroupedQueryAttention(nn.Module):
    """Several query heads share one key and value head."""

    def __init__(
        self,
        hidden_size: int,
        num_heads: int,
        num_kv_heads: int,
        *,
        bias: bool = False,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        self.head_dim = hidden_size // num_heads
        self.group_size = num_heads // num_kv_heads
        kv_size = num_kv_heads * self.head_dim
        self.q_proj = nn.Linear(hidden_size, hidden_size, bias=bias, dtype=dtype)
        self.k_proj = nn.Linear(hidden_size, kv_size, bias=bias, dtype=dtype)
        self.v_proj = nn.Linear(hidden_size, kv_size, bias=bias, dtype=dtype)
        self.o_proj = nn.Linear(hidden_size, hidden_size, bias=False, dtype=dtype)

    def forward(
        self,
        hidden: torch.Tensor,
        visible: torch.Tensor,
        rotary: tuple[torch.Tensor, torch.Tensor] | None = None,
    ) -> torch.Tensor:
        """Attend within ``hidden [B, S, H]``; ``visible`` comes from :func:`build_attention_mask`."""
        query, key, value = (
            projection(hidden).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)  # [B, heads, S, D]
            for projection in (self.q_proj, self.k_proj, self.v_proj)
        )
        if rotary is not None:
            query, key = apply_rotary(query, *rotary), apply_rotary(key, *rotary)
        key = key.repeat_interleave(self.group_size, dim=1)
        value = value.repeat_interleave(self.group_size, dim=1)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=visible)
        return self.o_proj(mixed.transpose(1, 2).flatten(2))
