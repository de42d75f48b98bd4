"""The angles that a model turns its queries and keys by, taken from where it computes their cosine."""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from automodel_lint.probe.worker import environment, fp32
from automodel_lint.probe.worker.building import default_dtype
from automodel_lint.probe.worker.errors import is_out_of_memory
from automodel_lint.probe.worker.subject import Subject

POSITION = 4095
NOTICED = 0.01  # radians
SWALLOWS = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
COSINES = {torch.cos, torch.cos_, torch.Tensor.cos, torch.Tensor.cos_}


@dataclass
class Turned:
    """What ran: ``angles`` in radians (float64, any shape) in the order of use, the modules, the largest position."""

    angles: list[torch.Tensor] = field(default_factory=list)
    ran: set[str] = field(default_factory=set)
    position: int = POSITION
    failed: bool = False


class _Cosines(TorchFunctionMode):
    """Notes what the cosine is taken of."""

    def __init__(self, turned: Turned):
        super().__init__()
        self.turned = turned

    def __torch_function__(self, func: Callable, _: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        named, angle = kwargs or {}, None
        if func in COSINES:
            angle = args[0] if args else named.get("input")
        elif func is torch.polar:
            angle = args[1] if len(args) > 1 else named.get("angle")
        if angle is not None and angle.is_floating_point():
            self.turned.angles.append(angle.detach().double())
        return func(*args, **named)


def turned_by(subject: Subject, model: nn.Module, dtype: torch.dtype, far: bool) -> Turned:
    """Run ``forward`` and return the angles that it used; one that fails has used some before.

    ``far``: with position ids up to :data:`POSITION`. A model is to be asked once: some keep the cosines.
    """
    arguments = {
        name: value.to(dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value
        for name, value in subject.inputs(model).items()
    }
    turned = Turned()
    ids = arguments.get("input_ids")
    if far and ids is not None:
        positions = torch.arange(POSITION + 1 - ids.shape[-1], POSITION + 1)
        arguments["position_ids"] = positions.expand_as(ids).clone()
    elif ids is not None:
        turned.position = ids.shape[-1] - 1
    with _noting_modules(model, turned), _Cosines(turned), default_dtype(torch.float32), torch.no_grad():
        try:
            subject.run(model, arguments)
        except Exception as error:
            if is_out_of_memory(error):
                raise
            turned.failed = True
    return turned


@contextlib.contextmanager
def _noting_modules(model: nn.Module, turned: Turned) -> Iterator[None]:
    def note(name: str) -> Callable:
        def hook(*_: Any) -> None:
            turned.ran.add(name)

        return hook

    handles = [module.register_forward_pre_hook(note(name)) for name, module in model.named_modules()]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def rounded_tables(exact: nn.Module, low: nn.Module) -> dict[str, torch.Tensor]:
    """Return the rotary buffers of ``low`` that differ from those of a model in fp32."""
    tables, found = dict(low.named_buffers()), {}
    for name, table in exact.named_buffers():
        other = tables.get(name)
        if not fp32.ROTARY.match(name.rpartition(".")[2]) or other is None or other.shape != table.shape:
            continue
        if "meta" not in (table.device.type, other.device.type) and not torch.equal(table, other.to(table.dtype)):
            found[name] = other
    return found


def turn_of_module(subject: Subject, exact: nn.Module, low: nn.Module) -> tuple[float | None, int]:
    """Call a rotary module of both models alike; return by how many radians they differ, and up to which position.

    ``None`` if nobody can tell how it is called. What it returns counts as angles if it takes no cosine.
    """
    results, rows = [], _rows_of(exact)
    for module in (exact, low):
        turned = Turned()
        arguments = _arguments_of(module, rows)
        if arguments is None:
            return None, rows - 1
        with _Cosines(turned), default_dtype(torch.float32), torch.no_grad(), environment.on_cpu(subject.observed):
            try:
                output = module(*arguments)
            except Exception:
                return None, rows - 1
        if not turned.angles and isinstance(output, torch.Tensor) and output.is_floating_point():
            turned.angles.append(output.detach().double())
        results.append(turned)
    return largest_turn(*results), rows - 1


def _rows_of(module: nn.Module) -> int:
    """How many positions a rotary module knows: the rows of its table, or as many as one likes."""
    return max((b.shape[0] for b in module.buffers() if b.dim() > 1), default=POSITION + 1)


def _arguments_of(module: nn.Module, rows: int) -> list[Any] | None:
    """Arguments for a rotary module by the names of its parameters: positions, a length, or hidden states in fp32."""
    made: list[Any] = []
    for name, parameter in inspect.signature(module.forward).parameters.items():
        if parameter.default is not parameter.empty or parameter.kind in SWALLOWS:
            continue
        if "position" in name:
            made.append(torch.arange(rows)[None])
        elif "len" in name:
            made.append(rows)
        elif name in ("x", "hidden_states"):
            made.append(torch.zeros(1, rows, 8))
        else:
            return None
    return made


def largest_turn(exact: Turned, low: Turned) -> float | None:
    """Return by how many radians two runs turned differently at most, ``None`` if they cannot be compared."""
    pairs = list(zip(exact.angles, low.angles, strict=False))
    if not pairs or any(a.shape != b.shape for a, b in pairs):
        return None
    return max(_difference(a, b) for a, b in pairs)


def _difference(a: torch.Tensor, b: torch.Tensor) -> float:
    difference = (a - b).abs().max().item() if a.numel() else 0.0
    return difference if math.isfinite(difference) else math.inf
