"""The shared mixture-of-experts layer."""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F

from acme_automodel.components.models.common.backend import BackendConfig
from acme_automodel.components.models.common.feed_forward import SwiGLU
from acme_automodel.components.moe.config import MoEConfig


class Gate(nn.Module):
    """Chooses the experts of each token.

    ``weight [E, H]`` follows the model dtype. ``e_score_correction_bias [E]`` is fp32 for good: it moves by
    thousandths, and bf16 near 1 has steps of 0.008.
    """

    def __init__(self, config: MoEConfig, gate_precision: torch.dtype | None = None):
        super().__init__()
        self.top_k = config.n_activated_experts
        self.route_scale = config.route_scale
        self.bias_update_factor = config.gate_bias_update_factor
        self.gate_precision = gate_precision
        self.weight = nn.Parameter(torch.empty(config.n_routed_experts, config.dim, dtype=config.dtype))
        if config.gate_bias_update_factor > 0:
            bias = torch.zeros(config.n_routed_experts, dtype=torch.float32)
            self.register_buffer("e_score_correction_bias", bias)
        else:
            self.e_score_correction_bias = None
        self._load: torch.Tensor | None = None
        nn.init.normal_(self.weight, std=0.02)

    def init_weights(self, std: float, buffer_device: torch.device | None = None) -> None:
        nn.init.normal_(self.weight, std=std)
        if self.e_score_correction_bias is not None:
            device = buffer_device or self.e_score_correction_bias.device
            self.e_score_correction_bias = torch.zeros(len(self.weight), dtype=torch.float32, device=device)

    def forward(self, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Map tokens ``[T, H]`` to expert weights ``[T, K]`` (fp32) and expert indices ``[T, K]``."""
        precision = self.gate_precision or tokens.dtype
        scores = F.linear(tokens.to(precision), self.weight.to(precision)).float().sigmoid()
        ranking = scores if self.e_score_correction_bias is None else scores + self.e_score_correction_bias
        indices = ranking.topk(self.top_k, dim=-1).indices
        # The bias decides who is chosen, never how much the chosen one counts.
        weights = scores.gather(-1, indices)
        weights = weights / weights.sum(-1, keepdim=True) * self.route_scale
        if self.training and self.e_score_correction_bias is not None:
            load = torch.bincount(indices.detach().flatten(), minlength=len(self.weight)).float()
            self._load = load if self._load is None else self._load + load
        return weights, indices

    @torch.no_grad()
    def update_bias(self) -> None:
        """Push the bias of busy experts down and of idle ones up, by the load since the last call."""
        if self._load is not None:
            self.e_score_correction_bias += self.bias_update_factor * torch.sign(self._load.mean() - self._load)
            self._load = None


class MoE(nn.Module):
    """Routed experts, each seeing the tokens that chose it, and optionally one block that sees them all."""

    def __init__(self, config: MoEConfig, backend: BackendConfig):
        super().__init__()
        self.gate = Gate(config, gate_precision=backend.gate_precision)
        self.experts = nn.ModuleList(
            [SwiGLU(config.dim, config.moe_inter_dim, dtype=config.dtype) for _ in range(config.n_routed_experts)]
        )
        if config.n_shared_experts > 0:
            inter_dim = config.moe_inter_dim * config.n_shared_experts
            self.shared_experts = SwiGLU(config.dim, inter_dim, dtype=config.dtype)
        else:
            self.shared_experts = None

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Map ``[B, S, H]`` to ``[B, S, H]``."""
        tokens = hidden.flatten(0, -2)  # [T, H]
        weights, indices = self.gate(tokens)
        mixed = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            # An expert nobody chose runs on nothing, so that its parameters still get a gradient (of zero).
            row, slot = torch.where(indices == number)
            share = weights[row, slot, None].to(tokens.dtype)
            mixed = mixed.index_add(0, row, expert(tokens[row]) * share)
        if self.shared_experts is not None:
            mixed = mixed + self.shared_experts(tokens)
        return mixed.view_as(hidden)
