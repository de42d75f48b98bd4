"""Hornbeam: a decoder that is dense at the bottom and holds experts above."""

from acme_automodel.components.models.hornbeam.config import HornbeamConfig
from acme_automodel.components.models.hornbeam.model import HornbeamForCausalLM

__all__ = ["HornbeamConfig", "HornbeamForCausalLM"]
