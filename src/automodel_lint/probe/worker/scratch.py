"""A model that has no checkpoint, made as the framework makes it: empty parameters, real buffers, the initialiser."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from automodel_lint.probe.worker import environment
from automodel_lint.probe.worker.building import default_dtype
from automodel_lint.probe.worker.subject import Subject


def config_in(subject: Subject, dtype: torch.dtype, **changes: Any) -> Any:
    """Return a tiny configuration that asks for ``dtype``, in itself and in every configuration inside it."""
    config = subject.config(**changes)
    for part in parts_of(config):
        for name in ("dtype", "torch_dtype"):
            if hasattr(part, name):
                setattr(part, name, dtype)
                break
    return config


def parts_of(config: Any) -> list[Any]:
    """Return a configuration and those inside it, the outermost first."""
    found, waiting = [], [config]
    while waiting:
        part = waiting.pop(0)
        if any(part is one for one in found):
            continue
        found.append(part)
        waiting += [v for v in vars(part).values() if hasattr(v, "to_dict") and hasattr(v, "__dict__")]
    return found


def empty(subject: Subject, config: Any, dtype: torch.dtype) -> nn.Module:
    """Construct with nothing in the parameters: on the meta device where the framework does so.

    What the constructor leaves unwritten in buffers is NaN or the largest integer. Raises what construction raises.
    """
    try:
        with no_memory(), _parameters_on_meta(subject):
            return subject.construct(config, dtype)
    except (NotImplementedError, RuntimeError) as error:
        if "meta tensor" not in str(error).lower():
            raise
    with no_memory(), _nothing_initialised():
        return subject.construct(config, dtype)


def materialised(model: nn.Module) -> nn.Module:
    """Give every parameter and buffer on the meta device memory on the CPU, in place; its values are anything."""
    for module in model.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None and parameter.device.type == "meta":
                memory = torch.empty_like(parameter, device="cpu")
                module._parameters[name] = nn.Parameter(memory, requires_grad=parameter.requires_grad)
        for name, buffer in module._buffers.items():
            if buffer is not None and buffer.device.type == "meta":
                module._buffers[name] = torch.empty_like(buffer, device="cpu")
    return model


def initialise(subject: Subject, model: nn.Module, dtype: torch.dtype) -> None:
    """Materialise and initialise in place as the framework does. What is left unwritten is NaN or the largest integer.

    Raises what the initialiser raises.
    """
    checkpointer = subject.framework.find("Checkpointer")
    with no_memory(), default_dtype(torch.float32), environment.on_cpu(subject.observed):
        if hasattr(checkpointer, "initialize_model_weights"):
            checkpointer.initialize_model_weights(model, torch.device("cpu"))
        elif hasattr(model, "initialize_weights"):
            own_initialiser(subject, model, dtype)


def own_initialiser(subject: Subject, model: nn.Module, dtype: torch.dtype) -> None:
    """Run the initialiser of the class in place, whether or not the framework would.

    Raises what it raises.
    """
    for module in model.modules():
        if hasattr(module, "_is_hf_initialized"):
            module._is_hf_initialized = False
    with default_dtype(torch.float32), environment.on_cpu(subject.observed):
        named = inspect.signature(model.initialize_weights).parameters
        model.initialize_weights(**({"dtype": dtype} if "dtype" in named else {}))


def from_scratch(subject: Subject, config: Any, dtype: torch.dtype) -> nn.Module:
    """Return an initialised model that has no checkpoint, in evaluation mode. Raises what its code raises."""
    model = empty(subject, config, dtype)
    initialise(subject, model, dtype)
    return model.eval()


@contextlib.contextmanager
def no_memory() -> Iterator[None]:
    """Where memory that nobody wrote is NaN, or the largest number of an integer type, instead of what was there."""
    before, warns = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    fills = torch.utils.deterministic.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = True
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before, warn_only=warns)
        torch.utils.deterministic.fill_uninitialized_memory = fills


@contextlib.contextmanager
def _parameters_on_meta(subject: Subject) -> Iterator[None]:
    on_meta = subject.framework.find("init_empty_weights")
    if on_meta is None:
        yield
        return
    with _nothing_initialised(), on_meta():
        yield


@contextlib.contextmanager
def _nothing_initialised() -> Iterator[None]:
    try:
        from transformers.initialization import no_init_weights
    except ImportError:
        no_init_weights = contextlib.nullcontext
    with no_init_weights():
        yield
