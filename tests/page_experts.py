"""The part of the minimal framework about mixtures of experts, and a decoder of Acme with them; our own writing."""

from __future__ import annotations

import textwrap


def _file(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


EXPERTS: dict[str, str] = {
    "nemo_automodel/components/models/common/backend.py": _file(
        '''
        """What layers are made of, as a caller chooses it, and the factories that follow the choice."""

        from dataclasses import dataclass

        import torch
        import torch.nn as nn


        @dataclass
        class BackendConfig:
            linear: str = "torch"
            rms_norm: str = "torch"
            gate_precision: torch.dtype | None = None


        def initialize_linear_module(
            linear_impl: str,
            in_features: int,
            out_features: int,
            bias: bool = False,
            dtype: torch.dtype = torch.bfloat16,
        ) -> nn.Module:
            if linear_impl != "torch":
                raise ValueError(linear_impl)
            return nn.Linear(in_features, out_features, bias=bias, dtype=dtype)


        def initialize_rms_norm_module(
            rms_norm_impl: str, dim: int, eps: float = 1e-5, dtype: torch.dtype = torch.bfloat16
        ) -> nn.Module:
            if rms_norm_impl != "torch":
                raise ValueError(rms_norm_impl)
            return nn.RMSNorm(dim, eps=eps, dtype=dtype)
        '''
    ),
    "nemo_automodel/components/moe/__init__.py": "",
    "nemo_automodel/components/moe/config.py": _file(
        '''
        """What the shared expert layer must know."""

        from dataclasses import dataclass

        import torch


        @dataclass(kw_only=True)
        class MoEConfig:
            dim: int
            moe_inter_dim: int
            n_routed_experts: int
            n_activated_experts: int
            gate_bias_update_factor: float
            dtype: torch.dtype = torch.bfloat16
        '''
    ),
    "nemo_automodel/components/moe/fsdp_mixin.py": _file(
        '''
        """Control over when the shards of experts synchronise."""


        class MoEFSDPSyncMixin:
            def set_is_last_backward(self, is_last_backward):
                for module in self.modules():
                    if hasattr(module, "set_requires_gradient_sync"):
                        module.set_requires_gradient_sync(is_last_backward)
        '''
    ),
    "nemo_automodel/components/moe/layers.py": _file(
        '''
        """The expert layer that models share."""

        import torch
        import torch.nn as nn
        import torch.nn.functional as F

        from nemo_automodel.components.models.common.backend import BackendConfig, initialize_linear_module
        from nemo_automodel.components.moe.config import MoEConfig


        class MLP(nn.Module):
            def __init__(self, dim: int, inter_dim: int, backend: str, dtype: torch.dtype = torch.bfloat16):
                super().__init__()
                self.up_proj = initialize_linear_module(backend, dim, inter_dim, dtype=dtype)
                self.down_proj = initialize_linear_module(backend, inter_dim, dim, dtype=dtype)

            def forward(self, x):
                return self.down_proj(F.silu(self.up_proj(x)))


        class Gate(nn.Module):
            def __init__(self, config: MoEConfig, gate_precision=None):
                super().__init__()
                self.chosen = config.n_activated_experts
                self.gate_precision = gate_precision
                self.bias_update_factor = config.gate_bias_update_factor
                self.offset, self.load = 0.0, None
                self.weight = nn.Parameter(torch.empty(config.n_routed_experts, config.dim, dtype=config.dtype))

            def forward(self, x):
                precision = self.gate_precision or x.dtype
                scores = F.linear(x.to(precision), self.weight.to(precision)).float().softmax(dim=-1)
                chosen = (scores + self.offset).topk(self.chosen, dim=-1).indices
                self.load = chosen.flatten().bincount(minlength=scores.shape[-1]).float()
                return scores.gather(-1, chosen), chosen

            def update_bias(self):
                if self.load is not None:
                    self.offset = self.offset + self.bias_update_factor * (self.load.mean() - self.load).sign()
                    self.load = None


        class MoE(nn.Module):
            def __init__(self, config: MoEConfig, backend: BackendConfig):
                super().__init__()
                self.gate = Gate(config, gate_precision=backend.gate_precision)
                self.experts = nn.ModuleList(
                    [
                        MLP(config.dim, config.moe_inter_dim, backend.linear, dtype=config.dtype)
                        for _ in range(config.n_routed_experts)
                    ]
                )

            def forward(self, x, padding_mask=None):
                weights, chosen = self.gate(x)
                if padding_mask is not None:
                    weights = weights.masked_fill(padding_mask.unsqueeze(-1), 0.0)
                total = torch.zeros_like(x)
                for index, expert in enumerate(self.experts):
                    share = (weights * (chosen == index)).sum(dim=-1, keepdim=True)
                    total = total + share.to(x.dtype) * expert(x)
                return total
        '''
    ),
    "nemo_automodel/components/models/acme/sparse.py": _file(
        '''
        """The decoder with experts, without its head."""

        import torch.nn as nn

        from nemo_automodel.components.moe.config import MoEConfig
        from nemo_automodel.components.moe.layers import MoE


        class SparseBlock(nn.Module):
            def __init__(self, moe_config, backend):
                super().__init__()
                self.mlp = MoE(moe_config, backend)

            def forward(self, hidden, padding_mask=None):
                return hidden + self.mlp(hidden, padding_mask)


        class AcmeSparseModel(nn.Module):
            def __init__(self, config, backend, moe_config=None, moe_overrides=None):
                super().__init__()
                defaults = dict(
                    dim=config.hidden_size,
                    moe_inter_dim=2 * config.hidden_size,
                    n_routed_experts=8,
                    n_activated_experts=2,
                    gate_bias_update_factor=0.0,
                )
                if moe_overrides:
                    defaults.update(moe_overrides)
                self.moe_config = moe_config or MoEConfig(**defaults)
                self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
                self.layers = nn.ModuleList(
                    [SparseBlock(self.moe_config, backend) for _ in range(config.num_hidden_layers)]
                )

            def forward(self, input_ids, padding_mask=None):
                hidden = self.embed_tokens(input_ids)
                for layer in self.layers:
                    hidden = layer(hidden, padding_mask)
                return hidden
        '''
    ),
}
