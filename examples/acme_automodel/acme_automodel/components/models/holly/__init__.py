"""Holly: Hornbeam's layers, with experts that are chosen by a softmax."""

from acme_automodel.components.models.holly.config import HollyConfig
from acme_automodel.components.models.holly.model import HollyForCausalLM

__all__ = ["HollyConfig", "HollyForCausalLM"]
