"""Sycamore: Hawthorn's decoder with a value head, in three layouts of checkpoints."""

from acme_automodel.components.models.sycamore.config import SycamoreConfig
from acme_automodel.components.models.sycamore.model import SycamoreForCausalLM

__all__ = ["SycamoreConfig", "SycamoreForCausalLM"]
