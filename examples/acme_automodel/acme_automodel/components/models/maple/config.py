"""Configuration of Maple."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.fir.config import FirConfig
from acme_automodel.components.models.spruce.config import TINY_MOE_SIZES, SpruceConfig


class MapleLegacyConfig(FirConfig):
    """The first release, which was dense."""

    model_type = "maple"


class MapleConfig(SpruceConfig):
    """Spruce's sizes, without shared experts."""

    model_type = "maple"

    def __init__(self, n_shared_experts: int = 0, **kwargs: Any):
        super().__init__(n_shared_experts=n_shared_experts, **kwargs)


def tiny_config(**overrides: Any) -> MapleConfig:
    """Return a configuration that a test can build in milliseconds."""
    return MapleConfig(**{**TINY_MOE_SIZES, **overrides})
