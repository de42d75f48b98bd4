"""Configuration of Spruce."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.fir.config import TINY_SIZES
from acme_automodel.shared.configuration import AcmePretrainedConfig


class SpruceConfig(AcmePretrainedConfig):
    """Sizes of the decoder and of its experts."""

    model_type = "spruce"

    def __init__(
        self,
        vocab_size: int = 64000,
        hidden_size: int = 2048,
        moe_intermediate_size: int = 1024,
        num_hidden_layers: int = 24,
        num_attention_heads: int = 16,
        num_key_value_heads: int = 4,
        n_routed_experts: int = 32,
        num_experts_per_tok: int = 4,
        n_shared_experts: int = 1,
        routed_scaling_factor: float = 1.0,
        rms_norm_eps: float = 1e-6,
        rope_theta: float = 50000.0,
        **kwargs: Any,
    ):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.moe_intermediate_size = moe_intermediate_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.num_key_value_heads = num_key_value_heads
        self.n_routed_experts = n_routed_experts
        self.num_experts_per_tok = num_experts_per_tok
        self.n_shared_experts = n_shared_experts
        self.routed_scaling_factor = routed_scaling_factor
        self.rms_norm_eps = rms_norm_eps
        self.rope_theta = rope_theta
        super().__init__(**kwargs)


TINY_MOE_SIZES = dict(
    {name: size for name, size in TINY_SIZES.items() if name != "intermediate_size"},
    moe_intermediate_size=24,
    n_routed_experts=6,
    num_experts_per_tok=3,
)


def tiny_config(**overrides: Any) -> SpruceConfig:
    """Return a configuration that a test can build in milliseconds."""
    return SpruceConfig(**{**TINY_MOE_SIZES, **overrides})
