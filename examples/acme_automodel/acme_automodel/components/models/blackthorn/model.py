"""Blackthorn: a decoder of state-space blocks and attention, and a classifier that has only the attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn as nn
import torch.nn.functional as F

from acme_automodel.components.models.blackthorn.config import BlackthornConfig
from acme_automodel.components.models.common.attention import build_attention_mask
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
from acme_automodel.components.models.hawthorn.layers import SinkAttention


class BlackthornMixer(nn.Module):
    """Each token sees the ones before it, fainter with every step that lies between."""

    def __init__(self, hidden_size: int, num_heads: int, *, dtype: torch.dtype | None = None):
        super().__init__()
        self.num_heads = num_heads
        self.in_proj = nn.Linear(hidden_size, hidden_size, bias=False, dtype=dtype)
        self.gate = nn.Linear(hidden_size, num_heads, bias=False, dtype=torch.float32)
        self.out_proj = nn.Linear(hidden_size, hidden_size, bias=False, dtype=dtype)
        self.A_log = nn.Parameter(torch.zeros(num_heads, dtype=torch.float32))
        self.dt_bias = nn.Parameter(torch.ones(num_heads, dtype=torch.float32))
        self.D = nn.Parameter(torch.ones(num_heads, dtype=dtype))

    def init_weights(self, std: float, buffer_device: torch.device | None = None) -> None:
        nn.init.zeros_(self.A_log)
        nn.init.ones_(self.dt_bias)
        nn.init.ones_(self.D)

    def forward(self, hidden: torch.Tensor, visible: torch.Tensor) -> torch.Tensor:
        """Mix ``[B, S, H]`` over what is ``visible [B or 1, 1, S, S]``."""
        value = self.in_proj(hidden).unflatten(-1, (self.num_heads, -1)).transpose(1, 2).float()  # [B, N, S, H/N]
        step = F.softplus(self.gate(hidden.float()) + self.dt_bias.float())
        kept = (-self.A_log.exp() * step).cumsum(dim=1).transpose(1, 2)  # [B, N, S]
        weights = (kept[..., :, None] - kept[..., None, :]).masked_fill(~visible, float("-inf")).exp()
        mixed = weights @ value + self.D.float()[:, None, None] * value
        return self.out_proj(mixed.to(hidden.dtype).transpose(1, 2).flatten(2))


class BlackthornDecoderLayer(nn.Module):
    """A state-space block or attention, then feed-forward; each normalised before and added after."""

    def __init__(self, config: BlackthornConfig, *, is_attention: bool):
        super().__init__()
        dtype = dtype_of(config)
        self.is_attention = is_attention
        self.input_layernorm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps, dtype=dtype)
        if is_attention:
            self.self_attn = SinkAttention(
                config.hidden_size, config.num_attention_heads, config.num_key_value_heads, dtype=dtype
            )
        else:
            self.mixer = BlackthornMixer(config.hidden_size, config.num_state_heads, dtype=dtype)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps, dtype=dtype)
        self.mlp = SwiGLU(config.hidden_size, config.intermediate_size, dtype=dtype)

    def forward(
        self, hidden: torch.Tensor, visible: torch.Tensor, rotary: tuple[torch.Tensor, torch.Tensor]
    ) -> torch.Tensor:
        """Map ``[B, S, H]`` to ``[B, S, H]``."""
        normed = self.input_layernorm(hidden)
        mixed = self.self_attn(normed, visible, rotary) if self.is_attention else self.mixer(normed, visible)
        hidden = hidden + mixed
        return hidden + self.mlp(self.post_attention_layernorm(hidden))


class BlackthornModel(nn.Module):
    """Embedding, layers and final norm."""

    def __init__(self, config: BlackthornConfig, *, causal: bool):
        super().__init__()
        dtype = dtype_of(config)
        self.causal = causal
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size, dtype=dtype)
        # A state only ever runs forward, so that what looks both ways has attention throughout.
        self.layers = nn.ModuleList(
            [
                BlackthornDecoderLayer(config, is_attention=not causal or (i + 1) % config.attention_period == 0)
                for i in range(config.num_hidden_layers)
            ]
        )
        self.norm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps, dtype=dtype)
        self.rotary_emb = RotaryEmbedding(config.hidden_size // config.num_attention_heads, config.rope_theta)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        """Map token ids ``[B, S]`` to hidden states ``[B, S, H]``."""
        hidden = self.embed_tokens(input_ids)
        visible = build_attention_mask(hidden, attention_mask, causal=self.causal)
        rotary = self.rotary_emb(torch.arange(hidden.shape[1], device=hidden.device)[None])
        for layer in self.layers:
            hidden = layer(hidden, visible, rotary)
        return self.norm(hidden)


class BlackthornForCausalLM(HFCheckpointingMixin, nn.Module):
    """The decoder with a head of its own."""

    config_class = BlackthornConfig
    tie_word_embeddings_support: TieSupport = TieSupport.UNTIED_ONLY
    _keep_in_fp32_modules = ["self_attn._fp32_params"]
    _keep_in_fp32_modules_strict = [
        "mixer.A_log",
        "mixer.D",
        "mixer.conv1d",
        "gate",
        "rotary_emb.inv_freq",
    ]

    @dataclass(frozen=True)
    class ModelCapabilities:
        """No recipe has been run with more than data parallelism."""

        supports_tp: bool = False
        supports_cp: bool = False
        supports_pp: bool = False
        supports_ep: bool = False

    def __init__(self, config: BlackthornConfig, backend: BackendConfig | None = None):
        reject_unsupported_tie_word_embeddings(type(self), config)
        super().__init__()
        self.config = config
        self.backend = backend or BackendConfig()
        self.model = BlackthornModel(config, causal=True)
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
        logits_to_keep: int = 0,
        **kwargs: Any,
    ) -> torch.Tensor:
        """Map token ids ``[B, S]`` to logits ``[B, S, V]``."""
        hidden = self.model(input_ids, attention_mask=attention_mask)
        return project_to_vocabulary(self.lm_head, hidden, logits_to_keep)

    @torch.no_grad()
    def initialize_weights(
        self, buffer_device: torch.device | None = None, dtype: torch.dtype = torch.bfloat16
    ) -> None:
        """Fill a model that has no checkpoint, and bring it to ``dtype``."""
        initialize_module_tree(self, self.config.initializer_range, buffer_device)
        cast_model_to_dtype(self, dtype)


class BlackthornForSequenceClassification(HFCheckpointingMixin, nn.Module):
    """Scores a text by its last token; all layers attend, and in both directions."""

    config_class = BlackthornConfig
    _keep_in_fp32_modules = ["rotary_emb.inv_freq"]
    _keep_in_fp32_modules_strict = "_fp32_params"

    @dataclass(frozen=True)
    class ModelCapabilities:
        """No recipe has been run with more than data parallelism."""

        supports_tp: bool = False
        supports_cp: bool = False
        supports_pp: bool = False
        supports_ep: bool = False

    def __init__(self, config: BlackthornConfig):
        super().__init__()
        self.config = config
        self.model = BlackthornModel(config, causal=False)
        self.score = nn.Linear(config.hidden_size, config.num_labels, bias=False, dtype=dtype_of(config))

    def get_input_embeddings(self) -> nn.Module:
        return self.model.embed_tokens

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **kwargs: Any
    ) -> torch.Tensor:
        """Map token ids ``[B, S]`` to scores ``[B, num_labels]``."""
        return self.score(self.model(input_ids, attention_mask=attention_mask)[:, -1])

    @torch.no_grad()
    def initialize_weights(
        self, buffer_device: torch.device | None = None, dtype: torch.dtype = torch.bfloat16
    ) -> None:
        """Fill a model that has no checkpoint, and bring it to ``dtype``."""
        initialize_module_tree(self, self.config.initializer_range, buffer_device)
        cast_model_to_dtype(self, dtype)


ModelClass = [BlackthornForCausalLM, BlackthornForSequenceClassification]
