"""Linden: the language model out of an image checkpoint, always tied."""

from acme_automodel.components.models.linden.config import LindenConfig
from acme_automodel.components.models.linden.model import LindenForCausalLM

__all__ = ["LindenConfig", "LindenForCausalLM"]
