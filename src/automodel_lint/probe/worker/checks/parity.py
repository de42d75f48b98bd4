"""NAM908: does the class compute what transformers' own class computes from the same checkpoint?"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker import building, inputs
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.divergence import aligned, difference, first_divergence, recorded
from automodel_lint.probe.worker.errors import one_line
from automodel_lint.probe.worker.reference import Reference
from automodel_lint.probe.worker.subject import Subject

# Of the scale: rounding in fp32 leaves 1e-6, a wrong epsilon of a norm moves the logits by some 1e-4.
TOLERANCE = 1e-5


@check("NAM908", order=30)
def parity(subject: Subject) -> Iterator[Fault]:
    reference = Reference.of(subject)
    theirs = reference.model()
    ours = subject.fresh().float()  # where a class ignores that its configuration says fp32, that is NAM916's to report
    unfilled = load_saved(ours, reference, subject)
    pairs = aligned(ours, theirs)
    arguments = subject.inputs(ours)
    with torch.no_grad(), recorded(ours, set(pairs)) as our_outputs:
        got = _run(ours, arguments, subject, "forward")
    with torch.no_grad(), recorded(theirs, set(pairs.values())) as their_outputs:
        wanted = _run(theirs, _accepted(theirs, arguments), subject, "the reference's forward")
    if got.shape != wanted.shape:
        raise NotProbed(f"it returns {list(got.shape)}, the reference {list(wanted.shape)}: nothing to compare")
    largest, scale = difference(got, wanted)
    subject.figure(f"largest difference {largest:.2g} of {scale:.2g}")
    if largest <= TOLERANCE * scale:
        return
    if unfilled:
        what = f"{unfilled[0]} and {len(unfilled) - 1} more" if len(unfilled) > 1 else unfilled[0]
        raise NotProbed(f"the reference's checkpoint does not fill {what}")
    place = first_divergence(pairs, our_outputs, their_outputs, TOLERANCE)
    yield Fault(
        {
            "reference": type(theirs).__name__,
            "difference": f"{largest:.2g} of {scale:.2g}",
            "module": f"`{place.ours}`" if place.ours else "the model as a whole",
            "reference_module": f"`{place.theirs}`" if place.theirs else "the model as a whole",
        },
        {"module": place.ours} if place.ours else {},
    )


def load_saved(model: nn.Module, reference: Reference, subject: Subject) -> list[str]:
    """Load the reference's checkpoint as the framework does, through the class's adapter where it has one.

    Not every checkpoint on the hub has the layout that transformers saves. Where that one leaves something unfilled,
    the others that transformers reads are loaded over it, the one that fills most last.

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
            if isinstance(getattr(adapter, "dtype", None), torch.dtype):
                adapter.dtype = torch.float32
            state = adapter.from_hf(state)
        missing = model.load_state_dict(state, strict=False).missing_keys
    except Exception as error:
        raise NotProbed(f"the reference's checkpoint does not load: {one_line(error, subject.package)}") from error
    filled = {p.data_ptr() for name, p in model.named_parameters(remove_duplicate=False) if name not in missing}
    return [name for name, p in model.named_parameters() if name in missing and p.data_ptr() not in filled]


def _run(model: nn.Module, arguments: dict[str, Any], subject: Subject, what: str) -> torch.Tensor:
    try:
        return inputs.logits_of(building.call(model, arguments, subject.observed)).float()
    except Exception as error:
        raise NotProbed(f"{what} fails: {one_line(error, subject.package)}") from error


def _accepted(model: nn.Module, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that a forward of transformers knows, and no cache."""
    known = inspect.signature(model.forward).parameters
    accepted = {name: value for name, value in arguments.items() if name in known}
    return {**accepted, "use_cache": False} if "use_cache" in known else accepted
