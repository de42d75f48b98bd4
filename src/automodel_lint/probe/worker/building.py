"""Constructs a class as the framework does, on a tiny configuration, on the CPU."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import importlib
import inspect
import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import nn

from automodel_lint.probe.worker import environment, stand_ins
from automodel_lint.probe.worker.environment import Observed
from automodel_lint.probe.worker.errors import missing_dependency
from automodel_lint.probe.worker.inputs import parts
from automodel_lint.probe.worker.tiny_config import PROFILES, arguments_of, find_config_class, merge, resolve
from automodel_lint.probe.worker.tiny_config import tiny_config as derived

RECIPES = Path(__file__).with_name("recipes.json")
RECIPE_KEYS = (
    "config_class",
    "given",
    "set",
    "parts",
    "arguments",
    "defaults",
    "inputs",
    "image",
    "stand_ins",
    "function",
)


@functools.cache
def shipped() -> dict[str, Any]:
    """Return the recipes that come with the probe: of ``classes``, their ``variants``, ``stand_ins`` for packages."""
    return json.loads(RECIPES.read_text(encoding="utf-8"))


def recipe_for(architectures: tuple[str, ...], own: dict[str, Any]) -> dict[str, Any]:
    """Return what a class needs beyond derivation: the shipped recipe with what its authors say laid over it.

    A class is found by any of its architecture names. ``given`` and ``set`` are fields of its configuration before and
    after shrinking, ``parts`` configurations of other classes in it, ``arguments`` calls that make further arguments
    of the constructor, ``defaults`` those of functions, ``inputs`` arguments of ``forward`` and ``image`` those with an
    image, ``variants`` recipes to lay over this one, ``function`` a ``module:function`` that returns the configuration.
    """
    recipe: dict[str, Any] = {}
    for source in (shipped()["classes"], own):
        recipe = merge(recipe, next((source[name] for name in architectures if name in source), {}))
    return recipe


def config_class_of(
    cls: type, architectures: tuple[str, ...], recipe: dict[str, Any], package: str, registry: str = ""
) -> type | None:
    """Return the configuration class that a class is made for, ``None`` if none can be told."""
    named = recipe.get("config_class")
    return resolve(named) if named else find_config_class(cls, architectures, package, registry)


def tiny_config(
    cls: type,
    config_class: type,
    architectures: tuple[str, ...],
    recipe: dict[str, Any],
    profile: str = PROFILES[0],
) -> Any:
    """Return a tiny configuration of a class."""
    config = derived(config_class, recipe, profile)
    if "architectures" not in recipe.get("set", {}):
        config.architectures = [architectures[0]]
    return config


UNINITIALISED = "without the initialisation of transformers"
ATTENTIONS = ("eager", "sdpa")
# What the framework's backends may be on a CPU: the class's own choice if it is among these, else the first.
CPU_BACKENDS: dict[str, tuple[Any, ...]] = {
    "attn": ("sdpa", "flex", "eager", "torch"),
    "linear": ("torch",),
    "rms_norm": ("torch_fp32", "torch"),
    "rope": ("torch",),
    "rope_fusion": (False,),
    "experts": ("torch",),
    "dispatcher": ("torch",),
}


def construct(
    cls: type,
    config: Any,
    recipe: dict[str, Any],
    dtype: torch.dtype,
    package: str,
    observed: Observed,
    how: list[str] | None = None,
    failed: list[Exception] | None = None,
) -> nn.Module:
    """Construct as the framework does; where that fails for want of a GPU, with what needs none.

    ``how`` gets a line for each thing that was not as the class has it by itself, ``failed`` what was raised before.
    Raises the first error.
    """
    set_dtype(config, dtype)
    _as_the_framework_imports()
    with default_dtype(dtype), environment.on_cpu(observed), no_processors():
        model, told, errors = _first_that_works(_ways(cls, config, arguments_of(recipe)), package)
        backends = _cpu_backends(cls, model)
        if backends:
            del model
            model, told, _ = _first_that_works((_backend_way(cls, config, recipe, b) for b in backends), package)
    if how is not None:
        how.extend(told)
    if failed is not None:
        failed.extend(errors)
    return model


def _as_the_framework_imports() -> None:
    """Give every configuration of transformers a padding token of none, as the framework does before all else."""
    base = getattr(sys.modules.get("transformers"), "PretrainedConfig", None)
    if base is not None and not hasattr(base, "pad_token_id"):
        base.pad_token_id = None


Way = tuple[list[str], Callable[[], nn.Module]]


def _ways(cls: type, config: Any, arguments: dict[str, Any]) -> Iterator[Way]:
    """Plainly; with ways of attention that need no GPU; without initialisation, as the framework does it for meta."""
    untouched = copy.deepcopy(config)
    yield [], lambda: cls(config, **arguments)
    for attention in ATTENTIONS:
        other = copy.deepcopy(untouched)
        set_attention(other, attention)
        yield [f"attention {attention}"], lambda other=other: cls(other, **arguments)
    if "transformers" in sys.modules:
        yield [UNINITIALISED], lambda: _uninitialised(cls, untouched, arguments)


def _uninitialised(cls: type, config: Any, arguments: dict[str, Any]) -> nn.Module:
    from transformers.initialization import no_init_weights

    with no_init_weights():
        return cls(config, **arguments)


def _first_that_works(ways: Iterator[Way], package: str) -> tuple[nn.Module, list[str], list[Exception]]:
    errors: list[Exception] = []
    for told, make in ways:
        try:
            return make(), told, errors
        except Exception as error:
            errors.append(error)
            if missing_dependency(error, package):
                break
    raise errors[0]


def set_attention(config: Any, attention: str) -> None:
    """Name the implementation of attention in a configuration of transformers and in every part of it."""
    for part in parts(config):
        part._attn_implementation = attention


def _cpu_backends(cls: type, model: nn.Module) -> list[Any]:
    """Return backends that need no GPU, ``[]`` where what the class chose for itself is one, or cannot be told."""
    chosen = getattr(model, "backend", None)
    if not dataclasses.is_dataclass(chosen) or "backend" not in inspect.signature(cls.__init__).parameters:
        return []
    known = {field.name for field in dataclasses.fields(chosen)} & set(CPU_BACKENDS)
    wrong = {name: CPU_BACKENDS[name][0] for name in known if getattr(chosen, name) not in CPU_BACKENDS[name]}
    if "attn" in wrong:
        return [dataclasses.replace(chosen, **{**wrong, "attn": attention}) for attention in CPU_BACKENDS["attn"]]
    return [dataclasses.replace(chosen, **wrong)] if wrong else []


def _backend_way(cls: type, config: Any, recipe: dict[str, Any], backend: Any) -> Way:
    shown = {name: getattr(backend, name) for name in CPU_BACKENDS if hasattr(backend, name)}
    arguments = {**arguments_of(recipe), "backend": backend}
    made = copy.deepcopy(config)
    return [f"backend {name} {value}" for name, value in shown.items()], lambda: cls(made, **arguments)


@contextlib.contextmanager
def no_processors() -> Iterator[None]:
    """Where a constructor that loads the processor or tokenizer of its checkpoint gets none: there is no checkpoint."""
    with contextlib.ExitStack() as stack:
        for name in ("AutoProcessor", "AutoTokenizer", "AutoImageProcessor"):
            loader = getattr(sys.modules.get("transformers"), name, None)
            if loader is not None:
                stack.enter_context(patch.object(loader, "from_pretrained", _or_none(loader.from_pretrained)))
        yield


def _or_none(load: Callable[..., Any]) -> Callable[..., Any]:
    def loading(*arguments: Any, **named: Any) -> Any:
        try:
            return load(*arguments, **named)
        except (OSError, ValueError):
            return None

    return loading


def set_dtype(config: Any, dtype: torch.dtype) -> None:
    """Make a configuration and every part of it say ``dtype``, as the framework does before it constructs."""
    for part in parts(config):
        if hasattr(type(part), "torch_dtype"):
            part.torch_dtype = dtype
        elif hasattr(part, "dtype"):
            part.dtype = str(dtype).removeprefix("torch.") if isinstance(part.dtype, str) else dtype


def call(model: nn.Module, arguments: dict[str, Any], observed: Observed) -> Any:
    """Call ``forward`` on the CPU."""
    with environment.on_cpu(observed), dense_flex_attention():
        return model(**arguments)


@contextlib.contextmanager
def dense_flex_attention() -> Iterator[None]:
    """Where FlexAttention, not compiled, differentiates on the CPU as well: its dense arithmetic is the same."""
    module = importlib.import_module("torch.nn.attention.flex_attention")
    if hasattr(module, "_validate_device"):
        with patch.object(module, "_validate_device", lambda *_: None):
            yield
    else:
        yield


@contextlib.contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Where tensors without a dtype get this one."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


LEARNED_BUFFER = re.compile(r".*(bias|sink|scalar).*")  # what checkpoints fill though no gradient does


@torch.no_grad()
def randomise(model: nn.Module, seed: int) -> None:
    """Fill every parameter with reproducible values of a size that keeps a forward finite; dtypes stay.

    Matrices are scaled by their fan-in, norms lie around one, everything else around zero, so that no two are equal.
    Of the buffers, those that are learned by other means than gradients are filled too; tables are not.
    """
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in sorted(model.named_parameters()):
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float32)
        if parameter.dim() >= 2:
            noise /= math.sqrt(max(parameter.shape[-1], 1))
        elif name.endswith(("weight", ".D")):
            noise = 1 + 0.1 * noise
        else:
            noise *= 0.1
        parameter.copy_(noise)
    owners = dict(model.named_modules())
    for name, buffer in sorted(model.named_buffers()):
        owner, _, local = name.rpartition(".")
        persistent = local not in owners[owner]._non_persistent_buffers_set
        if persistent and buffer.is_floating_point() and LEARNED_BUFFER.fullmatch(local):
            noise = 0.1 * torch.randn(buffer.shape, generator=generator, dtype=torch.float32)
            buffer.copy_(1 + noise if "scalar" in local else noise)


def set_defaults(recipe: dict[str, Any]) -> None:
    """Replace defaults of functions that a recipe makes smaller, for this process: tables that no field shrinks."""
    for path, values in recipe.get("defaults", {}).items():
        function = resolve(path)
        named = inspect.signature(function).parameters
        made = {name: tuple(item) if isinstance(item, list) else item for name, item in values.items()}
        late = {name: item for name, item in made.items() if named[name].kind is inspect.Parameter.KEYWORD_ONLY}
        function.__kwdefaults__ = {**(function.__kwdefaults__ or {}), **late} or None
        early = [p for p in named.values() if p.default is not p.empty and p.kind is not p.KEYWORD_ONLY]
        function.__defaults__ = tuple(made.get(p.name, p.default) for p in early)


def stand_in(package: str, user: str) -> None:
    """Put layers in plain torch in the place of a package that cannot be installed here.

    Modules of the package ``user`` that have looked for it in vain are forgotten, with those that took something from
    them, so that they look again.
    """
    if package in sys.modules:
        return
    stand_ins.put(shipped()["stand_ins"][package])
    texts = {}
    for name, module in sys.modules.items():
        file = getattr(module, "__file__", None)
        if name.startswith(f"{user}.") and file and not file.endswith("__init__.py"):
            texts[name] = Path(file).read_text(encoding="utf-8", errors="replace")
    sought = [rf"\b{package}\b"]
    while sought:
        word = sought.pop()
        for name in [name for name, text in texts.items() if re.search(word, text, re.M)]:
            del sys.modules[name], texts[name]
            sought.append(rf"^\s*from \S*\.{name.rpartition('.')[2]} import\b")
