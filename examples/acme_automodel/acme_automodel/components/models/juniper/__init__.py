"""Juniper: a decoder whose activation function is chosen by name, from transformers."""

from acme_automodel.components.models.juniper.config import JuniperConfig
from acme_automodel.components.models.juniper.model import JuniperForCausalLM

__all__ = ["JuniperConfig", "JuniperForCausalLM"]
