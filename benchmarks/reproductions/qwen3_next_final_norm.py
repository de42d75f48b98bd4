"""Qwen3-Next scales its last hidden states by ``weight`` where the checkpoint means ``1 + weight``.

Every norm of the architecture is centred at zero: transformers' ``Qwen3NextRMSNorm`` multiplies by ``1 + weight``. The
layers of the framework's class use it, the norm after the last layer is the plain one
(``qwen3_next/model.py:196``, ``initialize_rms_norm_module``), and the adapter does not add the one. All logits of a
released checkpoint are off; training and exporting go on from there. Its own initialiser sets that weight to one, which
is a factor of two for transformers.

Measured: given the same weight and input the norms differ by 3.4 of 3.3; the logits of a whole small model by 3.8 of
7.9. With ``Qwen3NextRMSNorm`` in its place the logits agree to 8e-7 of the largest.
"""

import sys
from unittest.mock import patch

import torch
from nemo_automodel.components.models.qwen3_next.model import Qwen3NextForCausalLM
from transformers import Qwen3NextConfig
from transformers.models.qwen3_next.modeling_qwen3_next import Qwen3NextRMSNorm

config = Qwen3NextConfig(
    vocab_size=96,
    hidden_size=64,
    intermediate_size=88,
    moe_intermediate_size=40,
    shared_expert_intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=16,
    linear_num_key_heads=2,
    linear_num_value_heads=4,
    linear_key_head_dim=12,
    linear_value_head_dim=20,
    num_experts=4,
    num_experts_per_tok=2,
    max_position_embeddings=64,
)
config.dtype = torch.float32
torch.set_default_dtype(torch.float32)
torch.manual_seed(0)
with patch.object(torch.cuda, "current_device", lambda: 0):  # only remembered, no tensor is made there
    model = Qwen3NextForCausalLM(config)
weight = 0.1 * torch.randn(config.hidden_size)  # as checkpoints have it: around zero
theirs = Qwen3NextRMSNorm(config.hidden_size, eps=config.rms_norm_eps)
hidden = torch.randn(2, 12, config.hidden_size)
with torch.no_grad():
    model.model.norm.weight.copy_(weight)
    theirs.weight.copy_(weight)
    wanted = theirs(hidden)
    difference = (model.model.norm(hidden) - wanted).abs().max().item()
same = type(model.model.layers["0"].input_layernorm) is Qwen3NextRMSNorm
adapter = model.state_dict_adapter.from_hf({"model.norm.weight": weight})["model.norm.weight"]
print(f"the layers' norms are Qwen3NextRMSNorm: {same}; the last one is {type(model.model.norm).__name__}")
print(f"the adapter changes the weight: {not torch.equal(adapter, weight)}")
print(f"largest difference {difference:.2g} of {wanted.abs().max().item():.2g}")
sys.exit(0 if difference > 0.1 else 1)
