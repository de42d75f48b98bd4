"""Shards a model as the framework does, within the ranks of a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, Shard

from automodel_lint.probe.worker.framework import Framework

EXPERT_AXES = ("ep", "ep_shard")
PARTS = ("MeshContext", "ParallelismSizes", "FSDP2Config", "parallelize_model")


def shards(framework: Framework) -> bool:
    """Tell whether a framework has a way of its own to shard."""
    return all(framework.find(name) is not None for name in PARTS)


def can_shard_experts(framework: Framework, model: nn.Module) -> bool:
    """Tell whether a model has experts that the framework can spread over ranks, and its class says that it may."""
    layer = framework.find("MoE")
    if not shards(framework) or not isinstance(layer, type):
        return False
    if not any(isinstance(module, layer) for module in model.modules()):
        return False
    query = framework.find("query_capabilities")
    try:
        return bool(query(model).supports_ep)
    except Exception:  # NAM911 is about that; the experts are there
        return True


def shard(framework: Framework, model: nn.Module, dtype: torch.dtype, experts: int, count: int) -> nn.Module:
    """Shard a model over all ranks, computing in ``dtype``, its experts over ``experts`` ranks; return it.

    A framework without a mesh of its own gets torch's ``fully_shard`` for every layer and the whole.
    """
    policy = MixedPrecisionPolicy(param_dtype=dtype, reduce_dtype=torch.float32, cast_forward_inputs=False)
    if not shards(framework):
        return _plainly(model, policy, count)
    found = {name: framework.find(name) for name in PARTS}
    sizes = found["ParallelismSizes"](ep_size=experts)
    context = found["MeshContext"].build(found["FSDP2Config"](mp_policy=policy), sizes, world_size=count)
    model = found["parallelize_model"](model, context)
    tie = framework.find("ensure_tied_lm_head")
    if tie is not None:
        tie(model)
    return model


def _plainly(model: nn.Module, policy: MixedPrecisionPolicy, count: int) -> nn.Module:
    mesh = init_device_mesh("cpu", (count,))
    inside: set[nn.Module] = set()
    for module in model.modules():
        if isinstance(module, nn.ModuleList) and module not in inside:
            inside.update(module.modules())
            for layer in module:
                fully_shard(layer, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    return model


def gathered(named: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return all of every tensor of a rank, in fp32; each rank must ask for the same names.

    Those that one axis of the mesh shards, as nearly all are, go over in one message.
    """
    simple = {name: tensor for name, tensor in named.items() if _shard_of(tensor) is not None}
    mine = {name: tensor.to_local().detach().float().numpy() for name, tensor in simple.items()}
    parts: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(parts, mine)
    found = {}
    for name, tensor in named.items():
        if name in simple:
            found[name] = torch.cat([torch.from_numpy(part[name]) for part in parts], _shard_of(tensor))
        else:
            found[name] = (tensor.full_tensor() if isinstance(tensor, DTensor) else tensor).detach().float()
    return found


def _shard_of(tensor: torch.Tensor) -> int | None:
    """Return the dimension along which a tensor is cut over all ranks in order, ``None`` if it is not so simple."""
    if not isinstance(tensor, DTensor):
        return None
    axes = [(size, how) for size, how in zip(tensor.device_mesh.shape, tensor.placements, strict=True) if size > 1]
    if len(axes) != 1 or axes[0][0] != dist.get_world_size() or type(axes[0][1]) is not Shard:
        return None
    return axes[0][1].dim


def is_spread_expert(tensor: Any) -> bool:
    """Tell whether a tensor is spread over a mesh of experts, where gradients are scaled later."""
    names = getattr(getattr(tensor, "device_mesh", None), "mesh_dim_names", None) or ()
    return any(name in EXPERT_AXES for name in names)
