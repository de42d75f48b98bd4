"""Aspen: a bidirectional encoder for retrieval, with a choice of poolings."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn as nn

from acme_automodel._transformers.model_capabilities import ModelCapabilities
from acme_automodel.components.models.aspen.config import AspenConfig
from acme_automodel.components.models.common.precision import dtype_of
from acme_automodel.components.models.willow.model import WillowBidirectionalModel, mean_pool


class AspenBidirectionalModel(WillowBidirectionalModel):
    """Willow's encoder under Aspen's configuration."""

    config_class = AspenConfig

    class ModelCapabilities:
        """No recipe has been run with more than data parallelism."""

        supports_tp: bool = False
        supports_cp: bool = False
        supports_pp: bool = False
        supports_ep: bool = False

    def __init__(self, config: AspenConfig):
        super().__init__(config)
        self.pooling = config.pooling

    def pool(self, hidden: torch.Tensor, attention_mask: torch.Tensor | None) -> torch.Tensor:
        """Map ``[B, S, H]`` to ``[B, H]``."""
        return hidden[:, 0] if self.pooling == "first" else mean_pool(hidden, attention_mask)


class AspenForSequenceClassification(AspenBidirectionalModel):
    """The encoder with a score for each label."""

    def __init__(self, config: AspenConfig):
        super().__init__(config)
        self.score = nn.Linear(config.hidden_size, config.num_labels, bias=False, dtype=dtype_of(config))

    def get_capabilities(self, config: AspenConfig) -> ModelCapabilities:
        return ModelCapabilities()

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **kwargs: Any
    ) -> torch.Tensor:
        """Map token ids ``[B, S]`` to scores ``[B, num_labels]``."""
        hidden = super().forward(input_ids, attention_mask=attention_mask)
        return self.score(self.pool(hidden, attention_mask))


class AspenForRerank(AspenForSequenceClassification):
    """Scores one text against a query, between zero and one."""

    @classmethod
    def get_capabilities(cls, config: AspenConfig) -> ModelCapabilities:
        return ModelCapabilities()

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **kwargs: Any
    ) -> torch.Tensor:
        """Map token ids ``[B, S]`` to scores ``[B, num_labels]``."""
        return super().forward(input_ids, attention_mask=attention_mask).sigmoid()


ModelClass = [AspenBidirectionalModel, AspenForSequenceClassification, AspenForRerank]
