"""The initialiser of Mistral3ForConditionalGeneration rounds the rotary frequencies of its vision tower to bfloat16.

It casts the whole model (components/models/mistral4/model.py:938) and pins the text model's tables only; the tower's
``inv_freq`` is in no checkpoint, so that loading one does not bring it back. The framework runs the initialiser before
it loads. NemotronOmni's sound encoder loses ``encode_positions.inv_freq`` in the same way.

Measured: frequencies off by 2.8e-3 of their value: 0.075 rad at the last of 110 patches of a row.
"""

import logging
import sys

import torch
from nemo_automodel.components.models.mistral4.model import Mistral3ForConditionalGeneration
from transformers import Mistral3Config

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
model = Mistral3ForConditionalGeneration(config)
before = model.model.vision_tower.patch_positional_embedding.inv_freq.double()
model.initialize_weights(buffer_device=torch.device("cpu"), dtype=torch.bfloat16)
after = model.model.vision_tower.patch_positional_embedding.inv_freq
off = (after.double() / before - 1).abs().max().item()
turn = 110 * (after.double() - before).abs().max().item()
print(f"inv_freq is {after.dtype}, off by {off:.1e} of its value, {turn:.2g} rad at position 110")
sys.exit(0 if off > 1e-4 else 1)
