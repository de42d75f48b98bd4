"""Configuration of Elm."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.fir.config import TINY_SIZES, FirConfig


class ElmConfig(FirConfig):
    """Fir's sizes; the attention projections have biases."""

    model_type = "elm"

    def __init__(self, attention_bias: bool = True, **kwargs: Any):
        super().__init__(attention_bias=attention_bias, **kwargs)


def tiny_config(**overrides: Any) -> ElmConfig:
    """Return a configuration that a test can build in milliseconds."""
    return ElmConfig(**{**TINY_SIZES, **overrides})
