"""Sycamore: Hawthorn's decoder with a value head, in three layouts of checkpoints."""

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
from acme_automodel.components.models.hawthorn.model import HawthornModel
from acme_automodel.components.models.sycamore.config import SycamoreConfig
from acme_automodel.components.models.sycamore.state_dict_adapter import (
    SycamoreGroupedStateDictAdapter,
    SycamoreNestedStateDictAdapter,
    SycamoreStateDictAdapter,
)


class SycamoreForCausalLM(HFCheckpointingMixin, nn.Module):
    """The decoder with a head over the vocabulary and one that says how good a text is."""

    config_class = SycamoreConfig
    tie_word_embeddings_support: TieSupport = TieSupport.UNTIED_ONLY
    _keep_in_fp32_modules_strict = ["_fp32_params", "gate.e_score_correction_bias", "rotary_emb.inv_freq"]

    @dataclass(frozen=True)
    class ModelCapabilities:
        """No recipe has been run with more than data parallelism."""

        supports_tp: bool = False
        supports_cp: bool = False
        supports_pp: bool = False
        supports_ep: bool = False

    def __init__(self, config: SycamoreConfig, backend: BackendConfig | None = None):
        reject_unsupported_tie_word_embeddings(type(self), config)
        super().__init__()
        self.config = config
        self.backend = backend or BackendConfig()
        self.model = HawthornModel(config)
        self.lm_head = initialize_linear_module(
            self.backend.linear, config.hidden_size, config.vocab_size, dtype=dtype_of(config)
        )
        self.value_head = nn.Linear(config.hidden_size, 1, bias=False, dtype=dtype_of(config))
        if config.release == 1:
            self.state_dict_adapter = SycamoreStateDictAdapter(config)
        elif config.release == 2:
            self.state_dict_adapter = SycamoreNestedStateDictAdapter(config)
        else:
            self.state_dict_adapter = SycamoreGroupedStateDictAdapter(config)

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


ModelClass = SycamoreForCausalLM
