"""Configuration of Rowan."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.fir.config import TINY_SIZES, FirConfig


class RowanConfig(FirConfig):
    """Fir's sizes, and the bound of the logits."""

    model_type = "rowan"

    def __init__(self, logit_cap: float = 30.0, **kwargs: Any):
        self.logit_cap = logit_cap
        super().__init__(**kwargs)


def tiny_config(**overrides: Any) -> RowanConfig:
    """Return a configuration that a test can build in milliseconds."""
    return RowanConfig(**{**TINY_SIZES, **overrides})
