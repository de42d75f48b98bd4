"""NAM914: does a model that has no checkpoint begin with a value in every tensor?"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import torch

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker import scratch
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.errors import missing_dependency, one_line, place_in
from automodel_lint.probe.worker.folding import Group, grouped
from automodel_lint.probe.worker.subject import Subject

INITIALISER = "initialize_weights"
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
        because = f", because `{SKIP} = True` holds without a checkpoint too"
        yield Fault(_everything(wrong, because), _line_that_sets(type(model), SKIP))
        return
    if len(wrong) == len(tensors) or {*wrong} >= {name for name, _ in model.named_parameters()}:
        because = "" if hasattr(model, INITIALISER) else f", because there is no `{INITIALISER}()`"
        yield Fault(_everything(wrong, because), {} if because else {"method": INITIALISER})
        return
    for group in _without_layers_together(grouped(model, wrong)):
        found = wrong[group.names[0]]
        of = "" if group.shown == group.names[0] else f" of `{group.names[0]}`"
        yield Fault({"tensor": group.shown, "found": f"{found}{of}{group.others}"}, group.at)


def _without_layers_together(groups: list[Group]) -> list[Group]:
    """Make one of whole modules outside layers, and what else is wrong there: an initialiser that comes to none."""
    outside = [group for group in groups if not re.search(r"\.(\d+|\*)\.", group.shown)]
    towers = [group for group in outside if group.shown.endswith(".*")]
    if not towers:
        return groups
    together = [*towers, *(group for group in outside if group not in towers)]
    names = [name for group in together for name in group.names]
    one = Group(", ".join(group.shown for group in together), towers[0].at, names)
    return [one, *(group for group in groups if group not in outside)]


def _everything(wrong: dict[str, str], because: str) -> dict[str, str]:
    """The fields of a fault about a whole model."""
    name, found = next(iter(wrong.items()))
    return {
        "tensor": f"each of {len(wrong)} tensors",
        "found": f"memory that nobody wrote (`{name}`: {found}){because}",
    }


def _line_that_sets(cls: type, name: str) -> dict[str, Any]:
    """The place, as in ``Fault.at``, of the assignment of a class attribute; nothing where no source tells."""
    owner = next((base for base in cls.__mro__ if name in vars(base)), cls)
    try:
        lines, first = inspect.getsourcelines(owner)
        file = inspect.getsourcefile(owner)
    except (OSError, TypeError):
        return {}
    for number, line in enumerate(lines, first):
        if re.match(rf"\s+{name}\s*[:=]", line):
            return {"file": file, "line": number}
    return {}


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
