"""A Qwen3-VL-MoE that is constructed on a real device has rounded frequencies in its vision tower, even in fp32.

transformers' constructor ends in ``init_weights()``, which calls the class's own ``initialize_weights``, whose
``dtype`` is bfloat16 unless given (components/models/qwen3_vl_moe/model.py:740): the whole model is cast to
bfloat16 in the middle of ``__init__``. The language model is replaced afterwards; the vision tower stays bfloat16,
whatever the config asks for, and what protects its ``inv_freq`` from casts is not there yet. The path over the meta
device is not affected; DDP and Megatron-FSDP construct on a real device. Qwen3.5-MoE-VL does the same, Qwen3.5-VL loses
the dtype only.

Measured: 51 of 76 parameters are bfloat16 with an fp32 config; at position 4095 the angle is off by 1.2 rad.
"""

import logging
import sys

import torch
from nemo_automodel.components.models.qwen3_vl_moe.model import Qwen3VLMoeForConditionalGeneration
from transformers import Qwen3VLMoeConfig

logging.disable(logging.CRITICAL)
text = {
    "vocab_size": 128,
    "hidden_size": 64,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "head_dim": 24,
    "moe_intermediate_size": 40,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "max_position_embeddings": 64,
}
vision = {
    "depth": 3,
    "hidden_size": 80,
    "intermediate_size": 104,
    "num_heads": 4,
    "out_hidden_size": 64,
    "num_position_embeddings": 16,
    "deepstack_visual_indexes": [2],
}
config = Qwen3VLMoeConfig(text_config=text, vision_config=vision)
config.tie_word_embeddings = False
for part in (config, config.text_config, config.vision_config):
    part.dtype = torch.float32
torch.cuda.current_device = lambda: 0  # what the initialiser asks for on its way
real_device = torch.device
torch.device = lambda name, *rest: real_device("cpu" if str(name).startswith("cuda") else name, *rest)
try:
    model = Qwen3VLMoeForConditionalGeneration(config)
finally:
    torch.device = real_device

low = sum(parameter.dtype == torch.bfloat16 for parameter in model.parameters())
frequencies = model.model.visual.rotary_pos_emb.inv_freq.double()
dim = 2 * len(frequencies)
exact = 10000.0 ** -(torch.arange(0, dim, 2, dtype=torch.float64) / dim)
off = 4095 * (frequencies - exact).abs().max().item()
print(f"{low} of {len(list(model.parameters()))} parameters are bfloat16; the angle is off by {off:.2g} rad")
sys.exit(0 if low and off > 0.1 else 1)
