"""Configuration of Holly."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.hornbeam.config import TINY_MIXED_SIZES, HornbeamConfig


class HollyConfig(HornbeamConfig):
    """Hornbeam's sizes, and how much the experts weigh against the residual."""

    model_type = "holly"

    def __init__(self, routed_scaling_factor: float = 2.5, **kwargs: Any):
        self.routed_scaling_factor = routed_scaling_factor
        super().__init__(**kwargs)


def tiny_config(**overrides: Any) -> HollyConfig:
    """Return a configuration that a test can build in milliseconds."""
    return HollyConfig(**{**TINY_MIXED_SIZES, **overrides})
