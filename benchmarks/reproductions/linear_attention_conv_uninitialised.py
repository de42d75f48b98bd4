"""A Qwen3-Next or Qwen3.5 built from a config trains from whatever was in memory in its convolutions.

Qwen3-Next's block initialiser fills the projections, the norm, ``A_log`` and ``dt_bias`` of its linear attention and
leaves ``conv1d.weight`` (components/models/qwen3_next/model.py:131-140); ``MoE.init_weights`` leaves
``shared_expert_gate.weight`` (components/moe/layers.py). A run without a checkpoint constructs on the meta device and
materialises with ``torch.empty``. Qwen3.5, its mixtures of experts and Qwen3.8 Flash have the same gap.

Measured: 2 of 2 convolutions and 3 of 3 shared expert gates are NaN where ``torch.empty`` gives NaN.
"""

import logging
import sys

import torch
from nemo_automodel.components.checkpoint.checkpointing import to_empty_parameters_only
from nemo_automodel.components.models.qwen3_next.model import Qwen3NextForCausalLM
from nemo_automodel.components.utils.model_utils import init_empty_weights
from transformers import Qwen3NextConfig
from transformers.initialization import no_init_weights

logging.disable(logging.CRITICAL)
config = Qwen3NextConfig(
    vocab_size=96,
    hidden_size=64,
    intermediate_size=88,
    moe_intermediate_size=40,
    shared_expert_intermediate_size=56,
    num_hidden_layers=3,
    layer_types=["linear_attention", "linear_attention", "full_attention"],
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=24,
    linear_key_head_dim=12,
    linear_value_head_dim=20,
    linear_num_key_heads=4,
    linear_num_value_heads=4,
    num_experts=4,
    num_experts_per_tok=2,
    max_position_embeddings=64,
    dtype=torch.float32,
)
real_device = torch.device
torch.cuda.current_device = lambda: 0  # what constructor and initialiser ask for on their way
torch.device = lambda name, *rest: real_device("cpu" if str(name).startswith("cuda") else name, *rest)
torch.use_deterministic_algorithms(True, warn_only=True)  # torch.empty is NaN
with no_init_weights(), init_empty_weights():
    model = Qwen3NextForCausalLM(config)
to_empty_parameters_only(model, device=torch.device("cpu"))
model.initialize_weights(buffer_device=torch.device("cpu"), dtype=torch.float32)

left = [name for name, parameter in model.named_parameters() if parameter.isnan().any()]
print(f"{len(left)} parameters are NaN after initialize_weights: {', '.join(left)}")
sys.exit(0 if any("conv1d" in name for name in left) and any("shared_expert_gate" in name for name in left) else 1)
