"""The calls that a framework makes on a state-dict adapter to save and load, and the states that go into them."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from automodel_lint.probe.worker.subject import Subject

State = dict[str, Any]

EXCLUDED_END = "_extra_state"
EXCLUDED = rf".*{EXCLUDED_END}.*"
SAVING = {"device_mesh": None, "v4_compatible": False, "legacy_paramwrapper_layout": False}
PEFT_PREFIX = "base_model.model."
# What the framework has called that a checkpoint is read straight into the model, and the flags behind it.
CLAIMS = ("supports_low_memory_dcp_load", "supports_write_through_checkpoint_load")
NOT_TARGETED = re.compile(r"(^|\.)lm_head$|vision|visual|audio|sound|image")


class AdapterRaised(Exception):
    """A call that the framework makes on the adapter raised; ``call`` is the method, ``cause`` what it raised."""

    def __init__(self, call: str, cause: BaseException):
        super().__init__(call)
        self.call, self.cause = call, cause


class AdapterCalls:
    """An adapter, called with the arguments that the checkpointing code of its framework gives it."""

    def __init__(self, subject: Subject, model: nn.Module, adapter: Any):
        self.adapter = adapter
        self._model_state = subject.framework.find("ModelState")
        self._stamp = subject.framework.find("_get_paramwrapper_layout_stamp")
        self.model = model
        # A framework without this function may give fewer arguments: such an adapter gets only those that it names.
        self._all_arguments = subject.framework.find("_maybe_adapt_state_dict_to_hf") is not None

    def native(self) -> State:
        """Return what is saved of the model: its state dict without the head that is the embedding's storage."""
        state = self._model_state(self.model).state_dict() if self._model_state else self.model.state_dict()
        return tensors_of(state)

    def to_hf(self, state: State, **more: Any) -> State:
        """Call ``to_hf`` as saving does, or loading if ``for_checkpoint_load`` is given."""
        arguments = {"exclude_key_regex": EXCLUDED, "quantization": False, **(more or SAVING)}
        return dict(self._call("to_hf", dict(state), arguments))

    def from_hf(self, state: State) -> State:
        """Call ``from_hf`` as loading does; ``state`` is left as it is."""
        return dict(self._call("from_hf", dict(state), {"device_mesh": None}))

    def lora_from_hf(self, state: State) -> State:
        """As :meth:`from_hf` for what :meth:`to_hf` made of low-rank adapters, without PEFT's outer prefix.

        Which layout the file has is told to the adapter as it is when such a file is read.
        """
        self.adapter._paramwrapper_layout_hint = self._stamp(self.adapter, False, False) if self._stamp else None
        try:
            return {name.removeprefix(PEFT_PREFIX): tensor for name, tensor in self.from_hf(state).items()}
        finally:
            self.adapter._paramwrapper_layout_hint = None

    def one_to_hf(self, name: str, tensor: torch.Tensor) -> State:
        """Call ``convert_single_tensor_to_hf`` as weights are handed on one by one."""
        method = self.adapter.convert_single_tensor_to_hf
        arguments = self._accepted(method, {"exclude_key_regex": EXCLUDED, "quantization": False})
        try:
            return dict(method(name, tensor, **arguments))
        except Exception as error:
            raise AdapterRaised("convert_single_tensor_to_hf", error) from error

    def hf_keys(self) -> set[str] | None:
        """Return the names that the adapter announces for the whole model, ``None`` if it announces none."""
        method = getattr(self.adapter, "get_hf_state_dict_keys", None)
        if method is None:
            return None
        try:
            return set(method(self.model.state_dict()))
        except Exception as error:
            raise AdapterRaised("get_hf_state_dict_keys", error) from error

    def _call(self, name: str, state: State, arguments: dict[str, Any]) -> Any:
        method = getattr(self.adapter, name)
        try:
            with torch.no_grad():
                return method(state, **self._accepted(method, arguments))
        except Exception as error:
            raise AdapterRaised(name, error) from error

    def _accepted(self, method: Callable, arguments: dict[str, Any]) -> dict[str, Any]:
        parameters = inspect.signature(method).parameters.values()
        if self._all_arguments or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
            return arguments
        named = {p.name for p in parameters}
        return {name: value for name, value in arguments.items() if name in named}


def copied(adapter: Any) -> Any:
    """Return an adapter of its own: some remember between the calls what they have seen."""
    try:
        return copy.deepcopy(adapter)
    except Exception:
        return copy.copy(adapter)


def claims_low_memory(adapter: Any) -> bool:
    """Tell whether an adapter says that a checkpoint can be read straight into the model's memory."""
    names = [name for claim in CLAIMS for name in (claim, f"_{claim}")]
    return bool(next((getattr(adapter, name) for name in names if hasattr(adapter, name)), False))


def tensors_of(state: State) -> State:
    """Return the tensors of a state dict, without the extra state of modules."""
    return {k: v for k, v in state.items() if isinstance(v, torch.Tensor) and not k.endswith("_extra_state")}


def distinct_values(state: State, seed: int) -> State:
    """Return a state dict of the same names, shapes and dtypes with random values; names of one storage share theirs.

    Integers stay below the largest that was there, so that what indexes a table still does.
    """
    generator = torch.Generator().manual_seed(seed)
    made: dict[tuple, torch.Tensor] = {}
    filled: State = {}
    for name, tensor in state.items():
        key = (tensor.untyped_storage().data_ptr(), tensor.storage_offset(), tensor.shape, tensor.stride())
        if key not in made or not tensor.numel():
            made[key] = _random_like(tensor, generator)
        filled[name] = made[key]
    return filled


def _random_like(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    if tensor.is_floating_point() or tensor.is_complex():
        kind = tensor.dtype if tensor.is_complex() else torch.float32
        return torch.randn(tensor.shape, generator=generator, dtype=kind).to(tensor.dtype)
    top = 2 if tensor.dtype == torch.bool else max(int(tensor.max()) + 1 if tensor.numel() else 1, 2)
    return torch.randint(0, top, tensor.shape, generator=generator).to(tensor.dtype)


def lora_state(model: nn.Module, seed: int, rank: int = 3) -> State:
    """Return the tensors of low-rank adapters on a model's linear layers and experts, under their native names.

    Not on the head and not on what belongs to images or sound, which recipes leave out. ``lora_A.weight`` is
    ``[rank, in]``, ``lora_B.weight`` ``[out, rank]``; those of grouped experts are ``[experts, in, rank]`` and
    ``[experts, rank, out]``.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for name, module in model.named_modules():
        if type(module) is nn.Linear and not NOT_TARGETED.search(name):
            shapes[f"{name}.lora_A.weight"] = (rank, module.in_features)
            shapes[f"{name}.lora_B.weight"] = (module.out_features, rank)
        for local, suffix in (("gate_and_up_projs", "lora_gate_and_up"), ("down_projs", "lora_down")):
            grouped = module._parameters.get(local)
            if grouped is not None and grouped.dim() == 3:
                shapes[f"{name}.{suffix}_A"] = (*grouped.shape[:2], rank)
                shapes[f"{name}.{suffix}_B"] = (grouped.shape[0], rank, grouped.shape[2])
    generator = torch.Generator().manual_seed(seed)
    return {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}
