"""Configuration of Larch."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.fir.config import TINY_SIZES, FirConfig


class LarchConfig(FirConfig):
    """Fir's sizes, and how far back a token can look (None: to the start)."""

    model_type = "larch"

    def __init__(self, attention_window: int | None = None, **kwargs: Any):
        self.attention_window = attention_window
        super().__init__(**kwargs)


def tiny_config(**overrides: Any) -> LarchConfig:
    """Return a configuration that a test can build in milliseconds."""
    return LarchConfig(**{**TINY_SIZES, "attention_window": 5, **overrides})
