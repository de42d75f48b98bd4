"""A Mistral3ForConditionalGeneration built from a config has a vision tower and a projector of garbage.

``initialize_weights`` fills the language model and the head only (components/models/mistral4/model.py:919). The same
holds for the towers of KimiVL, Kimi-K2.5, Kimi-K3, MiniMax-M3, NemotronOmni, Qwen3-VL-MoE, Qwen3-Omni-MoE, Qwen3.5-VL,
Qwen3.5-MoE-VL and Step-3.7.

Measured: 15 of 48 parameters are NaN where ``torch.empty`` gives NaN.
"""

import logging
import sys

import torch
from nemo_automodel.components.checkpoint.checkpointing import to_empty_parameters_only
from nemo_automodel.components.models.mistral4.model import Mistral3ForConditionalGeneration
from nemo_automodel.components.utils.model_utils import init_empty_weights
from transformers import Mistral3Config
from transformers.initialization import no_init_weights

logging.disable(logging.CRITICAL)
text = {
    "model_type": "mistral4",
    "vocab_size": 96,
    "hidden_size": 64,
    "intermediate_size": 88,
    "moe_intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "kv_lora_rank": 28,
    "q_lora_rank": 36,
    "qk_rope_head_dim": 8,
    "v_head_dim": 20,
    "qk_nope_head_dim": 16,
    "n_group": 1,
    "topk_group": 1,
    "first_k_dense_replace": 0,
    "max_position_embeddings": 64,
    "tie_word_embeddings": False,
}
vision = {
    "model_type": "pixtral",
    "hidden_size": 80,
    "intermediate_size": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "head_dim": 24,
    "image_size": 56,
    "patch_size": 14,
}
config = Mistral3Config(text_config=text, vision_config=vision, tie_word_embeddings=False)
for part in (config, config.text_config, config.vision_config):
    part.dtype = torch.float32
torch.use_deterministic_algorithms(True, warn_only=True)  # torch.empty is NaN
with no_init_weights(), init_empty_weights():
    model = Mistral3ForConditionalGeneration(config)
to_empty_parameters_only(model, device=torch.device("cpu"))
model.initialize_weights(buffer_device=torch.device("cpu"), dtype=torch.float32)
parameters = dict(model.named_parameters())
left = [name for name, parameter in parameters.items() if parameter.isnan().any()]
print(f"{len(left)} of {len(parameters)} parameters are NaN after initialize_weights: {', '.join(left)}")
sys.exit(0 if any("vision_tower" in name for name in left) else 1)
