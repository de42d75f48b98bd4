"""Casting a Step-3.5 to bfloat16 rounds the routing bias and hides it: the dtype is fp32 again afterwards.

``Step3p5ForCausalLM`` and ``Step3p7ForConditionalGeneration`` pin no tensor; instead ``_apply`` of the model casts
``e_score_correction_bias`` back to fp32 once ``Module.to`` has rounded it (components/models/step3p5/model.py:327-330).
KimiVL and Kimi-K2.5 neither pin nor restore it (kimivl/model.py:637, kimi_k25_vl/model.py:890, whose
``from_pretrained`` casts at :956), so that it stays bfloat16.

Measured: 0.1 becomes 0.10009765625, in fp32.
"""

import logging
import sys

import torch
from nemo_automodel.components.models.common.utils import cast_model_to_dtype
from nemo_automodel.components.models.step3p5.model import Step3p5ForCausalLM
from nemo_automodel.components.models.step3p7.configuration_step3p7 import Step3p7TextConfig

logging.disable(logging.CRITICAL)
config = Step3p7TextConfig(
    vocab_size=96,
    hidden_size=64,
    intermediate_size=88,
    num_attention_heads=4,
    num_attention_groups=2,
    num_hidden_layers=2,
    layer_types=["full_attention", "full_attention"],
    head_dim=24,
    moe_layers_enum=[1],
    moe_intermediate_size=40,
    moe_num_experts=4,
    moe_top_k=2,
    share_expert_dim=56,
    use_moe_router_bias=True,
    max_position_embeddings=64,
    max_seq_len=64,
)
config.dtype = torch.float32
model = Step3p5ForCausalLM(config)
biases = [b for name, b in model.state_dict(keep_vars=True).items() if name.endswith("e_score_correction_bias")]
with torch.no_grad():
    biases[0].fill_(0.1)
cast_model_to_dtype(model, torch.bfloat16)
now = next(b for name, b in model.state_dict().items() if name.endswith("e_score_correction_bias"))
print(f"0.1 became {now[0].item():.12g} in {now.dtype}")
sys.exit(0 if now.dtype == torch.float32 and abs(now[0].item() - 0.1) > 1e-5 else 1)
