"""A base for language models that differ only in their backbone."""

from __future__ import annotations

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


class CausalLMBase(HFCheckpointingMixin, nn.Module):
    """Checks the tie and builds the head; the subclass adds ``self.model`` and ties the two."""

    tie_word_embeddings_support: TieSupport = TieSupport.BOTH

    def __init__(self, config: Any, backend: BackendConfig | None = None):
        reject_unsupported_tie_word_embeddings(type(self), config)
        super().__init__()
        self.config = config
        self.backend = backend or BackendConfig()
        self.lm_head = initialize_linear_module(
            self.backend.linear, config.hidden_size, config.vocab_size, dtype=dtype_of(config)
        )

    def get_output_embeddings(self) -> nn.Module:
        return self.lm_head

    def tie_weights(self, *args: Any, **kwargs: Any) -> None:
        """Nothing to alias here: only the subclass knows where its embedding is."""

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
