"""Fir: a dense decoder with grouped-query attention and a gated feed-forward block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn as nn

from acme_automodel.components.models.common.attention import GroupedQueryAttention, build_attention_mask
from acme_automodel.components.models.common.backend import BackendConfig, initialize_linear_module
from acme_automodel.components.models.common.feed_forward import SwiGLU
from acme_automodel.components.models.common.hf_checkpointing_mixin import HFCheckpointingMixin
from acme_automodel.components.models.common.initialization import initialize_module_tree
from acme_automodel.components.models.common.language_model_head import project_to_vocabulary
from acme_automodel.components.models.common.precision import cast_model_to_dtype, dtype_of
from acme_automodel.components.models.common.rotary import RotaryEmbedding
from acme_automodel.components.models.common.tie_word_embeddings import (
    TieSupport,
    reject_unsupported_tie_word_embeddings,
)
from acme_automodel.components.models.fir.config import FirConfig


class FirDecoderLayer(nn.Module):
    """Attention, then feed-forward; each normalised before and added after."""

    def __init__(self, config: FirConfig):
        super().__init__()
        dtype = dtype_of(config)
        self.input_layernorm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps, dtype=dtype)
        self.self_attn = GroupedQueryAttention(
            config.hidden_size,
            config.num_attention_heads,
            config.num_key_value_heads,
            bias=config.attention_bias,
            dtype=dtype,
        )
        self.post_attention_layernorm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps, dtype=dtype)
        self.mlp = SwiGLU(config.hidden_size, config.intermediate_size, dtype=dtype)

    def forward(
        self, hidden: torch.Tensor, visible: torch.Tensor, rotary: tuple[torch.Tensor, torch.Tensor]
    ) -> torch.Tensor:
        """Map ``[B, S, H]`` to ``[B, S, H]``."""
        hidden = hidden + self.self_attn(self.input_layernorm(hidden), visible, rotary)
        return hidden + self.mlp(self.post_attention_layernorm(hidden))


class FirModel(nn.Module):
    """Embedding, layers and final norm."""

    def __init__(self, config: FirConfig):
        super().__init__()
        dtype = dtype_of(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size, dtype=dtype)
        self.layers = nn.ModuleList([FirDecoderLayer(config) for _ in range(config.num_hidden_layers)])
        self.norm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps, dtype=dtype)
        self.rotary_emb = RotaryEmbedding(config.hidden_size // config.num_attention_heads, config.rope_theta)

    def forward(
        self,
        input_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        position_ids: torch.Tensor | None = None,
        inputs_embeds: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Map token ids ``[B, S]``, or embeddings ``[B, S, H]`` in their place, to hidden states ``[B, S, H]``."""
        hidden = self.embed_tokens(input_ids) if inputs_embeds is None else inputs_embeds
        if position_ids is None:
            position_ids = torch.arange(hidden.shape[1], device=hidden.device)[None]
        visible = build_attention_mask(hidden, attention_mask, causal=True)
        rotary = self.rotary_emb(position_ids)
        for layer in self.layers:
            hidden = layer(hidden, visible, rotary)
        return self.norm(hidden)


class FirForCausalLM(HFCheckpointingMixin, nn.Module):
    """The decoder with a language-model head, tied to the embedding or separate from it."""

    config_class = FirConfig
    tie_word_embeddings_support: TieSupport = TieSupport.BOTH
    _tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}
    _keep_in_fp32_modules_strict = ["rotary_emb.inv_freq"]

    @dataclass(frozen=True)
    class ModelCapabilities:
        """No recipe has been run with more than data parallelism."""

        supports_tp: bool = False
        supports_cp: bool = False
        supports_pp: bool = False
        supports_ep: bool = False

    def __init__(self, config: FirConfig, backend: BackendConfig | None = None):
        reject_unsupported_tie_word_embeddings(type(self), config)
        super().__init__()
        self.config = config
        self.backend = backend or BackendConfig()
        self.model = FirModel(config)
        self.lm_head = initialize_linear_module(
            self.backend.linear, config.hidden_size, config.vocab_size, dtype=dtype_of(config)
        )
        self.tie_weights()

    def get_input_embeddings(self) -> nn.Module:
        return self.model.embed_tokens

    def get_output_embeddings(self) -> nn.Module:
        return self.lm_head

    def tie_weights(self, *args: Any, **kwargs: Any) -> None:
        """Let the head share the embedding's weight ``[V, H]``, if the config says so."""
        if self.config.tie_word_embeddings:
            self.lm_head.weight = self.model.embed_tokens.weight

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
        self.tie_weights()
        cast_model_to_dtype(self, dtype)


ModelClass = FirForCausalLM
