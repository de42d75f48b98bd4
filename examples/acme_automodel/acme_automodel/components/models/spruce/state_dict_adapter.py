"""Names of Spruce's weights: the published checkpoints have other ones than this model."""

from __future__ import annotations

import re
from typing import Any

import torch

# Native path segment -> published path segment. Whole segments are exchanged wherever they stand, so keys of
# adapters (``base_model.model. … .w1.lora_A.weight``) are renamed by the same table.
_PUBLISHED = {
    "mlp": "block_sparse_moe",
    "gate_proj": "w1",
    "down_proj": "w2",
    "up_proj": "w3",
    "shared_experts": "shared_expert",
    "e_score_correction_bias": "expert_bias",
}
_NATIVE = {published: native for native, published in _PUBLISHED.items()}


def _renamed(key: str, table: dict[str, str]) -> str:
    return ".".join(table.get(segment, segment) for segment in key.split("."))


class SpruceStateDictAdapter:
    """Renames in both directions; no tensor is copied, reshaped or left out."""

    # Every key arrives under another name, so nothing is read straight into the model's storage.
    _supports_low_memory_dcp_load = False

    def from_hf(self, hf_state_dict: dict[str, torch.Tensor], **kwargs: Any) -> dict[str, torch.Tensor]:
        return {_renamed(key, _NATIVE): tensor for key, tensor in hf_state_dict.items()}

    def to_hf(
        self, state_dict: dict[str, torch.Tensor], exclude_key_regex: str | None = None, **kwargs: Any
    ) -> dict[str, torch.Tensor]:
        converted: dict[str, torch.Tensor] = {}
        for key, tensor in state_dict.items():
            converted.update(self.convert_single_tensor_to_hf(key, tensor, exclude_key_regex=exclude_key_regex))
        return converted

    def convert_single_tensor_to_hf(
        self, fqn: str, tensor: torch.Tensor, exclude_key_regex: str | None = None, **kwargs: Any
    ) -> list[tuple[str, torch.Tensor]]:
        """Return the published (name, tensor) pairs for one native tensor: one pair, or none if excluded."""
        name = _renamed(fqn, _PUBLISHED)
        if exclude_key_regex and re.match(exclude_key_regex, name):
            return []
        return [(name, tensor)]
