"""Shards a model as the framework does, within the ranks of a job."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

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


def whole(tensor: torch.Tensor) -> torch.Tensor:
    """Return all of a sharded tensor (every rank must ask), the tensor itself if it is not sharded."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def is_spread_expert(tensor: Any) -> bool:
    """Tell whether a tensor is spread over a mesh of experts, where gradients are scaled later."""
    names = getattr(getattr(tensor, "device_mesh", None), "mesh_dim_names", None) or ()
    return any(name in EXPERT_AXES for name in names)
