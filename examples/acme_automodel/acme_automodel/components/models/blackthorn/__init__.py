"""Blackthorn: a decoder of state-space blocks and attention, and a classifier that has only the attention."""

from acme_automodel.components.models.blackthorn.config import BlackthornConfig
from acme_automodel.components.models.blackthorn.model import (
    BlackthornForCausalLM,
    BlackthornForSequenceClassification,
)

__all__ = ["BlackthornConfig", "BlackthornForCausalLM", "BlackthornForSequenceClassification"]
