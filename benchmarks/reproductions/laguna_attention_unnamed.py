"""Laguna raises ``KeyError: None`` at its first forward when its configuration names no implementation of attention.

``laguna/model.py:498`` reads ``getattr(self.config, "_attn_implementation", "eager")``. A configuration of transformers
always has that attribute, ``None`` unless someone set it, so the default never comes true and ``None`` is looked up
among the implementations. ``from_pretrained`` sets it while it reads the configuration; ``from_config`` with a
configuration object, from which one trains without a checkpoint, does not, nor does the class itself.

Measured: KeyError without the field; with ``"sdpa"`` in it the same model gives finite logits.
"""

import sys
from unittest.mock import patch

import torch
from nemo_automodel.components.models.laguna.config import LagunaConfig
from nemo_automodel.components.models.laguna.model import LagunaForCausalLM

config = LagunaConfig(
    vocab_size=96,
    hidden_size=64,
    intermediate_size=88,
    moe_intermediate_size=40,
    shared_expert_intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=16,
    num_experts=4,
    num_experts_per_tok=2,
    max_position_embeddings=64,
    torch_dtype="float32",
)
torch.set_default_dtype(torch.float32)
ids = torch.arange(12).view(1, 12)


def outcome() -> str:
    """Say what a forward of a new model gives."""
    torch.manual_seed(0)
    with patch.object(torch.cuda, "current_device", lambda: 0):
        model = LagunaForCausalLM(config)
        model.initialize_weights(torch.device("cpu"), torch.float32)
    try:
        with torch.no_grad():
            logits = model(ids)
    except KeyError as error:
        return f"KeyError: {error}"
    logits = getattr(logits, "logits", logits)
    return f"finite logits {list(logits.shape)}" if torch.isfinite(logits).all() else "not finite"


print(f"_attn_implementation is {config._attn_implementation!r}: {(unset := outcome())}")
config._attn_implementation = "sdpa"
print(f"_attn_implementation is {config._attn_implementation!r}: {(named := outcome())}")
sys.exit(0 if unset == "KeyError: None" and named.startswith("finite") else 1)
