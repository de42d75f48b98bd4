"""On one device KimiVLForConditionalGeneration keeps a random head when a base checkpoint is loaded.

Its adapter's ``from_hf`` (components/models/kimivl/model.py:859-862) gives the language model's
head the name ``lm_head.weight``; the parameter is ``model.language_model.lm_head.weight``. The one-device load
ignores names that it does not know. Loads that write through DCP destinations hide it. (The adapter of its successor,
kimi_k25_vl, has this put right.)

Measured: one name missing, one unknown; the head, saved as 3.0, comes back as 0.0.
"""

import logging
import sys
import tempfile

import torch
from nemo_automodel.components.checkpoint.config import CheckpointingConfig
from nemo_automodel.components.models.kimivl.model import KimiVLConfig, KimiVLForConditionalGeneration

logging.disable(logging.CRITICAL)

text = {
    "vocab_size": 96,
    "hidden_size": 64,
    "intermediate_size": 88,
    "moe_intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "n_shared_experts": 1,
    "first_k_dense_replace": 1,
    "kv_lora_rank": 28,
    "q_lora_rank": 36,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 16,
    "v_head_dim": 20,
    "max_position_embeddings": 64,
}
vision = {
    "hidden_size": 64,
    "intermediate_size": 72,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "init_pos_emb_height": 4,
    "init_pos_emb_width": 4,
}
config = KimiVLConfig(text_config=text, vision_config=vision, media_placeholder_token_id=90, pad_token_id=0)
config.torch_dtype = config.text_config.torch_dtype = config.vision_config.torch_dtype = torch.float32
config.vision_config._attn_implementation = "sdpa"
saved, reloaded = KimiVLForConditionalGeneration(config), KimiVLForConditionalGeneration(config)
with torch.no_grad():
    for value, model in ((3.0, saved), (0.0, reloaded)):
        for tensor in model.state_dict().values():
            tensor.fill_(value)

adapter = saved.state_dict_adapter
native, back = saved.state_dict(), adapter.from_hf(adapter.to_hf(saved.state_dict()))
print(f"missing: {sorted(native.keys() - back.keys())}, unknown: {sorted(back.keys() - native.keys())}")

with tempfile.TemporaryDirectory() as folder:
    checkpointer = CheckpointingConfig(
        checkpoint_dir=folder, model_save_format="safetensors", save_consolidated=True, model_cache_dir=folder
    ).build(0, 0, 0)
    checkpointer.save_model(saved, folder)
    checkpointer.load_base_model(reloaded, torch.device("cpu"), folder, f"{folder}/model/consolidated")

head = reloaded.model.language_model.lm_head.weight
print(f"head after loading: {head.min().item()} to {head.max().item()}, saved as 3.0")
sys.exit(0 if not (head == 3).all() else 1)
