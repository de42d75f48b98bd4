"""Hornbeam: a decoder that is dense at the bottom and holds experts above."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn as nn

from acme_automodel.components.models.common.attention import GroupedQueryAttention, build_attention_mask
from acme_automodel.components.models.common.backend import BackendConfig, initialize_linear_module
from acme_automodel.components.models.common.hf_checkpointing_mixin import HFCheckpointingMixin
from acme_automodel.components.models.common.initialization import initialize_module_tree
from acme_automodel.components.models.common.language_model_head import project_to_vocabulary
from acme_automodel.components.models.common.precision import cast_model_to_dtype, dtype_of
from acme_automodel.components.models.common.rotary import RotaryEmbedding
from acme_automodel.components.models.common.tie_word_embeddings import (
    TieSupport,
    reject_unsupported_tie_word_embeddings,
)
from acme_automodel.components.models.hornbeam.config import HornbeamConfig
from acme_automodel.components.models.hornbeam.layers import DenseMLP, MaskedMoE, build_norm
from acme_automodel.components.moe.config import MoEConfig
from acme_automodel.components.moe.fsdp_mixin import MoEFSDPSyncMixin


class HornbeamDecoderLayer(nn.Module):
    """Attention, then a dense block or experts; each normalised before and added after."""

    def __init__(self, config: HornbeamConfig, layer_index: int, moe_config: MoEConfig, backend: BackendConfig):
        super().__init__()
        dtype = dtype_of(config)
        self.input_layernorm = build_norm(config.hidden_size, config.rms_norm_eps, dtype=dtype)
        self.self_attn = GroupedQueryAttention(
            config.hidden_size, config.num_attention_heads, config.num_key_value_heads, dtype=dtype
        )
        self.post_attention_layernorm = build_norm(config.hidden_size, config.rms_norm_eps, dtype=dtype)
        # Remembered, because the block itself may be wrapped by the time it runs.
        self.is_routed = layer_index >= config.num_dense_layers
        if self.is_routed:
            self.mlp = MaskedMoE(moe_config, backend)
        else:
            self.mlp = DenseMLP(config.hidden_size, config.intermediate_size, dtype=dtype)

    def forward(
        self,
        hidden: torch.Tensor,
        visible: torch.Tensor,
        rotary: tuple[torch.Tensor, torch.Tensor],
        attention_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Map ``[B, S, H]`` to ``[B, S, H]``."""
        hidden = hidden + self.self_attn(self.input_layernorm(hidden), visible, rotary)
        normed = self.post_attention_layernorm(hidden)
        if self.is_routed:
            return hidden + self.mlp(normed, attention_mask)
        return hidden + self.mlp(normed)


class HornbeamModel(nn.Module):
    """Embedding, layers and final norm."""

    def __init__(
        self,
        config: HornbeamConfig,
        backend: BackendConfig,
        *,
        moe_config: MoEConfig | None = None,
        moe_overrides: dict[str, Any] | None = None,
    ):
        super().__init__()
        dtype = dtype_of(config)
        defaults = dict(
            dim=config.hidden_size,
            moe_inter_dim=config.moe_intermediate_size,
            n_routed_experts=config.n_routed_experts,
            n_activated_experts=config.num_experts_per_tok,
            gate_bias_update_factor=1e-3,
            dtype=dtype,
        )
        if moe_overrides:
            defaults.update(moe_overrides)
        self.moe_config = moe_config or MoEConfig(**defaults)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size, dtype=dtype)
        self.layers = nn.ModuleList(
            [HornbeamDecoderLayer(config, i, self.moe_config, backend) for i in range(config.num_hidden_layers)]
        )
        self.norm = build_norm(config.hidden_size, config.rms_norm_eps, dtype=dtype)
        self.rotary_emb = RotaryEmbedding(config.hidden_size // config.num_attention_heads, config.rope_theta)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        position_ids: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Map token ids ``[B, S]`` to hidden states ``[B, S, H]``."""
        hidden = self.embed_tokens(input_ids)
        if position_ids is None:
            position_ids = torch.arange(hidden.shape[1], device=hidden.device)[None]
        visible = build_attention_mask(hidden, attention_mask, causal=True)
        rotary = self.rotary_emb(position_ids)
        for layer in self.layers:
            hidden = layer(hidden, visible, rotary, attention_mask)
        return self.norm(hidden)


class HornbeamForCausalLM(HFCheckpointingMixin, MoEFSDPSyncMixin, nn.Module):
    """The decoder with a head of its own; no published checkpoint ties the two."""

    config_class = HornbeamConfig
    tie_word_embeddings_support: TieSupport = TieSupport.UNTIED_ONLY
    _keep_in_fp32_modules_strict = ["gate.e_score_correction_bias", "rotary_emb.inv_freq"]

    @dataclass(frozen=True)
    class ModelCapabilities:
        """No recipe has been run with more than data parallelism."""

        supports_tp: bool = False
        supports_cp: bool = False
        supports_pp: bool = False
        supports_ep: bool = False

    def __init__(self, config: HornbeamConfig, backend: BackendConfig | None = None, **kwargs: Any):
        reject_unsupported_tie_word_embeddings(type(self), config)
        super().__init__()
        self.config = config
        # The published router projects in fp32.
        self.backend = replace(backend or BackendConfig(), gate_precision=torch.float32)
        self.model = HornbeamModel(config, self.backend, **kwargs)
        self.lm_head = initialize_linear_module(
            self.backend.linear, config.hidden_size, config.vocab_size, dtype=dtype_of(config)
        )

    def get_input_embeddings(self) -> nn.Module:
        return self.model.embed_tokens

    def get_output_embeddings(self) -> nn.Module:
        return self.lm_head

    def update_moe_gate_bias(self) -> None:
        """Rebalance the experts; to be called once an optimiser step."""
        for layer in self.model.layers:
            if layer.is_routed:
                layer.mlp.gate.update_bias()

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        position_ids: torch.Tensor | None = None,
        logits_to_keep: int = 0,
        **kwargs: Any,
    ) -> torch.Tensor:
        """Map token ids ``[B, S]`` to logits ``[B, S, V]``."""
        hidden = self.model(input_ids, attention_mask=attention_mask, position_ids=position_ids)
        return project_to_vocabulary(self.lm_head, hidden, logits_to_keep)

    @torch.no_grad()
    def initialize_weights(
        self, buffer_device: torch.device | None = None, dtype: torch.dtype = torch.bfloat16
    ) -> None:
        """Fill a model that has no checkpoint, and bring it to ``dtype``."""
        initialize_module_tree(self, self.config.initializer_range, buffer_device)
        cast_model_to_dtype(self, dtype)


ModelClass = HornbeamForCausalLM
