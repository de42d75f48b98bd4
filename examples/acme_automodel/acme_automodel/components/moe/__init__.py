"""Mixture of experts: configuration, layer, and the mixin that models with experts inherit."""

from acme_automodel.components.moe.config import MoEConfig
from acme_automodel.components.moe.fsdp_mixin import MoEFSDPSyncMixin
from acme_automodel.components.moe.layers import MoE

__all__ = ["MoE", "MoEConfig", "MoEFSDPSyncMixin"]
