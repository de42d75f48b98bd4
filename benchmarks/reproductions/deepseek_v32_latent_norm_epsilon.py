"""The latent norms of DeepSeek-V3.2 run with an epsilon ten times the reference's.

``q_a_layernorm`` and ``kv_a_layernorm`` (``deepseek_v32/layers.py:317`` and ``:333``) are made without an epsilon, so
they get the helper's 1e-5 (``common/utils.py:839``). DeepSeek's and transformers' are 1e-6, and so are those of the
siblings deepseek_v3, mistral4 and glm_moe_dsa, which say so.

Measured: 1e-5 in both, and logits that differ from transformers' by 1.6e-5 of the largest where 1e-6 gives 9e-7 (with
later tokens masked first, see ``deepseek_v32_sees_later_tokens.py``). Here: how far that moves a latent of size 0.01,
0.1 and 1.
"""

import sys

import torch
from nemo_automodel.components.models.common import BackendConfig
from nemo_automodel.components.models.deepseek_v32.config import DeepseekV32Config
from nemo_automodel.components.models.deepseek_v32.layers import DeepseekV32MLA
from transformers.models.deepseek_v32 import configuration_deepseek_v32, modeling_deepseek_v32

SIZES = {
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "kv_lora_rank": 28,
    "q_lora_rank": 36,
    "qk_nope_head_dim": 16,
    "qk_rope_head_dim": 8,
    "v_head_dim": 20,
    "index_n_heads": 2,
    "index_head_dim": 32,
    "max_position_embeddings": 64,
}
torch.manual_seed(0)
backend = BackendConfig(attn="sdpa", linear="torch", rms_norm="torch_fp32", rope_fusion=False)
ours = DeepseekV32MLA(DeepseekV32Config(**SIZES, qk_head_dim=24, torch_dtype="float32"), backend)
config = configuration_deepseek_v32.DeepseekV32Config(**SIZES)
theirs = modeling_deepseek_v32.DeepseekV32Attention(config, layer_idx=0)

worst = 0.0
for name in ("q_a_layernorm", "kv_a_layernorm"):
    a, b = getattr(ours, name), getattr(theirs, name)
    latent = torch.randn(2, 12, b.weight.shape[0])
    moved = []
    for size in (0.01, 0.1, 1.0):
        wanted = b(size * latent)
        moved.append(((a(size * latent) - wanted).abs().max() / wanted.abs().max()).item())
    worst = max(worst, *moved)
    print(f"{name}: epsilon {a.eps:g}, reference {b.variance_epsilon:g}; moves by", *(f"{m:.1g}" for m in moved))
sys.exit(0 if worst > 1e-2 else 1)
