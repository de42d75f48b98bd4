"""NAM914: does a model that has no checkpoint begin with a value in every tensor?"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker import scratch
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.errors import missing_dependency, one_line, place_in
from automodel_lint.probe.worker.folding import grouped
from automodel_lint.probe.worker.subject import Subject

SKIP = "_skip_init_weights_on_load"  # the framework honours it although nothing was loaded


@check("NAM914", order=28)
def uninitialised(subject: Subject) -> Iterator[Fault]:
    config = scratch.config_in(subject, torch.float32)
    try:
        model = scratch.empty(subject, config, torch.float32)
    except NotProbed:
        raise
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
    if wrong and getattr(type(model), SKIP, False):
        name, found = next(iter(wrong.items()))
        found = f"{found} of `{name}`, and likewise in {len(wrong) - 1} others, because `{SKIP} = True`"
        yield Fault({"tensor": "*", "found": f"{found} keeps the framework from initialising"})
        return
    for group in grouped(model, wrong):
        found = wrong[group.names[0]]
        of = f" of `{group.names[0]}`" if group.shown.endswith("*") else ""
        yield Fault({"tensor": group.shown, "found": f"{found}{of}{group.others}"}, group.at)


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
