"""Rowan: Fir's decoder with logits that are capped."""

from acme_automodel.components.models.rowan.config import RowanConfig
from acme_automodel.components.models.rowan.model import RowanForCausalLM

__all__ = ["RowanConfig", "RowanForCausalLM"]
