"""Alder: Fir's decoder, saved without the parts that are frozen."""

from acme_automodel.components.models.alder.config import AlderConfig
from acme_automodel.components.models.alder.model import AlderForCausalLM

__all__ = ["AlderConfig", "AlderForCausalLM"]
