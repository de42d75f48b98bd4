"""Mistral3ForConditionalGeneration accepts ``tie_word_embeddings=True``, which it does not support.

The guard is given ``config.text_config`` (components/models/mistral4/model.py:780), the flag that decides is the outer
one, which is true by default in transformers' ``Mistral3Config``. ``KimiK3ForCausalLM`` and its multimodal heir do
likewise (components/models/kimi_k3/model.py:1901).

Measured: the outer flag is true, the class is UNTIED_ONLY, the constructor does not object; head and embedding differ.
"""

import logging
import sys

import torch
from nemo_automodel.components.models.mistral4.model import Mistral3ForConditionalGeneration
from nemo_automodel.shared.tied_weights import get_controlling_tie_word_embeddings
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
config = Mistral3Config(text_config=text, vision_config=vision, tie_word_embeddings=True)
for part in (config, config.text_config, config.vision_config):
    part.dtype = torch.float32
model = Mistral3ForConditionalGeneration(config)
named = dict(model.named_parameters(remove_duplicate=False))
head = next(p for name, p in named.items() if name.endswith("lm_head.weight"))
embedding = next(p for name, p in named.items() if name.endswith("embed_tokens.weight"))
tied = get_controlling_tie_word_embeddings(config)
print(f"asked for: tied={tied}; policy {type(model).tie_word_embeddings_support.name}; aliased: {head is embedding}")
sys.exit(0 if tied and head is not embedding else 1)
