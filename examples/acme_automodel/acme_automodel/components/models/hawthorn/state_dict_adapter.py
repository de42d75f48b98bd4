"""Names of Hawthorn's weights: published checkpoints know no holders, and call a state-space block by its old name."""

from __future__ import annotations

import re
from typing import Any

import torch

# What lies in a holder of its own here and beside its neighbours in a checkpoint.
_HELD = re.compile(r"\.(A_log|dt_bias|sinks)$")


def without_holders(key: str) -> str:
    """Take the holders out of a name."""
    return key.replace("._fp32_params.", ".")


def with_holders(key: str) -> str:
    """Put a name back into its holder, if it belongs into one."""
    return _HELD.sub(r"._fp32_params.\1", key)


class HawthornStateDictAdapter:
    """Renames in both directions, wherever a segment stands: keys of LoRA go with the weights that they belong to."""

    def from_hf(self, hf_state_dict: dict[str, torch.Tensor], **kwargs: Any) -> dict[str, torch.Tensor]:
        return {with_holders(key.replace(".ssm.", ".mixer.")): tensor for key, tensor in hf_state_dict.items()}

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
        name = without_holders(fqn).replace(".mixer.", ".ssm.")
        if exclude_key_regex and re.match(exclude_key_regex, name):
            return []
        return [(name, tensor)]
