"""Hawthorn: a decoder of state-space blocks, with attention now and then and experts throughout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn as nn

from acme_automodel.components.models.common.attention import build_attention_mask
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
from acme_automodel.components.models.hawthorn.config import HawthornConfig
from acme_automodel.components.models.hawthorn.layers import Experts, SinkAttention, StateSpaceMixer
from acme_automodel.components.models.hawthorn.state_dict_adapter import HawthornStateDictAdapter


class HawthornDecoderLayer(nn.Module):
    """A state-space block or attention, then experts; each normalised before and added after."""

    def __init__(self, config: HawthornConfig, layer_index: int):
        super().__init__()
        dtype = dtype_of(config)
        self.is_attention = (layer_index + 1) % config.attention_period == 0
        self.input_layernorm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps, dtype=dtype)
        if self.is_attention:
            self.self_attn = SinkAttention(
                config.hidden_size, config.num_attention_heads, config.num_key_value_heads, dtype=dtype
            )
        else:
            self.mixer = StateSpaceMixer(config.hidden_size, config.num_state_heads, dtype=dtype)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps, dtype=dtype)
        self.mlp = Experts(config, dtype)

    def forward(
        self, hidden: torch.Tensor, visible: torch.Tensor, rotary: tuple[torch.Tensor, torch.Tensor]
    ) -> torch.Tensor:
        """Map ``[B, S, H]`` to ``[B, S, H]``."""
        normed = self.input_layernorm(hidden)
        mixed = self.self_attn(normed, visible, rotary) if self.is_attention else self.mixer(normed, visible)
        hidden = hidden + mixed
        return hidden + self.mlp(self.post_attention_layernorm(hidden))


class HawthornModel(nn.Module):
    """Embedding, layers and final norm."""

    def __init__(self, config: HawthornConfig):
        super().__init__()
        dtype = dtype_of(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size, dtype=dtype)
        self.layers = nn.ModuleList([HawthornDecoderLayer(config, i) for i in range(config.num_hidden_layers)])
        self.norm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps, dtype=dtype)
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
            hidden = layer(hidden, visible, rotary)
        return self.norm(hidden)


class HawthornForCausalLM(HFCheckpointingMixin, nn.Module):
    """The decoder with a head of its own; no published checkpoint ties the two."""

    config_class = HawthornConfig
    tie_word_embeddings_support: TieSupport = TieSupport.UNTIED_ONLY
    _keep_in_fp32_modules_strict = ["_fp32_params", "gate.e_score_correction_bias", "rotary_emb.inv_freq"]

    @dataclass(frozen=True)
    class ModelCapabilities:
        """No recipe has been run with more than data parallelism."""

        supports_tp: bool = False
        supports_cp: bool = False
        supports_pp: bool = False
        supports_ep: bool = False

    def __init__(self, config: HawthornConfig, backend: BackendConfig | None = None):
        reject_unsupported_tie_word_embeddings(type(self), config)
        super().__init__()
        self.config = config
        self.backend = backend or BackendConfig()
        self.model = HawthornModel(config)
        self.lm_head = initialize_linear_module(
            self.backend.linear, config.hidden_size, config.vocab_size, dtype=dtype_of(config)
        )
        if self.backend.enable_hf_state_dict_adapter:
            self.state_dict_adapter = HawthornStateDictAdapter()

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
        cast_model_to_dtype(self, dtype)


ModelClass = HawthornForCausalLM
