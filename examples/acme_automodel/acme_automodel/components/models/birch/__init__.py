"""Birch: the language model out of a speech checkpoint, on the shared language-model base."""

from acme_automodel.components.models.birch.config import BirchConfig
from acme_automodel.components.models.birch.model import BirchForCausalLM

__all__ = ["BirchConfig", "BirchForCausalLM"]
