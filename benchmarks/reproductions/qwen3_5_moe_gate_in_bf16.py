"""Sharded with expert parallelism in bf16, Qwen3_5MoeForCausalLM computes its recurrence with rounded decay rates.

``A_log`` and ``dt_bias`` of the linear attention are kept in an fp32 holder, ``_fp32_params``. Which parameters
compute in fp32 the MoE sharding reads from ``_keep_in_fp32_modules_strict`` alone
(components/moe/parallelizer.py:824). The conditional-generation class has the holder there
(components/models/qwen3_5_moe/model.py:1194); the causal one (class at line 878) only adds it to the list that is not
strict (lines 967-970). It is stored in fp32 and cast to bfloat16 for every forward.

Measured, two ranks with gloo: ``A_log`` is float32 in storage and bfloat16 in the forward, off by up to 1.6e-3 of its
value.
"""

import logging
import sys

import torch
from nemo_automodel.components.distributed.config import FSDP2Config
from nemo_automodel.components.distributed.mesh import MeshContext, ParallelismSizes
from nemo_automodel.components.distributed.model_parallelizer import parallelize_model
from nemo_automodel.components.models.qwen3_5_moe.model import Qwen3_5MoeForCausalLM
from transformers.models.qwen3_5_moe.configuration_qwen3_5_moe import Qwen3_5MoeTextConfig
from two_ranks import answer_of_two_ranks

logging.disable(logging.CRITICAL)
torch.cuda.current_device = lambda: "cpu"


def config() -> Qwen3_5MoeTextConfig:
    """A few thousand parameters, one layer with linear attention."""
    made = Qwen3_5MoeTextConfig(
        vocab_size=96,
        hidden_size=64,
        num_hidden_layers=2,
        layer_types=["linear_attention", "full_attention"],
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=24,
        linear_key_head_dim=12,
        linear_value_head_dim=20,
        linear_num_key_heads=4,
        linear_num_value_heads=4,
        moe_intermediate_size=40,
        shared_expert_intermediate_size=56,
        num_experts=4,
        num_experts_per_tok=2,
        max_position_embeddings=64,
    )
    made.torch_dtype = torch.bfloat16
    return made


def sharded() -> tuple[str, str, float]:
    """The dtypes of ``A_log`` in storage and in the forward, and by how much of its value it is off there."""
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    model = Qwen3_5MoeForCausalLM(config()).eval()
    torch.set_default_dtype(torch.float32)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.05 * torch.randn(parameter.shape))
    gate = model.get_submodule("model.layers.0.linear_attn._fp32_params")
    with torch.no_grad():
        gate.A_log.copy_(torch.rand(gate.A_log.shape) + 1)
    stored = gate.A_log.detach().clone()
    model = parallelize_model(model, MeshContext.build(FSDP2Config(), ParallelismSizes(ep_size=2), world_size=2))
    seen = []
    gate.register_forward_pre_hook(lambda module, _: seen.append(module.A_log.detach().clone()))
    with torch.no_grad():
        model(torch.arange(12)[None])
    off = ((seen[0].float() - stored).abs() / stored.abs()).max().item()
    return str(stored.dtype), str(seen[0].dtype), off


if __name__ == "__main__":
    stored, used, off = answer_of_two_ranks(sharded)
    print(f"A_log: {stored} before sharding, {used} in the sharded forward, off by up to {off:.1e} of its value")
    sys.exit(0 if used != "torch.float32" else 1)
