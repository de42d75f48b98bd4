"""NAM909: where an adapter claims that reading writes into the model, does what is read get there?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker.adapter_calls import (
    AdapterCalls,
    AdapterRaised,
    State,
    copied,
    distinct_values,
    folded,
)
from automodel_lint.probe.worker.adapter_places import place_of
from automodel_lint.probe.worker.adapter_variants import with_adapter
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.errors import one_line, place_in
from automodel_lint.probe.worker.subject import Subject

CLAIMS = ("supports_low_memory_dcp_load", "_supports_low_memory_dcp_load")


class OnGpu(torch.Tensor):
    """A tensor in this machine's memory that says it is on a GPU, as its views do: adapters ask before they share."""

    is_cuda = property(lambda self: True)  # type: ignore[assignment]


@check("NAM909", order=25)
def low_memory_lie(subject: Subject) -> Iterator[Fault]:
    claiming = [(w, m) for w, m in with_adapter(subject) if _claims(m.state_dict_adapter)]
    if not claiming:
        raise NotProbed("its adapter does not claim low-memory loading")
    seen: set[str] = set()
    notes: list[str] = []
    for where, model in claiming:
        # The shared model must stay as it is; the variants are there for the checks of adapters only.
        mine = subject.fresh() if model is subject.model else model
        for seed, (device, kind) in enumerate((("a GPU", OnGpu), ("the CPU", torch.Tensor)), subject.job.seed + 1):
            try:
                lost, count, shared = _read(subject, mine, kind, seed)
            except AdapterRaised as raised:
                what, lost = "raises", [raised.call]
                detail = f"{where} on {device}: {one_line(raised.cause, subject.package)}"
                at = place_in(raised.cause, subject.package)
            else:
                if kind is OnGpu:
                    notes.append(f"{count} destinations {where}, {shared:.0%} of their bytes the model's own storage")
                what = f"does not load {len(lost)} tensor{'s' * (len(lost) > 1)}"
                detail = f"{where} on {device}, what is read is not what the model then holds"
                at = {}
            if lost and folded(lost) not in seen:
                seen.add(folded(lost))
                names = f"in `{lost[0]}`" if at else folded(lost)
                at = at or place_of(model.state_dict_adapter, "to_hf", lost)
                yield Fault({"what": what, "names": names, "detail": detail}, at)
    subject.figure("; ".join(notes))


def _claims(adapter: Any) -> bool:
    return bool(next((getattr(adapter, name) for name in CLAIMS if hasattr(adapter, name)), False))


def _read(subject: Subject, model: nn.Module, kind: type[torch.Tensor], seed: int) -> tuple[list[str], int, float]:
    """Read a checkpoint of random values into a model as the framework does.

    Returns the native names that do not hold them afterwards, how many destinations there were, and which share of
    their bytes lies in the model's storage.
    """
    calls = AdapterCalls(subject, model, copied(model.state_dict_adapter))
    expected_by = AdapterCalls(subject, model, copied(model.state_dict_adapter))
    before = {name: tensor.clone() for name, tensor in calls.native().items()}
    targets = {name: tensor.detach().as_subclass(kind) for name, tensor in calls.native().items()}
    places = calls.to_hf(targets, device_mesh=None, for_checkpoint_load=True)
    read = distinct_values({n: t.as_subclass(torch.Tensor) for n, t in places.items()}, seed)
    shared = _shared_bytes(places, targets)
    with torch.no_grad():
        for name, place in places.items():
            place.as_subclass(torch.Tensor).copy_(read[name])
    installed = calls.from_hf(places)
    model.load_state_dict({n: t.as_subclass(torch.Tensor) for n, t in installed.items()}, strict=False)
    after = calls.native()
    expected = expected_by.from_hf({name: tensor.clone() for name, tensor in read.items()})
    lost = [name for name in after if not _arrived(after[name], before[name], expected.get(name))]
    return lost, len(places), shared


def _arrived(after: torch.Tensor, before: torch.Tensor, expected: Any) -> bool:
    """Tell whether a tensor holds what was read; where that is not known, whether it changed (if it could)."""
    if expected is not None and expected.shape == after.shape:
        return torch.equal(after, expected.to(after.dtype))
    return not after.is_floating_point() or not after.numel() or bool((after != before).float().mean() > 0.5)


def _shared_bytes(places: State, targets: State) -> float:
    own = {tensor.untyped_storage().data_ptr() for tensor in targets.values()}
    sizes = {name: tensor.numel() * tensor.element_size() for name, tensor in places.items()}
    inside = sum(sizes[n] for n, t in places.items() if t.untyped_storage().data_ptr() in own)
    return inside / max(sum(sizes.values()), 1)
