"""NAM914: does a model that has no checkpoint begin with a value in every tensor?"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker import scratch
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.errors import missing_dependency, one_line, place_in
from automodel_lint.probe.worker.folding import by_cause, folded, whole_modules
from automodel_lint.probe.worker.subject import Subject


@check("NAM914", order=28)
def uninitialised(subject: Subject) -> Iterator[Fault]:
    config = scratch.config_in(subject, torch.float32)
    try:
        model = scratch.empty(subject, config, torch.float32)
    except (Exception, SystemExit) as error:
        raise NotProbed(f"it cannot be constructed without a checkpoint: {one_line(error, subject.package)}") from error
    try:
        scratch.initialise(subject, model, torch.float32)
    except (Exception, SystemExit) as error:
        missing = missing_dependency(error, subject.package)
        if missing:
            raise NotProbed(f"its initialiser needs {missing}, which is not installed") from error
        found = f"nothing, as its initialiser raised {one_line(error, subject.package)}"
        yield Fault({"tensor": "every parameter", "found": found}, place_in(error, subject.package))
        return
    tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    wrong = {name: found for name, tensor in tensors.items() if (found := wrong_values(tensor))}
    subject.figure(f"{len(tensors) - len(wrong)} of {len(tensors)} tensors have values")
    yield from _faults(model, wrong)


def _faults(model: nn.Module, wrong: dict[str, str]) -> Iterator[Fault]:
    """One for every module of which no parameter has a value, and one for every other tensor, folded over layers."""
    where = whole_modules([name for name, _ in model.named_parameters()], wrong)
    for shown, names in by_cause(wrong, lambda name: folded(where[name])):
        first, place = names[0], where[names[0]]
        found = wrong[first]
        if place == first:
            at, tensor = {"tensor": first}, shown
        else:
            at, tensor = ({"module": place} if place else {}), f"{folded(place)}.*".lstrip(".")
            found = f"{found} of `{first}`"
        others = len(names) - 1
        more = f", and likewise in {others} other{'s' * (others > 1)}" if others else ""
        yield Fault({"tensor": tensor, "found": found + more}, at)


def wrong_values(tensor: torch.Tensor) -> str | None:
    """Say what a tensor holds that nobody can have meant, ``None`` if nothing."""
    if tensor.device.type == "meta":
        return "no memory at all (it is still on the meta device)"
    values, count = tensor.detach(), tensor.numel()
    if values.is_floating_point() or values.is_complex():
        nan = int(values.isnan().sum())
        return f"NaN in {nan} of {count} values" if nan else None
    if values.dtype == torch.bool:
        return None
    unset = int((values == torch.iinfo(values.dtype).max).sum())
    return f"whatever was in memory in {unset} of {count} integers" if unset else None
