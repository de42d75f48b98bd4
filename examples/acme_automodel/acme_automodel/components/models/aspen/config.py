"""Configuration of Aspen."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.fir.config import TINY_SIZES
from acme_automodel.components.models.willow.config import WillowConfig


class AspenConfig(WillowConfig):
    """Willow's fields, and whether a text is read at its mean or at its first token."""

    model_type = "aspen"

    def __init__(self, pooling: str = "mean", **kwargs: Any):
        self.pooling = pooling
        super().__init__(**kwargs)


def tiny_config(**overrides: Any) -> AspenConfig:
    """Return a configuration that a test can build in milliseconds."""
    return AspenConfig(**{**TINY_SIZES, **overrides})
