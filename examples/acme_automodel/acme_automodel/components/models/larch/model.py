"""Larch: a decoder with parallel blocks, on the shared language-model base."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn as nn

from acme_automodel._transformers.model_capabilities import ModelCapabilities
from acme_automodel.components.models.common.attention import GroupedQueryAttention, build_attention_mask
from acme_automodel.components.models.common.backend import BackendConfig
from acme_automodel.components.models.common.causal_lm import CausalLMBase
from acme_automodel.components.models.common.feed_forward import SwiGLU
from acme_automodel.components.models.common.precision import dtype_of
from acme_automodel.components.models.common.rotary import RotaryEmbedding
from acme_automodel.components.models.larch.config import LarchConfig


class LarchDecoderLayer(nn.Module):
    """Attention and feed-forward side by side, from one norm."""

    def __init__(self, config: LarchConfig):
        super().__init__()
        dtype = dtype_of(config)
        self.norm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps, dtype=dtype)
        self.self_attn = GroupedQueryAttention(
            config.hidden_size, config.num_attention_heads, config.num_key_value_heads, dtype=dtype
        )
        self.mlp = SwiGLU(config.hidden_size, config.intermediate_size, dtype=dtype)

    def forward(
        self, hidden: torch.Tensor, visible: torch.Tensor, rotary: tuple[torch.Tensor, torch.Tensor]
    ) -> torch.Tensor:
        """Map ``[B, S, H]`` to ``[B, S, H]``."""
        normed = self.norm(hidden)
        return hidden + self.self_attn(normed, visible, rotary) + self.mlp(normed)


class LarchModel(nn.Module):
    """Embedding, layers and final norm."""

    def __init__(self, config: LarchConfig):
        super().__init__()
        dtype = dtype_of(config)
        self.attention_window = config.attention_window
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size, dtype=dtype)
        self.layers = nn.ModuleList([LarchDecoderLayer(config) for _ in range(config.num_hidden_layers)])
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
        visible = build_attention_mask(hidden, attention_mask, causal=True, window=self.attention_window)
        rotary = self.rotary_emb(position_ids)
        for layer in self.layers:
            hidden = layer(hidden, visible, rotary)
        return self.norm(hidden)


class LarchForCausalLM(CausalLMBase):
    """Policy, guard and head come from the base; where the embedding is, only this class knows."""

    config_class = LarchConfig
    _tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}
    _keep_in_fp32_modules_strict = ["rotary_emb.inv_freq"]

    @classmethod
    def get_capabilities(cls, config: LarchConfig) -> ModelCapabilities:
        # A window that crosses the cut between two ranks would need keys from both.
        return ModelCapabilities(supports_cp=config.attention_window is None)

    def __init__(self, config: LarchConfig, backend: BackendConfig | None = None):
        super().__init__(config, backend)
        self.model = LarchModel(config)
        self.tie_weights()

    def get_input_embeddings(self) -> nn.Module:
        return self.model.embed_tokens

    def tie_weights(self, *args: Any, **kwargs: Any) -> None:
        """Let the head share the embedding's weight ``[V, H]``, if the config says so."""
        if self.config.tie_word_embeddings:
            self.lm_head.weight = self.model.embed_tokens.weight


ModelClass = LarchForCausalLM
