"""On one device a base checkpoint loses the tensors whose native names match transformers' own renamings.

``Checkpointer.load_model(is_init_step=True)`` reads an HF checkpoint whole when the adapter does not claim low-memory
loading and there is one process (components/checkpoint/checkpointing.py:1176-1177, 0.7.0): the adapter has already
made native names when transformers' renamings for the ``model_type`` are applied to them. What they rename matches no
parameter, and ``load_state_dict(strict=False)`` says nothing. With ``mimo_v2_flash``,
``self_attn.attention_sink_bias`` becomes ``self_attn.sinks``. Also MiMoV2ForCausalLM, DeepseekV4ForCausalLM (26
tensors of the tiny model), Glm5NextForConditionalGeneration (6), KimiK3ForCausalLM (4),
MiniMaxM3SparseForConditionalGeneration (38), Step3p7ForConditionalGeneration (8), KimiK25VLForConditionalGeneration
(raises).

Measured: 1 of 23 tensors is left at its initial value (sinks saved as 3.0 come back as 0.0).
"""

import logging
import sys
import tempfile

import torch
from nemo_automodel.components.checkpoint.config import CheckpointingConfig
from nemo_automodel.components.models.mimo_v2_flash.config import MiMoV2FlashConfig
from nemo_automodel.components.models.mimo_v2_flash.model import MiMoV2FlashForCausalLM

logging.disable(logging.CRITICAL)

config = MiMoV2FlashConfig(
    vocab_size=96,
    hidden_size=64,
    intermediate_size=88,
    moe_intermediate_size=40,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=24,
    v_head_dim=20,
    swa_num_attention_heads=4,
    swa_num_key_value_heads=2,
    swa_head_dim=24,
    swa_v_head_dim=20,
    hybrid_layer_pattern=[0, 1],
    moe_layer_freq=[0, 1],
    n_routed_experts=4,
    num_experts_per_tok=2,
    sliding_window=8,
    max_position_embeddings=64,
)
config.torch_dtype = torch.float32
torch.set_default_dtype(torch.float32)
saved, reloaded = MiMoV2FlashForCausalLM(config), MiMoV2FlashForCausalLM(config)
with torch.no_grad():
    for value, model in ((3.0, saved), (0.0, reloaded)):
        for tensor in model.state_dict().values():
            tensor.fill_(value)

with tempfile.TemporaryDirectory() as folder:
    checkpointer = CheckpointingConfig(
        checkpoint_dir=folder, model_save_format="safetensors", save_consolidated=True, model_cache_dir=folder
    ).build(0, 0, 0)
    checkpointer.save_model(saved, folder)
    checkpointer.load_base_model(reloaded, torch.device("cpu"), folder, f"{folder}/model/consolidated")

tensors = reloaded.state_dict()
left = [name for name, tensor in tensors.items() if tensor.is_floating_point() and not (tensor == 3).all()]
print(f"{len(left)} of {len(tensors)} tensors are left at their initial value: {left}")
sys.exit(0 if left else 1)
