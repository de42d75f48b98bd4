"""The vision towers of Qwen3-VL-MoE and Qwen3.5-MoE have rounded rotary frequencies if constructed on a real device.

The cast in the middle of the constructor (see ``constructor_casts_to_bfloat16``) comes before what protects
``inv_freq`` is in place: components/models/qwen3_vl_moe/model.py:574, qwen3_5_moe/model.py:1346.

Path: DDP and Megatron-FSDP, which construct on a real device; the path over the meta device is not affected.

Measured: at position 4095 the angle is off by 1.2 rad, at position 110 by 0.031 rad, even with an fp32 config.
"""

import sys

import torch
from tiny_models import constructed

NAMES = ["Qwen3VLMoeForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration"]


def shown(name):
    """Print by how much angles are off; tell whether they are."""
    frequencies = constructed(name).model.visual.rotary_pos_emb.inv_freq.double()
    dim = 2 * len(frequencies)
    exact = 10000.0 ** -(torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    off = (frequencies - exact).abs().max().item()
    print(f"{name}: off by {4095 * off:.2g} rad at position 4095, {110 * off:.2g} rad at 110")
    return 4095 * off > 0.1


sys.exit(0 if all([shown(name) for name in NAMES]) else 1)
