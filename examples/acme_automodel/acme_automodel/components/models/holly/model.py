"""Holly: Hornbeam's layers, with experts that are chosen by a softmax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn as nn
import torch.nn.functional as F

from acme_automodel.components.models.common.attention import GroupedQueryAttention, build_attention_mask
from acme_automodel.components.models.common.backend import BackendConfig, initialize_linear_module
from acme_automodel.components.models.common.hf_checkpointing_mixin import HFCheckpointingMixin
from acme_automodel.components.models.common.initialization import initialize_module_tree
from acme_automodel.components.models.common.language_model_head import project_to_vocabulary
from acme_automodel.components.models.common.precision import dtype_of
from acme_automodel.components.models.common.rotary import RotaryEmbedding
from acme_automodel.components.models.common.tie_word_embeddings import (
    TieSupport,
    reject_unsupported_tie_word_embeddings,
)
from acme_automodel.components.models.holly.config import HollyConfig
from acme_automodel.components.models.hornbeam.layers import DenseMLP, MaskedMoE, build_norm
from acme_automodel.components.moe.config import MoEConfig
from acme_automodel.components.moe.layers import Gate


class HollyGate(Gate):
    """Scores that compete: they sum to one over the experts."""

    def forward(self, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Map tokens ``[T, H]`` to expert weights ``[T, K]`` and expert indices ``[T, K]``."""
        scores = F.linear(tokens, self.weight).softmax(dim=-1)
        indices = (scores + self.e_score_correction_bias).topk(self.top_k, dim=-1).indices
        return scores.gather(-1, indices) * self.route_scale, indices


class HollyMoE(MaskedMoE):
    """Hornbeam's experts behind Holly's gate."""

    def __init__(self, config: MoEConfig, backend: BackendConfig):
        super().__init__(config, backend)
        self.gate = HollyGate(config)


class HollyDecoderLayer(nn.Module):
    """Attention, then a dense block or experts; each normalised before and added after."""

    def __init__(self, config: HollyConfig, layer_index: int, moe_config: MoEConfig, backend: BackendConfig):
        super().__init__()
        dtype = dtype_of(config)
        self.input_layernorm = build_norm(config.hidden_size, config.rms_norm_eps, dtype=dtype)
        self.self_attn = GroupedQueryAttention(
            config.hidden_size, config.num_attention_heads, config.num_key_value_heads, dtype=dtype
        )
        self.post_attention_layernorm = build_norm(config.hidden_size, config.rms_norm_eps, dtype=dtype)
        if config.n_routed_experts == 0:
            self.mlp = DenseMLP(config.hidden_size, config.intermediate_size, dtype=dtype)
        elif layer_index >= config.num_dense_layers:
            self.mlp = HollyMoE(moe_config, backend)
        else:
            self.mlp = DenseMLP(config.hidden_size, config.intermediate_size)

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
        if isinstance(self.mlp, HollyMoE):
            return hidden + self.mlp(normed, attention_mask)
        return hidden + self.mlp(normed)


class HollyModel(nn.Module):
    """Embedding, layers and final norm."""

    def __init__(self, config: HollyConfig, backend: BackendConfig):
        super().__init__()
        dtype = dtype_of(config)
        self.moe_config = MoEConfig(
            dim=config.hidden_size,
            moe_inter_dim=config.moe_intermediate_size,
            n_routed_experts=config.n_routed_experts,
            n_activated_experts=config.num_experts_per_tok,
            route_scale=config.routed_scaling_factor,
            gate_bias_update_factor=1e-3,
            dtype=dtype,
        )
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size, dtype=dtype)
        self.layers = nn.ModuleList(
            [HollyDecoderLayer(config, i, self.moe_config, backend) for i in range(config.num_hidden_layers)]
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


class HollyForCausalLM(HFCheckpointingMixin, nn.Module):
    """The decoder with a head of its own; no published checkpoint ties the two."""

    config_class = HollyConfig
    tie_word_embeddings_support: TieSupport = TieSupport.UNTIED_ONLY
    _keep_in_fp32_modules_strict = ["gate.e_score_correction_bias"]

    @dataclass(frozen=True)
    class ModelCapabilities:
        """The experts can be spread over ranks."""

        supports_tp: bool = False
        supports_cp: bool = False
        supports_pp: bool = False
        supports_ep: bool = True

    def __init__(self, config: HollyConfig, backend: BackendConfig | None = None, **kwargs: Any):
        reject_unsupported_tie_word_embeddings(type(self), config)
        super().__init__()
        self.config = config
        self.backend = backend or BackendConfig()
        self.model = HollyModel(config, self.backend)
        self.lm_head = initialize_linear_module(
            self.backend.linear, config.hidden_size, config.vocab_size, dtype=dtype_of(config)
        )

    def get_input_embeddings(self) -> nn.Module:
        return self.model.embed_tokens

    def get_output_embeddings(self) -> nn.Module:
        return self.lm_head

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
        self.to(dtype)


ModelClass = HollyForCausalLM
