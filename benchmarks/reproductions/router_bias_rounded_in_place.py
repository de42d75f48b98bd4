"""Casting these models to bfloat16 rounds the routing bias; Step-3.5 and Step-3.7 hide it, the dtype is fp32 again.

``Step3p5ForCausalLM`` and ``Step3p7ForConditionalGeneration`` pin no such tensor; instead ``_apply`` of the model casts
``e_score_correction_bias`` back to fp32 once ``Module.to`` has rounded it (components/models/step3p5/model.py:327-330).
``KimiVLForConditionalGeneration`` and ``KimiK25VLForConditionalGeneration`` neither pin nor restore it
(kimivl/model.py:637, kimi_k25_vl/model.py:890), so that it stays bfloat16.

Path: the framework's ``cast_model_to_dtype``, which asks the keep lists, as a direct caller or Kimi-K2.5's own
``from_pretrained`` (kimi_k25_vl/model.py:956) uses it; the initialiser casts before anything is loaded: no harm.

Measured: 0.1 becomes 0.10009765625.
"""

import sys

import torch
from nemo_automodel.components.models.common.utils import cast_model_to_dtype
from tiny_models import constructed

NAMES = ["Step3p5ForCausalLM", "Step3p7ForConditionalGeneration"]
NAMES += ["KimiVLForConditionalGeneration", "KimiK25VLForConditionalGeneration"]


def shown(name):
    """Print what a bias of 0.1 becomes; tell whether it is rounded."""
    model = constructed(name)
    for key, bias in model.state_dict().items():
        if key.endswith("e_score_correction_bias"):
            bias.fill_(0.1)
    cast_model_to_dtype(model, torch.bfloat16)
    now = next(b for key, b in model.state_dict().items() if key.endswith("e_score_correction_bias"))
    print(f"{name}: 0.1 became {now[0].item():.12g} in {now.dtype}")
    return abs(now[0].item() - 0.1) > 1e-5


sys.exit(0 if all([shown(name) for name in NAMES]) else 1)
