"""Larch: a decoder with parallel blocks, on the shared language-model base."""

from acme_automodel.components.models.larch.config import LarchConfig
from acme_automodel.components.models.larch.model import LarchForCausalLM

__all__ = ["LarchConfig", "LarchForCausalLM"]
