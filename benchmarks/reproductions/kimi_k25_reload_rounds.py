"""A KimiK25VLForConditionalGeneration trained in fp32 resumes with all its weights rounded to bfloat16.

``KimiK25VLStateDictAdapter.from_hf`` ends in a cast of every floating tensor to ``self.dtype``, or to bfloat16 where
that is float32 (components/models/kimi_k25_vl/state_dict_adapter.py:426-429). It is called for training checkpoints
too, and the gate's correction bias, pinned to fp32, is rounded with the rest, whatever the model's dtype.

Measured: 76 of 77 parameters change in an fp32 model, by up to 3.9e-3 of their value.
"""

import sys
import tempfile

import torch
from nemo_automodel.components.checkpoint.config import CheckpointingConfig
from tiny_models import constructed

saved, reloaded = constructed("KimiK25VLForConditionalGeneration"), constructed("KimiK25VLForConditionalGeneration")
torch.manual_seed(0)
with torch.no_grad():
    for parameter in saved.parameters():
        parameter.copy_(torch.randn(parameter.shape))

with tempfile.TemporaryDirectory() as folder:
    checkpointer = CheckpointingConfig(
        checkpoint_dir=folder, model_save_format="torch_save", model_cache_dir=folder
    ).build(0, 0, 0)
    checkpointer.save_model(saved, folder)
    checkpointer.load_model(reloaded, f"{folder}/model")

pairs = list(zip(saved.parameters(), reloaded.parameters(), strict=True))
changed = [(a, b) for a, b in pairs if not torch.equal(a, b)]
largest = max((((a - b).abs() / a.abs()).max().item() for a, b in changed), default=0.0)
print(f"{len(changed)} of {len(pairs)} parameters changed, by up to {largest:.1e} of their value")
sys.exit(0 if changed else 1)
