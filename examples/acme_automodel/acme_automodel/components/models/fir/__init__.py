"""Fir: a dense decoder with grouped-query attention and a gated feed-forward block."""

from acme_automodel.components.models.fir.config import FirConfig
from acme_automodel.components.models.fir.model import FirForCausalLM

__all__ = ["FirConfig", "FirForCausalLM"]
