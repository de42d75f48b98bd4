"""Poplar: Cedar's layout with a head that may be tied."""

from acme_automodel.components.models.poplar.config import PoplarConfig, PoplarTextConfig
from acme_automodel.components.models.poplar.model import PoplarForConditionalGeneration

__all__ = ["PoplarConfig", "PoplarTextConfig"]
