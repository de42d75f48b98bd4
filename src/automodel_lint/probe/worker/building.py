"""Constructs a class as the framework does, on a tiny configuration, on the CPU."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn

from automodel_lint.probe.worker import environment
from automodel_lint.probe.worker.environment import Observed
from automodel_lint.probe.worker.tiny_config import arguments_of, find_config_class, merge, resolve
from automodel_lint.probe.worker.tiny_config import tiny_config as derived

RECIPES = Path(__file__).with_name("recipes.json")


def recipe_for(architectures: tuple[str, ...], own: dict[str, Any]) -> dict[str, Any]:
    """Return what a class needs beyond derivation: the shipped recipe with what its authors say laid over it.

    A class is found by any of its architecture names. ``given`` and ``set`` are fields of its configuration before and
    after shrinking, ``parts`` configurations of other classes in it, ``arguments`` calls that make further arguments
    of the constructor, ``variants`` recipes to lay over this one, ``function`` a ``module:function`` that makes it all.
    """
    shipped = json.loads(RECIPES.read_text(encoding="utf-8"))["classes"]
    recipe: dict[str, Any] = {}
    for source in (shipped, own):
        recipe = merge(recipe, next((source[name] for name in architectures if name in source), {}))
    return recipe


def config_class_of(cls: type, architectures: tuple[str, ...], recipe: dict[str, Any], package: str) -> type | None:
    """Return the configuration class that a class is made for, ``None`` if none can be told."""
    named = recipe.get("config_class")
    return resolve(named) if named else find_config_class(cls, list(architectures))


def tiny_config(cls: type, config_class: type, architectures: tuple[str, ...], recipe: dict[str, Any]) -> Any:
    """Return a tiny configuration of a class."""
    config = derived(config_class, recipe)
    if "architectures" not in recipe.get("set", {}):
        config.architectures = [architectures[0]]
    return config


def construct(
    cls: type, config: Any, recipe: dict[str, Any], dtype: torch.dtype, package: str, observed: Observed
) -> nn.Module:
    """Construct; where plain construction fails, with ways of attention that need no GPU. Raises the first error."""
    arguments = arguments_of(recipe)
    set_dtype(config, dtype)
    errors: list[Exception] = []
    for attention in (None, "eager", "sdpa"):
        if attention:
            config._attn_implementation = attention
        try:
            with default_dtype(dtype), environment.on_cpu(observed):
                return cls(config, **arguments)
        except Exception as error:
            errors.append(error)
    raise errors[0]


def set_dtype(config: Any, dtype: torch.dtype) -> None:
    """Make a configuration and every part of it say ``dtype``, as the framework does before it constructs."""
    for part in vars(config).values():
        if hasattr(part, "to_dict") and not isinstance(part, type):
            set_dtype(part, dtype)
    if hasattr(type(config), "torch_dtype"):
        config.torch_dtype = dtype
    elif hasattr(config, "dtype"):
        config.dtype = str(dtype).removeprefix("torch.") if isinstance(config.dtype, str) else dtype


def call(model: nn.Module, arguments: dict[str, Any], observed: Observed) -> Any:
    """Call ``forward`` on the CPU."""
    with environment.on_cpu(observed):
        return model(**arguments)


@contextlib.contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Where tensors without a dtype get this one."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@torch.no_grad()
def randomise(model: nn.Module, seed: int) -> None:
    """Fill every parameter with reproducible values of a size that keeps a forward finite.

    Matrices are scaled by their fan-in, norms lie around one, everything else around zero, so that no two are equal.
    """
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in sorted(model.named_parameters()):
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float32)
        if parameter.dim() >= 2:
            noise /= math.sqrt(max(parameter.shape[-1], 1))
        elif name.endswith("weight") or name.endswith(".D"):
            noise = 1 + 0.1 * noise
        else:
            noise *= 0.1
        parameter.copy_(noise)


# -- packages that cannot be installed here ---------------------------------------------------------------------------


class ShortConvolution(nn.Conv1d):
    """The parameters of flash-linear-attention's depthwise convolution."""

    def __init__(self, hidden_size: int, kernel_size: int, bias: bool = False, dtype: Any = None, **_: Any) -> None:
        super().__init__(hidden_size, hidden_size, kernel_size, groups=hidden_size, bias=bias, dtype=dtype)


class FusedRMSNormGated(nn.Module):
    """The parameter of flash-linear-attention's gated norm."""

    def __init__(self, hidden_size: int, dtype: Any = None, **_: Any) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size, dtype=dtype))


def stand_in(package: str) -> None:
    """Put a package that cannot be installed here into ``sys.modules``: layers as above, functions that do nothing."""
    modules = json.loads(RECIPES.read_text(encoding="utf-8"))["stand_ins"][package]
    for module, names in modules.items():
        parent = ""
        for part in module.split("."):
            parent = f"{parent}.{part}".lstrip(".")
            sys.modules.setdefault(parent, types.ModuleType(parent)).__path__ = []
        for name in names:
            setattr(sys.modules[module], name, globals().get(name, lambda *_, **__: None))
