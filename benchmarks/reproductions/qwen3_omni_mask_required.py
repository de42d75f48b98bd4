"""Qwen3-Omni cannot be run without ``attention_mask``, which its forward declares optional.

``qwen3_omni_moe/model.py:165`` computes the padding mask by ``attention_mask.bool()`` whether there is a mask or not,
and forgets the ``padding_mask`` that it was given on the way. The forward around it, line 519, allows for a mask that
is ``None``.

Measured: AttributeError: 'NoneType' object has no attribute 'bool', with and without ``padding_mask``; with a mask of
ones the same model gives finite logits.
"""

import sys
from unittest.mock import patch

import torch
from nemo_automodel.components.models.qwen3_omni_moe.model import Qwen3OmniMoeThinkerForConditionalGeneration
from transformers import PretrainedConfig
from transformers.initialization import no_init_weights
from transformers.models.qwen3_omni_moe.configuration_qwen3_omni_moe import Qwen3OmniMoeThinkerConfig

PretrainedConfig.pad_token_id = None  # as the framework does before it constructs anything
config = Qwen3OmniMoeThinkerConfig(
    text_config={
        "vocab_size": 96,
        "hidden_size": 64,
        "intermediate_size": 88,
        "moe_intermediate_size": 40,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [2, 3, 3]},
    },
    vision_config={
        "depth": 1,
        "hidden_size": 80,
        "intermediate_size": 104,
        "num_heads": 4,
        "out_hidden_size": 64,
        "num_position_embeddings": 16,
        "deepstack_visual_indexes": [0],
    },
    audio_config={"encoder_layers": 1, "d_model": 48, "encoder_attention_heads": 4, "encoder_ffn_dim": 72},
)
config.torch_dtype = torch.float32
config.vision_start_token_id = 91  # as checkpoints have it
torch.set_default_dtype(torch.float32)
torch.manual_seed(0)
with patch.object(torch.cuda, "current_device", lambda: 0), no_init_weights():
    model = Qwen3OmniMoeThinkerForConditionalGeneration(config).eval()
for parameter in model.parameters():
    torch.nn.init.normal_(parameter, std=0.1)
ids = torch.arange(12).view(1, 12)


def outcome(**arguments: torch.Tensor) -> str:
    """Say what a forward gives."""
    try:
        with torch.no_grad():
            logits = model(ids, **arguments)
    except AttributeError as error:
        return f"AttributeError: {error}"
    return f"logits {list(logits.shape)}, finite: {bool(torch.isfinite(logits).all())}"


print(f"without a mask: {(bare := outcome())}")
print(f"with padding_mask: {outcome(padding_mask=torch.zeros(1, 12, dtype=torch.bool))}")
print(f"with attention_mask: {(masked := outcome(attention_mask=torch.ones(1, 12, dtype=torch.long)))}")
sys.exit(0 if bare.startswith("AttributeError") and masked.startswith("logits") else 1)
