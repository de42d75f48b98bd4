"""What a model class says about the kinds of parallelism it survives."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch.nn as nn

__all__ = ["ModelCapabilities", "query_capabilities"]


@dataclass(frozen=True)
class ModelCapabilities:
    """One flag for each kind of parallelism; a flag is raised only when a recipe has shown it to work."""

    supports_tp: bool = False
    supports_cp: bool = False
    supports_pp: bool = False
    supports_ep: bool = False
    supports_thd: bool = False


def query_capabilities(target: str | type | nn.Module | object, config: object | None = None) -> ModelCapabilities:
    """Read the capabilities of an architecture name, a class, a model, or a configuration.

    Only the body of the class itself is asked: a subclass changes enough to have to say it again.
    """
    if getattr(target, "architectures", None):
        target, config = target.architectures[0], target
    if isinstance(target, str):
        from acme_automodel._transformers.registry import ModelRegistry

        target = ModelRegistry.get_model_cls_from_model_arch(target)
    if isinstance(target, nn.Module):
        target, config = type(target), target.config

    declared = {"ModelCapabilities", "get_capabilities"} & target.__dict__.keys()
    if len(declared) != 1:
        raise TypeError(f"{target.__name__} must declare its capabilities in exactly one way, found {len(declared)}")
    if "ModelCapabilities" in declared:
        static = target.ModelCapabilities()
        optional = {"supports_thd": getattr(static, "supports_thd", False)}
        axes = ("supports_tp", "supports_cp", "supports_pp", "supports_ep")
        return ModelCapabilities(**{axis: getattr(static, axis) for axis in axes}, **optional)
    if config is None:
        raise ValueError(f"{target.__name__} decides its capabilities by the configuration; pass one")
    answer = target.get_capabilities(config)
    return ModelCapabilities(**{field.name: getattr(answer, field.name) for field in fields(ModelCapabilities)})
