"""Spruce: a decoder whose feed-forward blocks are mixtures of experts."""

from acme_automodel.components.models.spruce.config import SpruceConfig
from acme_automodel.components.models.spruce.model import SpruceForCausalLM

__all__ = ["SpruceConfig", "SpruceForCausalLM"]
