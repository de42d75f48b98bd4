"""Poplar: Cedar's layout with a head that may be tied."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn as nn

from acme_automodel._transformers import model_capabilities
from acme_automodel.components.models.cedar.model import CedarModel
from acme_automodel.components.models.common.backend import BackendConfig, initialize_linear_module
from acme_automodel.components.models.common.initialization import initialize_module_tree
from acme_automodel.components.models.common.language_model_head import project_to_vocabulary
from acme_automodel.components.models.common.precision import cast_model_to_dtype, dtype_of
from acme_automodel.components.models.common.tie_word_embeddings import reject_unsupported_tie_word_embeddings
from acme_automodel.components.models.poplar.config import PoplarConfig


class PoplarForConditionalGeneration(nn.Module):
    """Vision tower, projector and language model, with a head that is tied if the config says so."""

    config_class = PoplarConfig
    tie_word_embeddings_support = "both"
    _tied_weights_keys = {"lm_head.weight": "model.language_model.embed_tokens.weight"}
    _keep_in_fp32_modules_strict = ["language_model.rotary_emb.inv_freq"]

    @dataclass(frozen=True)
    class ModelCapabilities:
        """No recipe has been run with more than data parallelism."""

        supports_tp: bool = False
        supports_cp: bool = False
        supports_pp: bool = True
        supports_ep: bool = False

    @classmethod
    def get_capabilities(cls, config: PoplarConfig) -> model_capabilities.ModelCapabilities:
        return model_capabilities.ModelCapabilities()

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: str, **kwargs: Any) -> PoplarForConditionalGeneration:
        """Load a folder; keyword arguments replace fields of its config."""
        config = PoplarConfig.from_pretrained(pretrained_model_name_or_path, **kwargs)
        model = cls(config)
        weights = Path(pretrained_model_name_or_path) / "model.pt"
        model.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True), strict=False)
        return model

    def __init__(self, config: PoplarConfig, backend: BackendConfig | None = None):
        reject_unsupported_tie_word_embeddings(type(self), config.text_config)
        super().__init__()
        self.config = config
        self.backend = backend or BackendConfig()
        self.model = CedarModel(config)
        text_config = config.text_config
        self.lm_head = initialize_linear_module(
            self.backend.linear, text_config.hidden_size, text_config.vocab_size, dtype=dtype_of(text_config)
        )
        self.tie_weights()

    def get_input_embeddings(self) -> nn.Module:
        return self.model.language_model.embed_tokens

    def get_output_embeddings(self) -> nn.Module:
        return self.lm_head

    def tie_weights(self, *args: Any, **kwargs: Any) -> None:
        """Let the head share the embedding's weight ``[V, H]``, if the config says so."""
        if self.config.tie_word_embeddings:
            self.lm_head.weight = self.model.language_model.embed_tokens.weight

    def forward(
        self,
        input_ids: torch.Tensor,
        pixel_values: torch.Tensor | None = None,
        image_grid_thw: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        position_ids: torch.Tensor | None = None,
        logits_to_keep: int = 0,
        **kwargs: Any,
    ) -> torch.Tensor:
        """Map ids ``[B, S]`` and images ``[N, C, height, width]`` to logits ``[B, S, V]``."""
        chunks = getattr(self, "_vlm_pixel_values_chunks", None)
        if pixel_values is None and chunks:
            pixel_values = chunks.pop(0)
        hidden = self.model(input_ids, pixel_values, attention_mask=attention_mask, position_ids=position_ids)
        return project_to_vocabulary(self.lm_head, hidden, logits_to_keep)

    @torch.no_grad()
    def initialize_weights(
        self, buffer_device: torch.device | None = None, dtype: torch.dtype = torch.bfloat16
    ) -> None:
        """Fill a model that has no checkpoint, and bring it to ``dtype``."""
        initialize_module_tree(self, self.config.initializer_range, buffer_device)
        self.tie_weights()
        cast_model_to_dtype(self, dtype)


ModelClass = PoplarForConditionalGeneration
