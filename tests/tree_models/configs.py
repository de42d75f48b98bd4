"""The configuration that most models of this folder take."""

from __future__ import annotations

from transformers import PretrainedConfig

CASES = {}


class Config(PretrainedConfig):
    model_type = "sprout"

    def __init__(
        self,
        hidden_size=8,
        vocab_size=16,
        num_layers=2,
        num_experts=0,
        bias=False,
        gated=False,
        tied=False,
        kind="plain",
        moe_layers=(),
        names=("left", "right"),
        rank=None,
        scale=None,
        store_dtype=None,
        **kwargs,
    ):
        self.hidden_size = hidden_size
        self.vocab_size = vocab_size
        self.num_layers = num_layers
        self.num_experts = num_experts
        self.bias = bias
        self.gated = gated
        self.tied = tied
        self.kind = kind
        self.moe_layers = list(moe_layers)
        self.names = list(names)
        self.rank = rank
        self.scale = scale
        self.store_dtype = store_dtype
        super().__init__(**kwargs)
