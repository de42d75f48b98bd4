"""Where two models that hold the same values part: their modules matched through the values of the parameters."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn


@dataclass(frozen=True)
class Divergence:
    """The first pair of modules whose outputs differ, by their names (empty: the models themselves)."""

    ours: str
    theirs: str


def difference(ours: torch.Tensor, theirs: torch.Tensor) -> tuple[float, float]:
    """Return the largest difference of two tensors of one shape, and the largest size of an element of ``theirs``."""
    a, b = ours.detach().double(), theirs.detach().double()
    return (a - b).abs().max().item(), b.abs().max().item()


def aligned(ours: nn.Module, theirs: nn.Module) -> dict[str, str]:
    """Return which module of ``theirs`` does the work of each of ``ours``, by name.

    Modules with a parameter of the same values (in any order: layouts may differ) correspond; a module with several
    such inside corresponds to the smallest one that has all their partners inside.
    """
    owners: dict[bytes, list[str]] = {}
    for name, parameter in theirs.named_parameters():
        owners.setdefault(_fingerprint(parameter), []).append(name.rpartition(".")[0])
    partners: dict[str, list[str]] = {}
    for name, parameter in ours.named_parameters():
        found = owners.get(_fingerprint(parameter), [])
        if len(found) == 1:
            path = name.split(".")[:-1]
            for depth in range(len(path) + 1):
                partners.setdefault(".".join(path[:depth]), []).append(found[0])
    children = {name: {n for n in partners if n.rpartition(".")[0] == name and n} for name in partners}
    pairs = {}
    for name, found in partners.items():
        common = os.path.commonpath([f"/{n.replace('.', '/')}" for n in found])[1:].replace("/", ".")
        if not name or not children[name] or len(set(found)) > 1:
            pairs[name] = common if name else ""
    # a part of ours that is only a parameter of theirs has no partner: the module around it has
    return {n: p for n, p in pairs.items() if not n or not any(pairs.get(o) == p for o in _around(n))}


def _around(name: str) -> Iterator[str]:
    while name:
        name = name.rpartition(".")[0]
        if name:
            yield name


def _fingerprint(tensor: torch.Tensor) -> bytes:
    flat = tensor.detach().float().flatten().sort().values + 0.0
    return hashlib.blake2b(flat.contiguous().numpy().tobytes(), digest_size=16).digest()


@dataclass(frozen=True)
class Call:
    """The first floating-point tensor that went into a module, and the first that came out."""

    given: torch.Tensor | None
    made: torch.Tensor


@contextlib.contextmanager
def recorded(model: nn.Module, names: set[str]) -> Iterator[dict[str, Call]]:
    """Where the first call of each named module is kept, in the order in which they finish."""
    calls: dict[str, Call] = {}
    handles = []

    def keep(name: str) -> Any:
        def hook(_module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
            made = _tensor_in(output)
            if made is not None and name not in calls:
                given = _tensor_in((args, kwargs))
                calls[name] = Call(None if given is None else given.detach().clone(), made.detach().clone())

        return hook

    for name, module in model.named_modules():
        if name in names:
            handles.append(module.register_forward_hook(keep(name), with_kwargs=True))
    try:
        yield calls
    finally:
        for handle in handles:
            handle.remove()


def _tensor_in(output: Any) -> torch.Tensor | None:
    """Return the first floating-point tensor in what a module returned."""
    if isinstance(output, torch.Tensor):
        return output if output.is_floating_point() else None
    items = output.values() if isinstance(output, dict) else output if isinstance(output, (tuple, list)) else ()
    return next((found for item in items if (found := _tensor_in(item)) is not None), None)


def first_divergence(
    pairs: dict[str, str], ours: dict[str, Call], theirs: dict[str, Call], tolerance: float
) -> Divergence:
    """Descend from the models to the innermost pair of modules that differs first though it is given the same.

    ``ours`` and ``theirs`` are recorded calls, ``tolerance`` the largest difference relative to the largest element.
    """
    comparable = {n for n in ours if pairs[n] in theirs and _comparable(ours[n].made, theirs[pairs[n]].made)}
    at = ""
    while True:
        inside = [n for n in ours if n != at and (not at or n.startswith(at + ".")) and n in comparable]
        outer = [n for n in inside if not any(n.startswith(o + ".") for o in inside)]
        differing = (n for n in outer if not _agree(ours[n].made, theirs[pairs[n]].made, tolerance))
        found = next(differing, None)
        if found is None or not _given_the_same(ours[found], theirs[pairs[found]], tolerance):
            return Divergence(at, pairs.get(at, ""))
        at = found


def _given_the_same(ours: Call, theirs: Call, tolerance: float) -> bool:
    if ours.given is None or theirs.given is None:
        return True
    return _agree(ours.given, theirs.given, tolerance)


def _agree(ours: torch.Tensor, theirs: torch.Tensor, tolerance: float) -> bool:
    """Tell whether two tensors hold the same, in whatever order the features lie; true where shapes do not tell."""
    if not _comparable(ours, theirs):
        return True
    a, b = ours.reshape(-1, ours.shape[-1]), theirs.reshape(-1, theirs.shape[-1])
    largest, scale = difference(a, b)
    if largest <= tolerance * max(scale, 1e-6):
        return True
    largest, scale = difference(a.sort(-1).values, b.sort(-1).values)
    return largest <= tolerance * max(scale, 1e-6)


def _comparable(ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    return ours.numel() == theirs.numel() and ours.shape[-1:] == theirs.shape[-1:]
