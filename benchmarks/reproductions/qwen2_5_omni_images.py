"""Qwen2.5-Omni cannot be run on images or videos with the transformers that the package pins (5.18.0).

``qwen2_5_omni/model.py:217`` takes ``pooler_output`` of ``get_image_features`` for a tensor and calls ``.to`` on it.
Since transformers 5.15 it is a tuple with one tensor an image. The lines for videos are written the same way. The
sister class for Qwen3-Omni concatenates the parts (``qwen3_omni_moe/model.py``, from line 464).

Measured: AttributeError: 'tuple' object has no attribute 'to'; transformers' own class runs on the same arguments.
"""

import sys
from unittest.mock import patch

import torch
from nemo_automodel.components.models.qwen2_5_omni.model import Qwen2_5OmniThinkerForConditionalGeneration as Ours
from transformers import Qwen2_5OmniThinkerForConditionalGeneration as Theirs
from transformers.models.qwen2_5_omni.configuration_qwen2_5_omni import Qwen2_5OmniThinkerConfig

IMAGE, START, END = 90, 91, 92
config = Qwen2_5OmniThinkerConfig(
    text_config={
        "vocab_size": 96,
        "hidden_size": 64,
        "intermediate_size": 88,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [2, 3, 3]},
    },
    vision_config={"depth": 2, "hidden_size": 80, "intermediate_size": 104, "num_heads": 4, "out_hidden_size": 64},
    audio_config={
        "encoder_layers": 2,
        "d_model": 48,
        "encoder_attention_heads": 4,
        "encoder_ffn_dim": 72,
        "output_dim": 64,
    },
)
config.image_token_id = config.image_token_index = IMAGE
config.vision_start_token_id, config.vision_end_token_id = START, END
torch.set_default_dtype(torch.float32)
ids = torch.tensor([[1, 2, START, IMAGE, IMAGE, END, 3, 4]])
arguments = {
    "input_ids": ids,
    "attention_mask": torch.ones_like(ids),
    "pixel_values": torch.randn(8, 3 * 2 * 14 * 14),  # 4 x 2 patches, merged two by two into two tokens
    "image_grid_thw": torch.tensor([[1, 4, 2]]),
}


def outcome(cls: type) -> str:
    """Say what a forward on one image gives."""
    torch.manual_seed(0)
    with patch.object(torch.cuda, "current_device", lambda: 0):
        model = cls(config).eval()
    try:
        with torch.no_grad():
            output = model(**arguments)
    except AttributeError as error:
        return f"AttributeError: {error}"
    return f"logits {list(getattr(output, 'logits', output).shape)}"


print(f"transformers: {(theirs := outcome(Theirs))}")
print(f"nemo_automodel: {(ours := outcome(Ours))}")
sys.exit(0 if theirs.startswith("logits") and ours.startswith("AttributeError: 'tuple'") else 1)
