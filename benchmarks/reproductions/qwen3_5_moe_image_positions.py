"""Qwen3.5-MoE counts the tokens of an image one by one where the architecture places them in a grid (M-RoPE).

With pixels, ``Qwen3_5MoeModel.forward`` embeds the tokens itself and hands ``input_ids=None`` to the forward of
transformers (``qwen3_5_moe/model.py:608``). That computes positions in three axes only from
``input_ids``; without them it leaves them to the language model, which counts 0, 1, 2, …. The collators leave positions
out on purpose, to be made in the forward (``components/datasets/vlm/collate_fns.py:1316``), so images are trained with
wrong positions unless sequences are packed or split over ranks, where the positions are made elsewhere. The dense
sibling Qwen3_5ForConditionalGeneration is not affected.

Measured on a small random model with one image of two by two merged patches: position ids as counted, logits off by 1.1
of 8 against transformers' (1e-5 with the positions given and the tower's frequencies unrounded). Here: the positions
that reach the rotary embedding, and how far the logits move when the right ones are given.
"""

import sys
from unittest.mock import patch

import torch
from nemo_automodel.components.models.qwen3_5_moe.model import Qwen3_5MoeForConditionalGeneration
from transformers import Qwen3_5MoeConfig

IMAGE = 90
config = Qwen3_5MoeConfig(
    text_config={
        "vocab_size": 100,
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "layer_types": ["linear_attention", "full_attention"],
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "linear_key_head_dim": 12,
        "linear_value_head_dim": 20,
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 40,
        "shared_expert_intermediate_size": 40,
        "max_position_embeddings": 64,
        "mtp_num_hidden_layers": 0,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10000.0,
            "partial_rotary_factor": 0.5,
            "mrope_section": [3, 3, 2],
            "mrope_interleaved": True,
        },
    },
    vision_config={
        "depth": 1,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_heads": 2,
        "out_hidden_size": 64,
        "num_position_embeddings": 16,
        "deepstack_visual_indexes": [],
    },
    image_token_id=IMAGE,
    video_token_id=91,
    vision_start_token_id=92,
    vision_end_token_id=93,
    tie_word_embeddings=False,
)
for part in (config, config.text_config, config.vision_config):
    part.dtype = torch.float32
torch.manual_seed(0)
with patch.object(torch.cuda, "current_device", lambda: "cpu"):
    model = Qwen3_5MoeForConditionalGeneration(config).float().eval()
with torch.no_grad():
    for parameter in model.parameters():
        parameter.normal_(0, parameter.shape[-1] ** -0.5 if parameter.dim() > 1 else 0.1)

ids = torch.randint(0, 90, (1, 10))
ids[:, 3:7] = IMAGE
grid = torch.tensor([[1, 4, 4]])
vision = config.vision_config
patches = torch.randn(16, vision.in_channels * vision.temporal_patch_size * vision.patch_size**2)
batch = {
    "input_ids": ids,
    "attention_mask": torch.ones_like(ids),
    "pixel_values": patches,
    "image_grid_thw": grid,
    "mm_token_type_ids": (ids == IMAGE).long(),
}
seen: list[torch.Tensor] = []
model.model.language_model.rotary_emb.register_forward_pre_hook(
    lambda _, arguments: seen.append([a for a in arguments if not a.is_floating_point()][-1]) or None
)
wanted, _ = model.model.get_rope_index(
    ids, image_grid_thw=grid, attention_mask=batch["attention_mask"], mm_token_type_ids=batch["mm_token_type_ids"]
)
with torch.no_grad():
    as_is = model(**batch).logits
    right = model(**batch, position_ids=wanted).logits
moved = (as_is - right).abs().max().item()
print("time, row, column of the image's tokens, as the model makes them:", seen[0].reshape(3, -1)[:, 3:7].tolist())
print("as the architecture has them:", wanted.reshape(3, -1)[:, 3:7].tolist())
print(f"logits move by {moved:.2g} of {right.abs().max().item():.2g} with the right ones")
sys.exit(0 if moved > 1e-3 else 1)
