"""Cedar: images and text in, text out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn as nn

from acme_automodel.components.models.cedar.config import CedarConfig
from acme_automodel.components.models.cedar.vision import CedarProjector, CedarVisionTower
from acme_automodel.components.models.common.backend import BackendConfig, initialize_linear_module
from acme_automodel.components.models.common.hf_checkpointing_mixin import HFCheckpointingMixin
from acme_automodel.components.models.common.initialization import initialize_module_tree
from acme_automodel.components.models.common.language_model_head import project_to_vocabulary
from acme_automodel.components.models.common.precision import cast_model_to_dtype, dtype_of
from acme_automodel.components.models.common.tie_word_embeddings import (
    TieSupport,
    reject_tie_word_embeddings_flip,
    reject_unsupported_tie_word_embeddings,
)
from acme_automodel.components.models.fir.model import FirModel


class CedarModel(nn.Module):
    """Vision tower, projector and language model."""

    def __init__(self, config: CedarConfig):
        super().__init__()
        self.image_token_id = config.image_token_id
        self.vision_tower = CedarVisionTower(config.vision_config)
        self.projector = CedarProjector(
            config.vision_config.hidden_size, config.text_config.hidden_size, dtype_of(config.text_config)
        )
        self.language_model = FirModel(config.text_config)

    def forward(
        self,
        input_ids: torch.Tensor,
        pixel_values: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        position_ids: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Map ids ``[B, S]`` and images ``[N, C, height, width]`` to hidden states ``[B, S, H]``.

        The ids hold one placeholder for each patch, ``N * P`` in all, in the order of the images.
        """
        embeds = self.language_model.embed_tokens(input_ids)
        if pixel_values is not None:
            image_states = self.projector(self.vision_tower(pixel_values)).flatten(0, 1)
            placeholders = input_ids == self.image_token_id
            if int(placeholders.sum()) != len(image_states):
                raise ValueError(f"{int(placeholders.sum())} image tokens for {len(image_states)} patches")
            embeds = embeds.masked_scatter(placeholders[..., None], image_states.to(embeds.dtype))
        return self.language_model(attention_mask=attention_mask, position_ids=position_ids, inputs_embeds=embeds)


class CedarForConditionalGeneration(HFCheckpointingMixin, nn.Module):
    """The model with a head that always shares the embedding's weight."""

    config_class = CedarConfig
    tie_word_embeddings_support: TieSupport = TieSupport.TIED_ONLY
    _tied_weights_keys = {"lm_head.weight": "model.language_model.embed_tokens.weight"}
    _keep_in_fp32_modules_strict = ["language_model.rotary_emb.inv_freq"]

    @dataclass(frozen=True)
    class ModelCapabilities:
        """No recipe has been run with more than data parallelism."""

        supports_tp: bool = False
        supports_cp: bool = False
        supports_pp: bool = False
        supports_ep: bool = False

    @classmethod
    def from_pretrained(
        cls, pretrained_model_name_or_path: str, config: CedarConfig | None = None, **model_kwargs: Any
    ) -> CedarForConditionalGeneration:
        """Load a folder, optionally with another config: other image sizes, but never another tie."""
        checkpoint_config = CedarConfig.from_pretrained(pretrained_model_name_or_path)
        requested_config = checkpoint_config if config is None else config
        reject_tie_word_embeddings_flip(checkpoint_config, requested_config, cls.__name__)
        model = cls(requested_config, **model_kwargs)
        model.load_checkpoint(pretrained_model_name_or_path)
        return model

    def __init__(self, config: CedarConfig, backend: BackendConfig | None = None):
        reject_unsupported_tie_word_embeddings(type(self), config)
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
        """Let the head share the embedding's weight ``[V, H]``; there is no untied checkpoint."""
        self.lm_head.weight = self.model.language_model.embed_tokens.weight

    def forward(
        self,
        input_ids: torch.Tensor,
        pixel_values: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        position_ids: torch.Tensor | None = None,
        logits_to_keep: int = 0,
        **kwargs: Any,
    ) -> torch.Tensor:
        """Map ids ``[B, S]`` and images ``[N, C, height, width]`` to logits ``[B, S, V]``."""
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


ModelClass = CedarForConditionalGeneration
