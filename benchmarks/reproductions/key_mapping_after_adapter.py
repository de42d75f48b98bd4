"""On one device a base checkpoint loses the tensors whose native names match transformers' own renamings.

``Checkpointer.load_model(is_init_step=True)`` reads an HF checkpoint whole when the adapter does not claim low-memory
loading and there is one process (components/checkpoint/checkpointing.py:1139-1177, 0.7.0): the adapter has already
made native names (line 1160) when transformers' renamings for the ``model_type`` are applied to them (line 1177). What
they rename matches no parameter, and ``load_state_dict(strict=False)`` (line 2815) says nothing; or it matches another
one. The path with DCP destinations leaves the renamings out for that reason (line 1218).

Measured on tiny models, saved with 3.0 in every tensor and loaded into zeros: eight classes, between 1 and 52 tensors
stay at zero in seven; KimiK25VLForConditionalGeneration raises, since one name of a layer becomes that of another.
Without the renamings all of them load everything.
"""

import sys
import tempfile
from unittest.mock import patch

import torch
from nemo_automodel.components.checkpoint import checkpointing
from nemo_automodel.components.checkpoint.config import CheckpointingConfig
from tiny_models import constructed, on_cpu

CLASSES = (
    "DeepseekV4ForCausalLM",
    "Glm5NextForConditionalGeneration",
    "KimiK25VLForConditionalGeneration",
    "KimiK3ForCausalLM",
    "MiMoV2FlashForCausalLM",
    "MiMoV2ForCausalLM",
    "MiniMaxM3SparseForConditionalGeneration",
    "Step3p7ForConditionalGeneration",
)


def left(name: str) -> str:
    """Save a model full of threes, load it into one full of zeros, and say what stays zero."""
    saved, reloaded = constructed(name), constructed(name)
    with torch.no_grad():
        for value, model in ((3.0, saved), (0.0, reloaded)):
            for tensor in model.state_dict().values():
                tensor.fill_(value if tensor.is_floating_point() else 1)
    with tempfile.TemporaryDirectory() as folder, on_cpu(torch.float32):
        settings = {"checkpoint_dir": folder, "model_save_format": "safetensors", "model_cache_dir": folder}
        checkpointer = CheckpointingConfig(**settings, save_consolidated=True).build(0, 0, 0)
        checkpointer.save_model(saved, folder)
        try:
            checkpointer.load_base_model(reloaded, torch.device("cpu"), folder, f"{folder}/model/consolidated")
        except RuntimeError as error:
            return f"raises: {' '.join(str(error).split())[:160]}"
    tensors = {name: tensor for name, tensor in reloaded.state_dict().items() if tensor.is_floating_point()}
    names = [name for name, tensor in tensors.items() if not tensor.any()]
    return f"{len(names)} of {len(tensors)} stay at zero, first {names[0]}" if names else ""


if __name__ == "__main__":
    shows = True
    for name in CLASSES:
        found = left(name)
        with patch.object(checkpointing, "_apply_key_mapping", lambda state, mapping: state):
            without = left(name)
        print(f"{name}: {found or 'all is loaded'}; without the renamings {without or 'all is loaded'}", flush=True)
        shows &= bool(found) and not without
    sys.exit(0 if shows else 1)
