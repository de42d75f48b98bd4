"""Yew: Fir's decoder, with the attention kernel chosen by torch's own switch."""

from acme_automodel.components.models.yew.config import YewConfig
from acme_automodel.components.models.yew.model import YewForCausalLM

__all__ = ["YewConfig", "YewForCausalLM"]
