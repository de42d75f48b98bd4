"""Configuration of Hawthorn."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.spruce.config import TINY_MOE_SIZES
from acme_automodel.shared.configuration import AcmePretrainedConfig


class HawthornConfig(AcmePretrainedConfig):
    """Sizes of the decoder; every ``attention_period``-th layer attends, the others carry a state."""

    model_type = "hawthorn"

    def __init__(
        self,
        vocab_size: int = 64000,
        hidden_size: int = 2048,
        moe_intermediate_size: int = 1024,
        num_hidden_layers: int = 24,
        attention_period: int = 4,
        num_attention_heads: int = 16,
        num_key_value_heads: int = 4,
        num_state_heads: int = 32,
        n_routed_experts: int = 16,
        num_experts_per_tok: int = 2,
        rms_norm_eps: float = 1e-6,
        rope_theta: float = 50000.0,
        **kwargs: Any,
    ):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.moe_intermediate_size = moe_intermediate_size
        self.num_hidden_layers = num_hidden_layers
        self.attention_period = attention_period
        self.num_attention_heads = num_attention_heads
        self.num_key_value_heads = num_key_value_heads
        self.num_state_heads = num_state_heads
        self.n_routed_experts = n_routed_experts
        self.num_experts_per_tok = num_experts_per_tok
        self.rms_norm_eps = rms_norm_eps
        self.rope_theta = rope_theta
        super().__init__(**kwargs)


def tiny_config(**overrides: Any) -> HawthornConfig:
    """Return a configuration that a test can build in milliseconds."""
    return HawthornConfig(**{**TINY_MOE_SIZES, "attention_period": 2, "num_state_heads": 3, **overrides})
