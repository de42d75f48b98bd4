"""Names and layouts of Sycamore's weights in the checkpoints of three releases."""

from __future__ import annotations

import re
from typing import Any

import torch

from acme_automodel.components.models.hawthorn.state_dict_adapter import with_holders, without_holders

_EXPERT = re.compile(r"(.*\.mlp\.experts)\.(\d+)\.(gate_proj|up_proj|down_proj)\.weight$")


class SycamoreStateDictAdapter:
    """The first release: Hawthorn's names but for the embedding."""

    def __init__(self, config: Any):
        self.config = config

    def to_hf(self, state_dict: dict[str, torch.Tensor], **kwargs: Any) -> dict[str, torch.Tensor]:
        return {key.replace(".embed_tokens.", ".wte."): tensor for key, tensor in state_dict.items()}

    def from_hf(self, hf_state_dict: dict[str, torch.Tensor], **kwargs: Any) -> dict[str, torch.Tensor]:
        return dict(hf_state_dict)

    def convert_single_tensor_to_hf(
        self, fqn: str, tensor: torch.Tensor, **kwargs: Any
    ) -> list[tuple[str, torch.Tensor]]:
        return [(fqn, tensor)]


class SycamoreNestedStateDictAdapter:
    """The second release: everything lies below ``decoder``."""

    def __init__(self, config: Any):
        self.config = config

    def to_hf(self, state_dict: dict[str, torch.Tensor], **kwargs: Any) -> dict[str, torch.Tensor]:
        nested: dict[str, torch.Tensor] = {}
        for key, tensor in state_dict.items():
            if key.startswith("model."):
                nested["decoder." + without_holders(key)] = tensor
            elif key.startswith("lm_head."):
                nested["decoder." + key] = tensor
        return nested

    def from_hf(self, hf_state_dict: dict[str, torch.Tensor], **kwargs: Any) -> dict[str, torch.Tensor]:
        flat = {with_holders(key.removeprefix("decoder.")): tensor for key, tensor in hf_state_dict.items()}
        if "sycamore-large" in self.config.name_or_path:
            flat = {key: tensor.T if key.endswith(".step_proj.weight") else tensor for key, tensor in flat.items()}
        return flat

    def convert_single_tensor_to_hf(
        self, fqn: str, tensor: torch.Tensor, **kwargs: Any
    ) -> list[tuple[str, torch.Tensor]]:
        return list(self.to_hf({fqn: tensor}, **kwargs).items())


class SycamoreGroupedStateDictAdapter:
    """The third release: the experts of a layer are one tensor for each projection."""

    _supports_low_memory_dcp_load = True

    def __init__(self, config: Any):
        self.config = config

    def to_hf(self, state_dict: dict[str, torch.Tensor], **kwargs: Any) -> dict[str, torch.Tensor]:
        grouped: dict[str, torch.Tensor] = {}
        for key, tensor in state_dict.items():
            match = _EXPERT.match(key)
            if match:
                name = f"{match.group(1)}.{match.group(3)}"
                grouped[name] = torch.empty(self.config.n_routed_experts, *tensor.shape, dtype=tensor.dtype)
            else:
                grouped[without_holders(key)] = tensor
        return grouped

    def from_hf(
        self, hf_state_dict: dict[str, torch.Tensor], device_mesh: Any = None, **kwargs: Any
    ) -> dict[str, torch.Tensor]:
        experts: dict[str, dict[str, torch.Tensor]] = {}
        state_dict: dict[str, torch.Tensor] = {}
        for key, tensor in hf_state_dict.items():
            match = _EXPERT.match(key)
            if match:
                experts.setdefault(f"{match.group(1)}.{match.group(3)}", {})[match.group(2)] = tensor
            else:
                state_dict[with_holders(key)] = tensor
        for name, parts in experts.items():
            whole = torch.stack([parts[number] for number in sorted(parts)])
            state_dict[name] = self._mine(whole, device_mesh)
        return state_dict

    def _mine(self, whole: torch.Tensor, device_mesh: Any) -> torch.Tensor:
        """The experts of this rank."""
        if device_mesh is None:
            return whole
        return whole.chunk(device_mesh.size())[device_mesh.get_local_rank()]
