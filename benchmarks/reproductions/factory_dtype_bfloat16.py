"""Seven classes that are asked for fp32 are bfloat16 in part or in whole, wherever they are constructed.

Their layers call ``initialize_linear_module``, ``initialize_rms_norm_module`` and ``MLP`` without ``dtype``, whose own
default is bfloat16; under components/models:

- ``HYV3ForCausalLM``, hy_v3/layers.py:53-68, model.py:154, 157, 274: all but the router and the embedding
- ``HyMT2ForCausalLM``, hy_mt2/model.py:198, 201, 338: likewise
- ``MiniMaxM3SparseForConditionalGeneration``, minimax_m3_vl/layers.py:477, 709, mtp.py:57, model.py:506: attention,
  shared experts, head
- ``KimiVLForConditionalGeneration``, kimivl/model.py:674, ``KimiK25VLForConditionalGeneration``,
  kimi_k25_vl/model.py:970: the head
- ``Step3p7ForConditionalGeneration``, step3p7/model.py:108, 383: the head and the large projector
- ``NemotronParseForConditionalGeneration``, nemotron_parse/model.py:485-514: casts everything to bfloat16 by name

Path: ``initialize_weights`` casts the first, second, third and sixth to the dtype of their first parameter, which hides
it where ``from_config`` or ``from_pretrained`` call it; not under DDP and Megatron-FSDP, nor where a pipeline loads
a checkpoint (_transformers/infrastructure.py:763). KimiVL, Kimi-K2.5 and Nemotron-Parse stay so everywhere.

Measured, parameters in bfloat16 though the config says fp32: 27 of 28, 27 of 28, 23 of 92, 1 of 77, 1 of 77, 2 of 94,
108 of 108.
"""

import sys

import torch
from tiny_models import constructed, initialised, on_meta

NAMES = ["HYV3ForCausalLM", "HyMT2ForCausalLM", "MiniMaxM3SparseForConditionalGeneration"]
NAMES += ["KimiVLForConditionalGeneration", "KimiK25VLForConditionalGeneration", "Step3p7ForConditionalGeneration"]
NAMES += ["NemotronParseForConditionalGeneration"]


def low(model):
    """How many parameters are not fp32."""
    return sum(parameter.dtype != torch.float32 for parameter in model.parameters())


def shown(name):
    """Print how many parameters are not fp32 on each path; tell whether there are some on a real device."""
    real, meta = constructed(name), on_meta(name)
    before, count = low(meta), len(list(real.parameters()))
    print(f"{name}: {low(real)} of {count} in bfloat16; on meta {before}, initialised {low(initialised(meta))}")
    return low(real) > 0 and before > 0


sys.exit(0 if all([shown(name) for name in NAMES]) else 1)
