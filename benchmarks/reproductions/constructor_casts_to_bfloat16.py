"""Four models with an fp32 config that are constructed on a real device have a bfloat16 tower, or are all bfloat16.

transformers' constructor ends in ``init_weights()``, which calls the class's own ``initialize_weights``, whose
``dtype`` is bfloat16 unless given: the model is cast in the middle of ``__init__``, whatever the config asks for. Where
the language model is replaced afterwards, the tower stays so. Under components/models: gemma4_moe/model.py:1635,
qwen3_vl_moe/model.py:740, qwen3_5/model.py:1722, qwen3_5_moe/model.py:1914.

Path: DDP and Megatron-FSDP, which construct on a real device; the path over the meta device is not affected.

Measured, parameters in bfloat16: 134 of 134, 51 of 76, 33 of 75, 33 of 87; on the meta device 0.
"""

import sys

import torch
from tiny_models import constructed, on_meta

NAMES = ["Gemma4ForConditionalGeneration", "Qwen3VLMoeForConditionalGeneration"]
NAMES += ["Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration"]


def shown(name):
    """Print how many parameters are not fp32 on each path; tell whether it is as said."""
    real, meta = constructed(name), on_meta(name)
    lows = [sum(parameter.dtype != torch.float32 for parameter in model.parameters()) for model in (real, meta)]
    print(f"{name}: {lows[0]} of {len(list(real.parameters()))} parameters in bfloat16, on the meta device {lows[1]}")
    return lows[0] > 0 and lows[1] == 0


sys.exit(0 if all([shown(name) for name in NAMES]) else 1)
