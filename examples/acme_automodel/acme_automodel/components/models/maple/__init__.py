"""Maple: a decoder whose feed-forward blocks are mixtures of experts, without shared experts."""

from acme_automodel.components.models.maple.config import MapleConfig
from acme_automodel.components.models.maple.model import MapleForCausalLM

__all__ = ["MapleConfig", "MapleForCausalLM"]
