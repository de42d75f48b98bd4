"""Configuration of Willow."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.fir.config import TINY_SIZES, FirConfig


class WillowConfig(FirConfig):
    """Fir's sizes, and the number of scores that the reranker gives."""

    model_type = "willow"

    def __init__(self, num_labels: int = 1, **kwargs: Any):
        self.num_labels = num_labels
        super().__init__(**kwargs)


def tiny_config(**overrides: Any) -> WillowConfig:
    """Return a configuration that a test can build in milliseconds."""
    return WillowConfig(**{**TINY_SIZES, **overrides})
