"""The part of the minimal framework about state-dict adapters; our own writing."""

from __future__ import annotations

import textwrap


def _file(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


ADAPTERS: dict[str, str] = {
    "nemo_automodel/components/checkpoint/__init__.py": "",
    "nemo_automodel/components/checkpoint/state_dict_adapter.py": _file(
        '''
        """What every adapter between a model's tensors and a checkpoint must have."""

        from abc import ABC, abstractmethod


        class StateDictAdapter(ABC):
            _supports_low_memory_dcp_load = False

            @property
            def supports_low_memory_dcp_load(self):
                return self._supports_low_memory_dcp_load

            @abstractmethod
            def to_hf(self, state_dict, **kwargs):
                """Return the tensors of a model under the names of its checkpoint."""

            @abstractmethod
            def from_hf(self, hf_state_dict, device_mesh=None, **kwargs):
                """Return the tensors of a checkpoint under the names of the model."""

            @abstractmethod
            def convert_single_tensor_to_hf(self, fqn, tensor, **kwargs):
                """Return what one tensor of a model becomes, as pairs of name and tensor."""
        '''
    ),
    "nemo_automodel/components/moe/state_dict_utils.py": _file(
        '''
        """Slices of a device mesh, and of the experts on it."""

        from torch.distributed.tensor import DTensor, Replicate, Shard


        def is_dtensor(tensor):
            return isinstance(tensor, DTensor)


        def get_submesh(device_mesh, dims):
            """Return the part of a mesh that spans some of its dimensions."""
            return device_mesh[dims]


        def get_expert_range_for_rank_from_mesh(device_mesh, n_experts):
            """Return the first expert of this rank, and the one behind its last."""
            if device_mesh is None:
                return 0, n_experts
            ep_mesh = get_submesh(device_mesh, ("ep",))
            share = -(-n_experts // ep_mesh.size())
            start = share * ep_mesh.get_local_rank()
            return start, min(start + share, n_experts)


        def create_dtensor_from_local(local_tensor, device_mesh, rank=None):
            """Return a tensor whose parts lie on ``ep`` along dim 0, and on ``ep_shard`` along dim 1."""
            if device_mesh is None:
                return local_tensor
            placements = {"ep": Shard(0), "ep_shard": Shard(1), "ep_replicate": Replicate()}
            wanted = [placements[name] for name in device_mesh.mesh_dim_names]
            return DTensor.from_local(local_tensor, device_mesh, wanted)
        '''
    ),
}
