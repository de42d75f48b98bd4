"""Eight classes built from a config are never initialised: they switch the initialiser off for good.

``_skip_init_weights_on_load = True`` in the class body is meant for a load that fills every tensor.
``initialize_model_weights`` honours it (components/checkpoint/checkpointing.py:1546) and does not ask whether anything
will be loaded, so that ``from_config`` leaves all parameters as ``torch.empty`` made them. Under components/models:
laguna/model.py:860, ernie4_5/model.py:535, glm5_next/model.py:212, inkling/model.py:64, mimo_v2_flash/model.py:1071
(also for its heir ``MiMoV2ForCausalLM``), mimo_v25/model.py:609, mistral3_vlm/model.py:133.

Path: ``from_config`` on one GPU or many; not under DDP and Megatron-FSDP.

Measured: all parameters of each are NaN where ``torch.empty`` gives NaN; 0 of Laguna's after ``initialize_weights``.
"""

import sys

import torch
from tiny_models import initialised, on_cpu, on_meta, without_values

NAMES = ["LagunaForCausalLM", "Ernie4_5_MoeForCausalLM", "Glm5NextForConditionalGeneration"]
NAMES += ["InklingForConditionalGeneration", "MiMoV2FlashForCausalLM", "MiMoV2ForCausalLM", "MiMoV2ForCausalLM.v25"]
NAMES += ["Mistral3FP8VLMForConditionalGeneration"]


def all_left(name):
    """Print how many parameters have no value; tell whether it is all of them."""
    model = initialised(on_meta(name))
    left, count = without_values(model), len(list(model.parameters()))
    print(f"{name}: {len(left)} of {count} parameters are NaN")
    return len(left) == count


shown = [all_left(name) for name in NAMES]
laguna = initialised(on_meta(NAMES[0]))
with on_cpu(torch.float32):
    laguna.initialize_weights(buffer_device=torch.device("cpu"), dtype=torch.float32)
print(f"Laguna after initialize_weights: {len(without_values(laguna))}")
sys.exit(0 if all(shown) and not without_values(laguna) else 1)
