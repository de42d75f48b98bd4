"""On one device KimiVLForConditionalGeneration keeps a random head when a base checkpoint is loaded.

Its adapter's ``from_hf`` (components/models/kimivl/model.py:859-862) gives the language model's
head the name ``lm_head.weight``; the parameter is ``model.language_model.lm_head.weight``. The one-device load
ignores names that it does not know. Loads that write through DCP destinations hide it. (The adapter of its successor,
kimi_k25_vl, has this put right.)

Measured: one name missing, one unknown; the head, saved as 3.0, comes back as 0.0.
"""

import sys
import tempfile

import torch
from nemo_automodel.components.checkpoint.config import CheckpointingConfig
from tiny_models import constructed

saved, reloaded = constructed("KimiVLForConditionalGeneration"), constructed("KimiVLForConditionalGeneration")
with torch.no_grad():
    for value, model in ((3.0, saved), (0.0, reloaded)):
        for tensor in model.state_dict().values():
            tensor.fill_(value)

adapter = saved.state_dict_adapter
native, back = saved.state_dict(), adapter.from_hf(adapter.to_hf(saved.state_dict()))
print(f"missing: {sorted(native.keys() - back.keys())}, unknown: {sorted(back.keys() - native.keys())}")

with tempfile.TemporaryDirectory() as folder:
    checkpointer = CheckpointingConfig(
        checkpoint_dir=folder, model_save_format="safetensors", save_consolidated=True, model_cache_dir=folder
    ).build(0, 0, 0)
    checkpointer.save_model(saved, folder)
    checkpointer.load_base_model(reloaded, torch.device("cpu"), folder, f"{folder}/model/consolidated")

head = reloaded.model.language_model.lm_head.weight
print(f"head after loading: {head.min().item()} to {head.max().item()}, saved as 3.0")
sys.exit(0 if not (head == 3).all() else 1)
