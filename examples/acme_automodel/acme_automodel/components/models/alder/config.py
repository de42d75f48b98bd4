"""Configuration of Alder."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.fir.config import TINY_SIZES, FirConfig


class AlderConfig(FirConfig):
    """Fir's sizes under another name."""

    model_type = "alder"


def tiny_config(**overrides: Any) -> AlderConfig:
    """Return a configuration that a test can build in milliseconds."""
    return AlderConfig(**{**TINY_SIZES, **overrides})
