"""An HYV3ForCausalLM that is asked for fp32 is bfloat16 in all but the router and the embedding.

Its layers call ``initialize_linear_module``, ``initialize_rms_norm_module`` and ``MLP`` without ``dtype``, whose own
default is bfloat16 (components/models/hy_v3/layers.py:53-68, model.py:63-68, 157, 274). HyMT2, MiniMax-M3 (attention,
shared experts, head), KimiVL, Kimi-K2.5 and Step-3.7 (head) do so too. fp32 master weights are then none.

Measured: 1 of 28 parameters is fp32 with ``dtype=float32`` in config and default.
"""

import logging
import sys

import torch
from nemo_automodel.components.models.hy_v3.model import HYV3ForCausalLM
from transformers import HYV3Config

logging.disable(logging.CRITICAL)
config = HYV3Config(
    vocab_size=96,
    hidden_size=64,
    intermediate_size=88,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=24,
    num_experts=4,
    num_experts_per_tok=2,
    num_shared_experts=1,
    moe_intermediate_size=40,
    mlp_layer_types=["dense", "sparse"],
    max_position_embeddings=64,
    dtype=torch.float32,
)
real_device = torch.device
torch.cuda.current_device = lambda: 0  # what constructor and initialiser ask for on their way
torch.device = lambda name, *rest: real_device("cpu" if str(name).startswith("cuda") else name, *rest)
parameters = list(HYV3ForCausalLM(config).parameters())
exact = sum(parameter.dtype == torch.float32 for parameter in parameters)
print(f"{exact} of {len(parameters)} parameters are fp32")
sys.exit(0 if exact < len(parameters) else 1)
