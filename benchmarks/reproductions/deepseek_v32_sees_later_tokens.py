"""DeepseekV32ForCausalLM lets a token see later ones with ``backend.attn="sdpa"``.

Where the attention gets a mask, SDPA runs without its causal flag, and the sparse mask of the indexer is the only mask
(components/models/deepseek_v32/layers.py:496-506, 556-560): neither it nor the index scores (line 159 on) leave out
later tokens. The sibling glm_moe_dsa masks both since Automodel #2633 (glm_moe_dsa/layers.py:413, 597).

Measured: another last token moves the logits of the positions before it by 1.2 of the largest; 0 with a causal mask
laid over the sparse one.
"""

import sys

import torch
from nemo_automodel.components.models.common import BackendConfig
from nemo_automodel.components.models.deepseek_v32 import layers
from nemo_automodel.components.models.deepseek_v32.config import DeepseekV32Config
from nemo_automodel.components.models.deepseek_v32.model import DeepseekV32ForCausalLM

CONFIG = {
    "vocab_size": 96,
    "hidden_size": 64,
    "intermediate_size": 88,
    "moe_intermediate_size": 40,
    "num_hidden_layers": 2,
    "first_k_dense_replace": 2,  # no experts needed to show it
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "kv_lora_rank": 28,
    "q_lora_rank": 36,
    "qk_head_dim": 24,
    "qk_nope_head_dim": 16,
    "qk_rope_head_dim": 8,
    "v_head_dim": 20,
    "index_n_heads": 2,
    "index_head_dim": 32,
    "index_topk": 16,
    "max_position_embeddings": 64,
    "torch_dtype": "float32",
}


def moved() -> float:
    """How far the logits of earlier positions move with the last token, as a share of the largest."""
    torch.manual_seed(0)
    backend = BackendConfig(attn="sdpa", linear="torch", rms_norm="torch_fp32", rope_fusion=False)
    model = DeepseekV32ForCausalLM(DeepseekV32Config(**CONFIG), backend=backend).eval().float()
    with torch.no_grad():
        for _, parameter in sorted(model.named_parameters()):
            parameter.normal_(std=0.2) if parameter.dim() > 1 else parameter.fill_(1.0)
        ids = torch.randint(0, 96, (2, 12))
        other = ids.clone()
        other[:, -1] = (ids[:, -1] + 1) % 96
        first, second = (_logits(model(input_ids=i)) for i in (ids, other))
    return float((first - second)[:, :-1].abs().max() / first.abs().max())


def _logits(output):
    return output if isinstance(output, torch.Tensor) else output.logits


leak = moved()
build = layers.DeepseekV32MLA._build_sparse_mask


def causal(self, *arguments, **named):
    mask = build(self, *arguments, **named)
    return mask & torch.ones(mask.shape[-2:], dtype=torch.bool).tril()


layers.DeepseekV32MLA._build_sparse_mask = causal
print(f"as shipped: {leak:.2g} of the largest logit; with a causal sparse mask: {moved():.2g}")
sys.exit(0 if leak > 0.01 else 1)
