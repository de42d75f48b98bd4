"""Configuration of Sycamore."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.hawthorn.config import HawthornConfig
from acme_automodel.components.models.spruce.config import TINY_MOE_SIZES


class SycamoreConfig(HawthornConfig):
    """Hawthorn's sizes, and which release the layout of the checkpoint is of: 1, 2 or 3."""

    model_type = "sycamore"

    def __init__(self, release: int = 1, name_or_path: str = "", **kwargs: Any):
        self.release = release
        self.name_or_path = name_or_path
        super().__init__(**kwargs)


def tiny_config(**overrides: Any) -> SycamoreConfig:
    """Return a configuration that a test can build in milliseconds."""
    return SycamoreConfig(**{**TINY_MOE_SIZES, "attention_period": 2, "num_state_heads": 3, **overrides})
