"""What Hawthorn's layers are made of. Each keeps the tensors that must stay fp32 apart from the others."""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F

from acme_automodel.components.models.common.attention import GroupedQueryAttention
from acme_automodel.components.models.common.feed_forward import SwiGLU
from acme_automodel.components.models.common.rotary import apply_rotary
from acme_automodel.components.models.hawthorn.config import HawthornConfig


class Decay(nn.Module):
    """How much of its state each head forgets at a token; ``A_log [N]`` and ``dt_bias [N]`` are fp32 for good.

    A module of its own, so that sharding can make it a unit of one dtype.
    """

    def __init__(self, num_heads: int):
        super().__init__()
        self.A_log = nn.Parameter(torch.zeros(num_heads, dtype=torch.float32))
        self.dt_bias = nn.Parameter(torch.ones(num_heads, dtype=torch.float32))

    def init_weights(self, std: float, buffer_device: torch.device | None = None) -> None:
        nn.init.zeros_(self.A_log)
        nn.init.ones_(self.dt_bias)

    def forward(self, step: torch.Tensor) -> torch.Tensor:
        """Map ``[B, S, N]`` to the logarithm of what is kept, ``[B, S, N]``, fp32 and below zero."""
        return -self.A_log.exp() * F.softplus(step.float() + self.dt_bias)


class StateSpaceMixer(nn.Module):
    """Each token sees the ones before it, fainter with every step that lies between."""

    def __init__(self, hidden_size: int, num_heads: int, *, dtype: torch.dtype | None = None):
        super().__init__()
        self.num_heads = num_heads
        self.in_proj = nn.Linear(hidden_size, 2 * hidden_size, bias=False, dtype=dtype)
        self.step_proj = nn.Linear(hidden_size, num_heads, bias=False, dtype=dtype)
        self.out_proj = nn.Linear(hidden_size, hidden_size, bias=False, dtype=dtype)
        self._fp32_params = Decay(num_heads)

    def forward(self, hidden: torch.Tensor, visible: torch.Tensor) -> torch.Tensor:
        """Mix ``[B, S, H]`` over what is ``visible [B or 1, 1, S, S]``."""
        value, gate = self.in_proj(hidden).chunk(2, dim=-1)
        value = value.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # [B, N, S, H/N]
        kept = self._fp32_params(self.step_proj(hidden)).cumsum(dim=1).transpose(1, 2)  # [B, N, S]
        weights = (kept[..., :, None] - kept[..., None, :]).masked_fill(~visible, float("-inf")).exp()
        mixed = (weights @ value.float()).to(hidden.dtype)
        return self.out_proj(mixed.transpose(1, 2).flatten(2) * F.silu(gate))


class Sinks(nn.Module):
    """One logit a head that takes attention and gives nothing, ``sinks [N]``, fp32 for good."""

    def __init__(self, num_heads: int):
        super().__init__()
        self.sinks = nn.Parameter(torch.zeros(num_heads, dtype=torch.float32))

    def init_weights(self, std: float, buffer_device: torch.device | None = None) -> None:
        nn.init.zeros_(self.sinks)

    def forward(self, logits: torch.Tensor) -> torch.Tensor:
        """Map logits ``[B, N, S, S]`` to attention weights of the same shape, fp32; they sum to less than 1."""
        sinks = self.sinks[:, None, None].expand(*logits.shape[:-1], 1)
        return torch.cat((logits.float(), sinks), dim=-1).softmax(dim=-1)[..., :-1]


class SinkAttention(GroupedQueryAttention):
    """Grouped-query attention with sinks."""

    def __init__(self, hidden_size: int, num_heads: int, num_kv_heads: int, *, dtype: torch.dtype | None = None):
        super().__init__(hidden_size, num_heads, num_kv_heads, dtype=dtype)
        self._fp32_params = Sinks(num_heads)

    def forward(
        self,
        hidden: torch.Tensor,
        visible: torch.Tensor,
        rotary: tuple[torch.Tensor, torch.Tensor] | None = None,
    ) -> torch.Tensor:
        """Attend within ``hidden [B, S, H]``; ``visible`` comes from ``build_attention_mask``."""
        query, key, value = (
            projection(hidden).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)  # [B, heads, S, D]
            for projection in (self.q_proj, self.k_proj, self.v_proj)
        )
        if rotary is not None:
            query, key = apply_rotary(query, *rotary), apply_rotary(key, *rotary)
        key = key.repeat_interleave(self.group_size, dim=1)
        value = value.repeat_interleave(self.group_size, dim=1)
        logits = query.float() @ key.float().transpose(-1, -2) * self.head_dim**-0.5
        weights = self._fp32_params(logits.masked_fill(~visible, float("-inf")))
        mixed = weights.to(value.dtype) @ value
        return self.o_proj(mixed.transpose(1, 2).flatten(2))


class Router(nn.Module):
    """Chooses the experts of each token; ``weight [E, H]`` follows the model, the bias that ranks them is fp32."""

    def __init__(self, config: HawthornConfig, dtype: torch.dtype):
        super().__init__()
        self.top_k = config.num_experts_per_tok
        self.weight = nn.Parameter(torch.empty(config.n_routed_experts, config.hidden_size, dtype=dtype))
        self.register_buffer("e_score_correction_bias", torch.zeros(config.n_routed_experts, dtype=torch.float32))
        nn.init.normal_(self.weight, std=config.initializer_range)

    def init_weights(self, std: float, buffer_device: torch.device | None = None) -> None:
        nn.init.normal_(self.weight, std=std)
        device = buffer_device or self.e_score_correction_bias.device
        self.e_score_correction_bias = torch.zeros(len(self.weight), dtype=torch.float32, device=device)

    def forward(self, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Map tokens ``[T, H]`` to expert weights ``[T, K]`` (fp32) and expert indices ``[T, K]``."""
        scores = F.linear(tokens.float(), self.weight.float()).sigmoid()
        indices = (scores + self.e_score_correction_bias).topk(self.top_k, dim=-1).indices
        weights = scores.gather(-1, indices)
        return weights / weights.sum(-1, keepdim=True), indices


class Experts(nn.Module):
    """Feed-forward blocks of which each token uses a few."""

    def __init__(self, config: HawthornConfig, dtype: torch.dtype):
        super().__init__()
        self.gate = Router(config, dtype)
        self.experts = nn.ModuleList(
            [
                SwiGLU(config.hidden_size, config.moe_intermediate_size, dtype=dtype)
                for _ in range(config.n_routed_experts)
            ]
        )

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Map ``[B, S, H]`` to ``[B, S, H]``."""
        tokens = hidden.flatten(0, -2)  # [T, H]
        weights, indices = self.gate(tokens)
        mixed = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            row, slot = torch.where(indices == number)
            mixed = mixed.index_add(0, row, expert(tokens[row]) * weights[row, slot, None].to(tokens.dtype))
        return mixed.view_as(hidden)
