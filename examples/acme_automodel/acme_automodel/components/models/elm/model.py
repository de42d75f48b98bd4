"""Elm: a dense decoder with biased projections and a normalised embedding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn as nn

from acme_automodel.components.models.common.backend import BackendConfig, initialize_linear_module
from acme_automodel.components.models.common.hf_checkpointing_mixin import HFCheckpointingMixin
from acme_automodel.components.models.common.initialization import initialize_module_tree
from acme_automodel.components.models.common.language_model_head import project_to_vocabulary
from acme_automodel.components.models.common.precision import cast_model_to_dtype, dtype_of
from acme_automodel.components.models.common.tie_word_embeddings import (
    TieSupport,
    reject_unsupported_tie_word_embeddings,
)
from acme_automodel.components.models.elm.config import ElmConfig
from acme_automodel.components.models.fir.model import FirModel


class ElmModel(FirModel):
    """Fir's decoder behind a normalised embedding."""

    def __init__(self, config: ElmConfig):
        super().__init__(config)
        self.embed_norm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps, dtype=dtype_of(config))

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        position_ids: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Map token ids ``[B, S]`` to hidden states ``[B, S, H]``."""
        embeds = self.embed_norm(self.embed_tokens(input_ids))
        return super().forward(attention_mask=attention_mask, position_ids=position_ids, inputs_embeds=embeds)


class ElmForCausalLM(HFCheckpointingMixin, nn.Module):
    """The decoder with a language-model head, tied to the embedding or separate from it."""

    config_class = ElmConfig
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

    def __init__(self, config: ElmConfig, backend: BackendConfig | None = None):
        super().__init__()
        reject_unsupported_tie_word_embeddings(ElmForCausalLM, config)
        self.config = config
        self.backend = backend or BackendConfig()
        self.model = ElmModel(config)
        self.lm_head = initialize_linear_module(
            self.backend.linear, config.hidden_size, config.vocab_size, dtype=dtype_of(config)
        )
        if getattr(config, "tie_word_embeddings", True):
            self.tie_weights()

    def get_input_embeddings(self) -> nn.Module:
        return self.model.embed_tokens

    def get_output_embeddings(self) -> nn.Module:
        return self.lm_head

    def tie_weights(self, *args: Any, **kwargs: Any) -> None:
        """Let the head share the embedding's weight ``[V, H]``."""
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
        if getattr(self.config, "tie_word_embeddings", False):
            self.tie_weights()
        cast_model_to_dtype(self, dtype)


ModelClass = ElmModel
