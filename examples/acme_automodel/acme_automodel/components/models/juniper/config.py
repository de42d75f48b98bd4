"""Configuration of Juniper."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.fir.config import TINY_SIZES, FirConfig


class JuniperConfig(FirConfig):
    """Fir's sizes, and the name of an activation function that transformers knows."""

    model_type = "juniper"

    def __init__(self, hidden_act: str = "gelu_new", **kwargs: Any):
        self.hidden_act = hidden_act
        super().__init__(**kwargs)


def tiny_config(**overrides: Any) -> JuniperConfig:
    """Return a configuration that a test can build in milliseconds."""
    return JuniperConfig(**{**TINY_SIZES, **overrides})
