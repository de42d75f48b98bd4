"""A KimiK25VLForConditionalGeneration trained in fp32 resumes with all its weights rounded to bfloat16.

``KimiK25VLStateDictAdapter.from_hf`` ends in a cast of every floating tensor to ``self.dtype``, or to bfloat16 where
that is float32 (components/models/kimi_k25_vl/state_dict_adapter.py:426-429). It is called for training checkpoints
too, and the gate's correction bias, pinned to fp32, is rounded with the rest, whatever the model's dtype.

Measured: 52 of 53 parameters change in an fp32 model, by up to 3.9e-3 of their value.
"""

import logging
import sys
import tempfile

import torch
from nemo_automodel.components.checkpoint.config import CheckpointingConfig
from nemo_automodel.components.models.kimi_k25_vl.model import KimiK25VLConfig, KimiK25VLForConditionalGeneration

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
    "init_pos_emb_time": 4,
}
config = KimiK25VLConfig(text_config=text, vision_config=vision, mm_hidden_size=64)
for part in (config, config.text_config, config.vision_config):
    part.torch_dtype = torch.float32
config.vision_config._attn_implementation = "sdpa"
saved, reloaded = KimiK25VLForConditionalGeneration(config), KimiK25VLForConditionalGeneration(config)
torch.manual_seed(0)
with torch.no_grad():
    for parameter in saved.parameters():
        parameter.copy_(torch.randn(parameter.shape))

with tempfile.TemporaryDirectory() as folder:
    checkpointer = CheckpointingConfig(
        checkpoint_dir=folder, model_save_format="torch_save", model_cache_dir=folder
    ).build(0, 0, 0)
    checkpointer.save_model(saved, folder)
    checkpointer.load_model(reloaded, f"{folder}/model")

pairs = list(zip(saved.parameters(), reloaded.parameters(), strict=True))
changed = [(a, b) for a, b in pairs if not torch.equal(a, b)]
largest = max((((a - b).abs() / a.abs()).max().item() for a, b in changed), default=0.0)
print(f"{len(changed)} of {len(pairs)} parameters changed, by up to {largest:.1e} of their value")
sys.exit(0 if changed else 1)
