"""Cedar's vision tower, and the projector into the language model."""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F

from acme_automodel.components.models.cedar.config import CedarVisionConfig
from acme_automodel.components.models.common.attention import GroupedQueryAttention, build_attention_mask
from acme_automodel.components.models.common.precision import dtype_of


class CedarVisionLayer(nn.Module):
    """Attention among all patches, then feed-forward."""

    def __init__(self, config: CedarVisionConfig):
        super().__init__()
        dtype = dtype_of(config)
        heads = config.num_attention_heads
        self.norm1 = nn.LayerNorm(config.hidden_size, dtype=dtype)
        self.attn = GroupedQueryAttention(config.hidden_size, heads, heads, bias=True, dtype=dtype)
        self.norm2 = nn.LayerNorm(config.hidden_size, dtype=dtype)
        self.fc1 = nn.Linear(config.hidden_size, config.intermediate_size, dtype=dtype)
        self.fc2 = nn.Linear(config.intermediate_size, config.hidden_size, dtype=dtype)

    def forward(self, patches: torch.Tensor, visible: torch.Tensor) -> torch.Tensor:
        """Map ``[N, P, D]`` to ``[N, P, D]``: images, patches, channels."""
        patches = patches + self.attn(self.norm1(patches), visible)
        return patches + self.fc2(F.gelu(self.fc1(self.norm2(patches))))


class CedarVisionTower(nn.Module):
    """Cuts an image into patches and lets them look at each other."""

    def __init__(self, config: CedarVisionConfig):
        super().__init__()
        dtype = dtype_of(config)
        self.patch_embed = nn.Conv2d(
            config.num_channels,
            config.hidden_size,
            kernel_size=config.patch_size,
            stride=config.patch_size,
            dtype=dtype,
        )
        num_patches = (config.image_size // config.patch_size) ** 2
        self.position_embed = nn.Embedding(num_patches, config.hidden_size, dtype=dtype)
        self.layers = nn.ModuleList([CedarVisionLayer(config) for _ in range(config.num_hidden_layers)])
        self.norm = nn.LayerNorm(config.hidden_size, dtype=dtype)

    def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
        """Map images ``[N, C, height, width]`` to patch states ``[N, P, D]``."""
        # A processor hands over fp32 pixels whatever the dtype of the model.
        pixels = pixel_values.to(self.patch_embed.weight.dtype)
        patches = self.patch_embed(pixels).flatten(2).transpose(1, 2)
        patches = patches + self.position_embed(torch.arange(patches.shape[1], device=patches.device))
        visible = build_attention_mask(patches, None, causal=False)
        for layer in self.layers:
            patches = layer(patches, visible)
        return self.norm(patches)


class CedarProjector(nn.Module):
    """Two linear layers from the width ``D`` of the tower to the width ``H`` of the language model."""

    def __init__(self, vision_size: int, text_size: int, dtype: torch.dtype):
        super().__init__()
        self.linear_1 = nn.Linear(vision_size, text_size, dtype=dtype)
        self.linear_2 = nn.Linear(text_size, text_size, dtype=dtype)

    def forward(self, patches: torch.Tensor) -> torch.Tensor:
        """Map ``[N, P, D]`` to ``[N, P, H]``."""
        return self.linear_2(F.gelu(self.linear_1(patches)))
