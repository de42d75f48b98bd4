"""A Laguna built from a config is never initialised: its class switches the initialiser off for good.

``_skip_init_weights_on_load = True`` in the class body (components/models/laguna/model.py:860; also ernie4_5,
glm5_next, inkling, mimo_v2_flash, mimo_v25 and mistral3_vlm) is meant for a load that fills every tensor.
``initialize_model_weights`` honours it (components/checkpoint/checkpointing.py:1546) and does not ask whether anything
will be loaded, so that
``from_config`` leaves all parameters as ``torch.empty`` made them, although the class has a complete initialiser.

Measured: 30 of 30 parameters are NaN where ``torch.empty`` gives NaN; 0 after calling ``initialize_weights``.
"""

import logging
import sys

import torch
from nemo_automodel.components.checkpoint.checkpointing import Checkpointer
from nemo_automodel.components.models.laguna.config import LagunaConfig
from nemo_automodel.components.models.laguna.model import LagunaForCausalLM
from nemo_automodel.components.utils.model_utils import init_empty_weights
from transformers.initialization import no_init_weights

logging.disable(logging.CRITICAL)
config = LagunaConfig(
    vocab_size=96,
    hidden_size=64,
    intermediate_size=88,
    num_hidden_layers=2,
    layer_types=["full_attention", "full_attention"],
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=24,
    num_experts=4,
    num_experts_per_tok=2,
    moe_intermediate_size=40,
    shared_expert_intermediate_size=56,
    mlp_only_layers=[0],
    max_position_embeddings=64,
)
config.dtype = torch.float32
torch.use_deterministic_algorithms(True, warn_only=True)  # torch.empty is NaN
with no_init_weights(), init_empty_weights():
    model = LagunaForCausalLM(config)
Checkpointer.initialize_model_weights(model, torch.device("cpu"))
parameters = list(model.parameters())
left = sum(bool(parameter.isnan().any()) for parameter in parameters)
model.initialize_weights(buffer_device=torch.device("cpu"), dtype=torch.float32)
after = sum(bool(parameter.isnan().any()) for parameter in model.parameters())
print(f"{left} of {len(parameters)} parameters are NaN; after initialize_weights {after}")
sys.exit(0 if left == len(parameters) and after == 0 else 1)
