"""Configuration of Yew."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.fir.config import TINY_SIZES, FirConfig


class YewConfig(FirConfig):
    """Fir's sizes; published checkpoints are tied."""

    model_type = "yew"

    def __init__(self, tie_word_embeddings: bool = True, **kwargs: Any):
        super().__init__(tie_word_embeddings=tie_word_embeddings, **kwargs)


def tiny_config(**overrides: Any) -> YewConfig:
    """Return a configuration that a test can build in milliseconds."""
    return YewConfig(**{**TINY_SIZES, **overrides})
