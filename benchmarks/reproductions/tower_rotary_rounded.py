"""Rotary frequencies of towers are rounded to bfloat16 in a bf16 model, and no checkpoint brings them back.

``initialize_weights`` casts the whole model and protects the text model's tables only; ``inv_freq`` of the towers is
saved nowhere, so that what is loaded afterwards does not repair it:

- ``Mistral3ForConditionalGeneration``: components/models/mistral4/model.py:938, vision tower
- ``Qwen3OmniMoeThinkerForConditionalGeneration``: components/models/qwen3_omni_moe/model.py:601, vision tower
- ``NemotronOmniForConditionalGeneration``: components/models/nemotron_omni/model.py:585, the sound encoder, cast in the
  constructor already

Path: every bf16 run, with a checkpoint or without, as the framework runs the initialiser before it loads.

Measured, ``inv_freq`` off by up to 3.7e-3 of its value: 0.036 rad at the last of 110 patches of a row, for the sound
encoder 1.8 rad at position 4095 (of the tiny model's frequencies).
"""

import sys

import torch
from tiny_models import initialised, on_meta

TABLES = {
    "Mistral3ForConditionalGeneration": ("model.vision_tower.patch_positional_embedding.inv_freq", 110),
    "Qwen3OmniMoeThinkerForConditionalGeneration": ("visual.rotary_pos_emb.inv_freq", 110),
    "NemotronOmniForConditionalGeneration": ("sound_encoder.encode_positions.inv_freq", 4095),
}


def shown(name, table, position):
    """Print by how much angles are off after from_config's initialiser; tell whether they are."""
    exact = dict(on_meta(name).named_buffers())[table].double()
    model = initialised(on_meta(name, torch.bfloat16))
    rounded = dict(model.named_buffers())[table]
    off = (rounded.double() - exact).abs()
    share, turn = (off / exact).max().item(), position * off.max().item()
    print(f"{name}: {rounded.dtype}, off by {share:.1e} of its value, {turn:.2g} rad at position {position}")
    return turn > 0.01


sys.exit(0 if all([shown(name, *where) for name, where in TABLES.items()]) else 1)
