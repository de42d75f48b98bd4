"""Configuration of Blackthorn."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.fir.config import TINY_SIZES, FirConfig


class BlackthornConfig(FirConfig):
    """Fir's sizes; every ``attention_period``-th layer of the decoder attends, the others carry a state."""

    model_type = "blackthorn"

    def __init__(self, attention_period: int = 4, num_state_heads: int = 32, num_labels: int = 1, **kwargs: Any):
        self.attention_period = attention_period
        self.num_state_heads = num_state_heads
        self.num_labels = num_labels
        super().__init__(**kwargs)


def tiny_config(**overrides: Any) -> BlackthornConfig:
    """Return a configuration that a test can build in milliseconds."""
    return BlackthornConfig(**{**TINY_SIZES, "attention_period": 2, "num_state_heads": 3, **overrides})
