"""A Nemotron-H built from a config has garbage in every mixer.

``NemotronV3Mamba2Mixer.init_weights`` writes ``dt_bias`` and zeros the biases, and divides ``out_proj`` by a constant;
``NemotronV3Attention.init_weights`` writes nothing and divides ``o_proj`` (components/models/nemotron_v3/layers.py:155
and 592). Both rely on values of the constructor, which the meta device does not keep: ``A_log``, ``D``, ``in_proj``,
``conv1d``, the gated norm and all projections stay what ``torch.empty`` found.

Measured: 11 of 26 parameters of a model with one layer of each kind are NaN where ``torch.empty`` gives NaN.
"""

import logging
import sys

import torch
from nemo_automodel.components.checkpoint.checkpointing import to_empty_parameters_only
from nemo_automodel.components.models.nemotron_v3.model import NemotronHForCausalLM
from nemo_automodel.components.utils.model_utils import init_empty_weights
from transformers import NemotronHConfig
from transformers.initialization import no_init_weights

logging.disable(logging.CRITICAL)
config = NemotronHConfig(
    vocab_size=96,
    hidden_size=64,
    layers_block_type=["linear_attention", "moe", "full_attention", "mlp"],
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=24,
    intermediate_size=88,
    ssm_state_size=14,
    mamba_num_heads=8,
    mamba_head_dim=10,
    n_groups=2,
    chunk_size=8,
    n_routed_experts=4,
    moe_intermediate_size=40,
    moe_shared_expert_intermediate_size=56,
    num_experts_per_tok=2,
    max_position_embeddings=64,
    dtype=torch.float32,
)
torch.use_deterministic_algorithms(True, warn_only=True)  # torch.empty is NaN
with no_init_weights(), init_empty_weights():
    model = NemotronHForCausalLM(config)
to_empty_parameters_only(model, device=torch.device("cpu"))
model.initialize_weights(buffer_device=torch.device("cpu"), dtype=torch.float32)

parameters = dict(model.named_parameters())
left = [name for name, parameter in parameters.items() if parameter.isnan().any()]
print(f"{len(left)} of {len(parameters)} parameters are NaN after initialize_weights: {', '.join(left)}")
sys.exit(0 if any("A_log" in name for name in left) else 1)
