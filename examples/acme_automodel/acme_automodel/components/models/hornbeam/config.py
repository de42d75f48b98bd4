"""Configuration of Hornbeam."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.spruce.config import TINY_MOE_SIZES
from acme_automodel.shared.configuration import AcmePretrainedConfig


class HornbeamConfig(AcmePretrainedConfig):
    """Sizes of the decoder; the first ``num_dense_layers`` have no experts."""

    model_type = "hornbeam"

    def __init__(
        self,
        vocab_size: int = 64000,
        hidden_size: int = 2048,
        intermediate_size: int = 5632,
        moe_intermediate_size: int = 1024,
        num_hidden_layers: int = 24,
        num_dense_layers: int = 2,
        num_attention_heads: int = 16,
        num_key_value_heads: int = 4,
        n_routed_experts: int = 32,
        num_experts_per_tok: int = 4,
        rms_norm_eps: float = 1e-6,
        rope_theta: float = 50000.0,
        **kwargs: Any,
    ):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.intermediate_size = intermediate_size
        self.moe_intermediate_size = moe_intermediate_size
        self.num_hidden_layers = num_hidden_layers
        self.num_dense_layers = num_dense_layers
        self.num_attention_heads = num_attention_heads
        self.num_key_value_heads = num_key_value_heads
        self.n_routed_experts = n_routed_experts
        self.num_experts_per_tok = num_experts_per_tok
        self.rms_norm_eps = rms_norm_eps
        self.rope_theta = rope_theta
        super().__init__(**kwargs)


# One layer of each kind.
TINY_MIXED_SIZES = dict(TINY_MOE_SIZES, intermediate_size=80, num_dense_layers=1)


def tiny_config(**overrides: Any) -> HornbeamConfig:
    """Return a configuration that a test can build in milliseconds."""
    return HornbeamConfig(**{**TINY_MIXED_SIZES, **overrides})
