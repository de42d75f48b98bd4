"""The class and its reference with the same weights: the checkpoint of the one, loaded into the other."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from automodel_lint.probe.worker.adapter_calls import AdapterCalls, AdapterRaised
from automodel_lint.probe.worker.checks import NotProbed
from automodel_lint.probe.worker.errors import one_line
from automodel_lint.probe.worker.reference import Reference
from automodel_lint.probe.worker.subject import Subject


@dataclass(frozen=True)
class Twins:
    """Two models in fp32 and evaluation mode; ``unfilled`` are the parameters of ours that theirs did not give."""

    ours: nn.Module
    theirs: nn.Module
    unfilled: list[str]


def twins(subject: Subject, reference: Reference) -> Twins:
    """Return the two with the reference's checkpoint in both, or if that does not fill ours, with ours in both.

    Transformers reads more layouts than it writes, so what it writes is not always what the hub has.

    Raises:
        NotProbed: if neither loads.
    """
    theirs = reference.model()
    ours = _fresh(subject)
    problem, unfilled = None, []
    try:
        unfilled = load_saved(ours, reference, subject)
        if not unfilled:
            return Twins(ours, theirs, [])
    except NotProbed as raised:
        problem = raised
    with contextlib.suppress(NotProbed):
        other = _fresh(subject)
        _move_buffers(other, subject.job.seed)
        return Twins(other, reference.reading(_checkpoint(other, subject)), [])
    if problem:
        raise problem
    return Twins(ours, theirs, unfilled)


def _fresh(subject: Subject) -> nn.Module:
    """Return the class in fp32; where it ignores that its configuration says so, that is NAM916's to report."""
    model = subject.fresh().float()
    adapter = getattr(model, "state_dict_adapter", None)
    if isinstance(getattr(adapter, "dtype", None), torch.dtype):
        adapter.dtype = torch.float32
    return model


@torch.no_grad()
def _move_buffers(model: nn.Module, seed: int) -> None:
    """Fill the persistent floating-point buffers that are zero, as a correction bias is before training."""
    generator = torch.Generator().manual_seed(seed + 1)
    saved = model.state_dict()
    for name, buffer in sorted(model.named_buffers()):
        if name in saved and buffer.is_floating_point() and not buffer.any():
            buffer.copy_(0.4 * (torch.rand(buffer.shape, generator=generator) - 0.5))


def _checkpoint(model: nn.Module, subject: Subject) -> dict[str, torch.Tensor]:
    adapter = getattr(model, "state_dict_adapter", None)
    if adapter is None:
        return model.state_dict()
    calls = AdapterCalls(subject, model, adapter)
    try:
        return calls.to_hf(calls.native())
    except AdapterRaised as error:
        raise NotProbed(f"its adapter raises in {error.call}") from error


def load_saved(model: nn.Module, reference: Reference, subject: Subject) -> list[str]:
    """Load the reference's checkpoint as the framework does, through the class's adapter where it has one.

    Where the layout that transformers saves leaves something unfilled, the others that it reads are loaded over it,
    the one that fills most last.

    Returns:
        The parameters that none filled, aliases of filled ones not counted.
    """
    found: dict[str, list[str]] = {}
    problem: NotProbed | None = None
    for layout in ("published", "module", "bare"):
        try:
            found[layout] = _load(model, reference.state_dict(layout), subject)
        except NotProbed as raised:
            problem = problem or raised
            continue
        if not found[layout]:
            return []
    if not found or (problem and all(2 * len(names) > len(list(model.parameters())) for names in found.values())):
        raise problem or NotProbed("the reference has no checkpoint")
    for layout in sorted(found, key=lambda layout: -len(found[layout])):
        _load(model, reference.state_dict(layout), subject)
    return [name for name in found.popitem()[1] if all(name in names for names in found.values())]


def _load(model: nn.Module, state: dict[str, Any], subject: Subject) -> list[str]:
    adapter = getattr(model, "state_dict_adapter", None)
    try:
        if adapter is not None:
            state = adapter.from_hf(state)
        missing = model.load_state_dict(state, strict=False).missing_keys
    except Exception as error:
        raise NotProbed(f"the reference's checkpoint does not load: {one_line(error, subject.package)}") from error
    filled = {p.data_ptr() for name, p in model.named_parameters(remove_duplicate=False) if name not in missing}
    return [name for name, p in model.named_parameters() if name in missing and p.data_ptr() not in filled]
