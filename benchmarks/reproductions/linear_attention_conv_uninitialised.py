"""Qwen3-Next, Qwen3.5 and Qwen3.8 built from a config train from whatever was in memory in their convolutions.

The block initialisers fill the projections, the norm, ``A_log`` and ``dt_bias`` of the linear attention and leave
``conv1d.weight`` (components/models/qwen3_next/model.py:131-140; the tensor: qwen3_next/model.py:58,
qwen3_5/model.py:383, qwen3_5_moe/model.py:161, qwen3_8_flash_next/layers.py:777); ``MoE.init_weights`` leaves
``shared_expert_gate.weight`` (components/moe/layers.py:826).

Path: ``from_config`` on one GPU or many; not under DDP and Megatron-FSDP.

Measured: every convolution of six classes and every shared expert gate of four is NaN where ``torch.empty`` is.
"""

import sys

from tiny_models import report

LEFT = {
    "Qwen3NextForCausalLM": ("conv1d", "shared_expert_gate"),
    "Qwen3_5ForCausalLM": ("conv1d",),
    "Qwen3_5ForConditionalGeneration": ("linear_attn.conv1d",),
    "Qwen3_5MoeForCausalLM": ("conv1d", "shared_expert_gate"),
    "Qwen3_5MoeForConditionalGeneration": ("linear_attn.conv1d", "shared_expert_gate"),
    "Qwen3_8_FlashNextForConditionalGeneration": ("linear_attn.conv1d", "shared_expert_gate"),
}
sys.exit(0 if all([report(name, marks) for name, marks in LEFT.items()]) else 1)
