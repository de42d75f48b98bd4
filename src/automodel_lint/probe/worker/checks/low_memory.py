"""NAM909: where an adapter claims that reading writes into the model, does what is read get there?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from automodel_lint.probe.names import brief
from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker.adapter_calls import (
    AdapterCalls,
    AdapterRaised,
    claims_low_memory,
    copied,
    distinct_values,
)
from automodel_lint.probe.worker.adapter_places import place_of
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.errors import one_line, place_in
from automodel_lint.probe.worker.model_variants import with_adapter
from automodel_lint.probe.worker.subject import Subject

MOST = 0.5  # what a claim promises of the bytes: most lie in the model's own storage


class OnGpu(torch.Tensor):
    """A tensor in this machine's memory that says it is on a GPU, as its views do: adapters ask before they share."""

    is_cuda = property(lambda self: True)  # type: ignore[assignment]


@check("NAM909", order=25)
def low_memory_lie(subject: Subject) -> Iterator[Fault]:
    claiming = [(w, m) for w, m in with_adapter(subject) if claims_low_memory(m.state_dict_adapter)]
    if not claiming:
        raise NotProbed("its adapter does not claim low-memory loading")
    seen: set[str] = set()
    notes: list[str] = []
    for where, model in claiming:
        # The shared model must stay as it is; the variants are there for the checks of adapters only.
        mine = subject.fresh() if model is subject.model else model
        for seed, (device, kind) in enumerate((("a GPU", OnGpu), ("the CPU", torch.Tensor)), subject.job.seed + 1):
            try:
                read = _read(subject, mine, kind, seed)
            except AdapterRaised as raised:
                fields = {"what": f"it raises in `{raised.call}`", "names": one_line(raised.cause, subject.package)}
                fault = Fault(fields, place_in(raised.cause, subject.package))
            else:
                if kind is OnGpu:
                    notes.append(f"{read.count} destinations {where}, {read.shared:.0%} of their bytes the model's own")
                fault = _fault_of(read, kind)
            if fault is not None and fault.fields["names"] not in seen:
                seen.add(fault.fields["names"])
                fault.fields.setdefault("detail", f"{where} on {device}")
                yield Fault(fault.fields, fault.at or place_of(model.state_dict_adapter, "to_hf"))
    subject.figure("; ".join(notes))


@dataclass(frozen=True)
class Read:
    """What became of a checkpoint that was read into a model.

    ``lost`` are native names that do not hold what was read, ``copies`` names of destinations outside the model's
    storage, ``count`` how many destinations there were, ``shared`` which share of their bytes lies in that storage.
    """

    lost: list[str]
    copies: list[str]
    count: int
    shared: float


def _fault_of(read: Read, kind: type[torch.Tensor]) -> Fault | None:
    if read.lost:
        number = "one tensor" if len(read.lost) == 1 else f"{len(read.lost)} tensors"
        return Fault({"what": f"what is read does not arrive in {number}", "names": brief(read.lost)})
    if kind is OnGpu and read.shared < MOST:
        copied_share = f"{1 - read.shared:.0%} of the bytes are read into copies"
        return Fault(
            {"what": copied_share, "names": brief(read.copies), "detail": "they need memory for a second model"}
        )
    return None


def _read(subject: Subject, model: nn.Module, kind: type[torch.Tensor], seed: int) -> Read:
    """Read a checkpoint of random values into a model as the framework does, and look where they are afterwards."""
    calls = AdapterCalls(subject, model, copied(model.state_dict_adapter))
    expected_by = AdapterCalls(subject, model, copied(model.state_dict_adapter))
    before = {name: tensor.clone() for name, tensor in calls.native().items()}
    targets = {name: tensor.detach().as_subclass(kind) for name, tensor in calls.native().items()}
    places = calls.to_hf(targets, device_mesh=None, for_checkpoint_load=True)
    read = distinct_values({n: t.as_subclass(torch.Tensor) for n, t in places.items()}, seed)
    storages = {tensor.untyped_storage().data_ptr() for tensor in targets.values()}
    copies = [name for name, place in places.items() if place.untyped_storage().data_ptr() not in storages]
    sizes = {name: place.numel() * place.element_size() for name, place in places.items()}
    with torch.no_grad():
        for name, place in places.items():
            place.as_subclass(torch.Tensor).copy_(read[name])
    installed = calls.from_hf(places)
    model.load_state_dict({n: t.as_subclass(torch.Tensor) for n, t in installed.items()}, strict=False)
    after = calls.native()
    expected = expected_by.from_hf({name: tensor.clone() for name, tensor in read.items()})
    lost = [name for name in after if not _arrived(after[name], before[name], expected.get(name))]
    shared = 1 - sum(sizes[name] for name in copies) / max(sum(sizes.values()), 1)
    return Read(lost, copies, len(places), shared)


def _arrived(after: torch.Tensor, before: torch.Tensor, expected: Any) -> bool:
    """Tell whether a tensor holds what was read; where that is not known, whether it changed (if it could)."""
    if expected is not None and expected.shape == after.shape:
        return torch.equal(after, expected.to(after.dtype))
    return not after.is_floating_point() or not after.numel() or bool((after != before).float().mean() > 0.5)
