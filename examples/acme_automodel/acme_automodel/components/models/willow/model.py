"""Willow: a bidirectional encoder for retrieval, and a reranker on top of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn as nn

from acme_automodel.components.models.common.attention import build_attention_mask
from acme_automodel.components.models.common.hf_checkpointing_mixin import HFCheckpointingMixin
from acme_automodel.components.models.common.initialization import initialize_module_tree
from acme_automodel.components.models.common.precision import cast_model_to_dtype, dtype_of
from acme_automodel.components.models.common.rotary import RotaryEmbedding
from acme_automodel.components.models.fir.model import FirDecoderLayer
from acme_automodel.components.models.willow.config import WillowConfig


def mean_pool(hidden: torch.Tensor, attention_mask: torch.Tensor | None) -> torch.Tensor:
    """Average ``[B, S, H]`` over the real tokens of ``attention_mask [B, S]``; returns ``[B, H]``."""
    if attention_mask is None:
        return hidden.mean(dim=1)
    share = attention_mask / attention_mask.sum(dim=1, keepdim=True)
    return (hidden * share[..., None].to(hidden.dtype)).sum(dim=1)


class WillowBidirectionalModel(HFCheckpointingMixin, nn.Module):
    """Fir's layers with every token seeing every other; no head."""

    config_class = WillowConfig
    _keep_in_fp32_modules_strict = ["rotary_emb.inv_freq"]

    @dataclass(frozen=True)
    class ModelCapabilities:
        """No recipe has been run with more than data parallelism."""

        supports_tp: bool = False
        supports_cp: bool = False
        supports_pp: bool = False
        supports_ep: bool = False

    def __init__(self, config: WillowConfig):
        super().__init__()
        self.config = config
        dtype = dtype_of(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size, dtype=dtype)
        self.layers = nn.ModuleList([FirDecoderLayer(config) for _ in range(config.num_hidden_layers)])
        self.norm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps, dtype=dtype)
        self.rotary_emb = RotaryEmbedding(config.hidden_size // config.num_attention_heads, config.rope_theta)

    def get_input_embeddings(self) -> nn.Module:
        return self.embed_tokens

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **kwargs: Any
    ) -> torch.Tensor:
        """Map token ids ``[B, S]`` to hidden states ``[B, S, H]``."""
        hidden = self.embed_tokens(input_ids)
        visible = build_attention_mask(hidden, attention_mask, causal=False)
        rotary = self.rotary_emb(torch.arange(hidden.shape[1], device=hidden.device)[None])
        for layer in self.layers:
            hidden = layer(hidden, visible, rotary)
        return self.norm(hidden)

    @torch.no_grad()
    def initialize_weights(
        self, buffer_device: torch.device | None = None, dtype: torch.dtype = torch.bfloat16
    ) -> None:
        """Fill a model that has no checkpoint, and bring it to ``dtype``."""
        initialize_module_tree(self, self.config.initializer_range, buffer_device)
        cast_model_to_dtype(self, dtype)


class WillowForSequenceClassification(HFCheckpointingMixin, nn.Module):
    """Scores a pair of texts that were joined into one sequence."""

    config_class = WillowConfig
    _keep_in_fp32_modules_strict = ["rotary_emb.inv_freq"]

    @dataclass(frozen=True)
    class ModelCapabilities:
        """No recipe has been run with more than data parallelism."""

        supports_tp: bool = False
        supports_cp: bool = False
        supports_pp: bool = False
        supports_ep: bool = False

    def __init__(self, config: WillowConfig):
        super().__init__()
        self.config = config
        self.model = WillowBidirectionalModel(config)
        self.score = nn.Linear(config.hidden_size, config.num_labels, bias=False, dtype=dtype_of(config))

    def get_input_embeddings(self) -> nn.Module:
        return self.model.embed_tokens

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **kwargs: Any
    ) -> torch.Tensor:
        """Map token ids ``[B, S]`` to scores ``[B, num_labels]``."""
        hidden = self.model(input_ids, attention_mask=attention_mask)
        return self.score(mean_pool(hidden, attention_mask))

    @torch.no_grad()
    def initialize_weights(
        self, buffer_device: torch.device | None = None, dtype: torch.dtype = torch.bfloat16
    ) -> None:
        """Fill a model that has no checkpoint, and bring it to ``dtype``."""
        initialize_module_tree(self, self.config.initializer_range, buffer_device)
        cast_model_to_dtype(self, dtype)


ModelClass = [WillowBidirectionalModel, WillowForSequenceClassification]
