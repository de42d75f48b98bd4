"""Linden: the language model out of an image checkpoint, always tied."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn as nn
import torch.nn.functional as F

from acme_automodel.components.models.common.backend import BackendConfig, initialize_linear_module
from acme_automodel.components.models.common.hf_checkpointing_mixin import HFCheckpointingMixin
from acme_automodel.components.models.common.initialization import initialize_module_tree
from acme_automodel.components.models.common.precision import cast_model_to_dtype, dtype_of
from acme_automodel.components.models.common.tie_word_embeddings import (
    TieSupport,
    reject_unsupported_tie_word_embeddings,
)
from acme_automodel.components.models.fir.model import FirModel
from acme_automodel.components.models.linden.config import LindenConfig


class LindenForCausalLM(HFCheckpointingMixin, nn.Module):
    """Fir's decoder; the vision half of the checkpoint is left behind."""

    config_class = LindenConfig
    tie_word_embeddings_support: TieSupport = TieSupport.TIED_ONLY
    _keep_in_fp32_modules_strict = ["rotary_emb.inv_freq"]
    _skip_init_weights_on_load = True

    @classmethod
    def get_capabilities(cls, config: LindenConfig) -> dict[str, bool]:
        return {"supports_tp": False, "supports_cp": False, "supports_pp": False, "supports_ep": False}

    def __init__(self, config: LindenConfig, backend: BackendConfig | None = None):
        config = config.text_config
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
        kept = hidden[:, -logits_to_keep:] if logits_to_keep else hidden
        return F.linear(kept.float(), self.lm_head.weight.float())

    @torch.no_grad()
    def initialize_weights(
        self, buffer_device: torch.device | None = None, dtype: torch.dtype = torch.bfloat16
    ) -> None:
        """Fill a model that has no checkpoint, and bring it to ``dtype``."""
        initialize_module_tree(self, self.config.initializer_range, buffer_device)
        self.tie_weights()
        cast_model_to_dtype(self, dtype)


ModelClass = LindenForCausalLM
