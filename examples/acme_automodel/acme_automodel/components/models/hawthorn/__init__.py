"""Hawthorn: a decoder of state-space blocks, with attention now and then and experts throughout."""

from acme_automodel.components.models.hawthorn.config import HawthornConfig
from acme_automodel.components.models.hawthorn.model import HawthornForCausalLM

__all__ = ["HawthornConfig", "HawthornForCausalLM"]
