"""Configuration of Fir."""

from __future__ import annotations

from typing import Any

from acme_automodel.shared.configuration import AcmePretrainedConfig


class FirConfig(AcmePretrainedConfig):
    """Sizes of the decoder."""

    model_type = "fir"

    def __init__(
        self,
        vocab_size: int = 32000,
        hidden_size: int = 2048,
        intermediate_size: int = 5632,
        num_hidden_layers: int = 22,
        num_attention_heads: int = 32,
        num_key_value_heads: int = 4,
        rms_norm_eps: float = 1e-6,
        rope_theta: float = 10000.0,
        attention_bias: bool = False,
        **kwargs: Any,
    ):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.intermediate_size = intermediate_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.num_key_value_heads = num_key_value_heads
        self.rms_norm_eps = rms_norm_eps
        self.rope_theta = rope_theta
        self.attention_bias = attention_bias
        super().__init__(**kwargs)


# All sizes differ, so that a swapped pair cannot go unseen. Other packages start from these, too.
TINY_SIZES = dict(
    vocab_size=97,
    hidden_size=48,
    intermediate_size=80,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
)


def tiny_config(**overrides: Any) -> FirConfig:
    """Return a configuration that a test can build in milliseconds."""
    return FirConfig(**{**TINY_SIZES, **overrides})
