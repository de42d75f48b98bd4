"""NAM908: does the class compute what transformers' own class computes from the same checkpoint?"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker import building, inputs
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.divergence import Divergence, aligned, difference, first_divergence, recorded
from automodel_lint.probe.worker.errors import one_line
from automodel_lint.probe.worker.forward_places import around_with, forward_of
from automodel_lint.probe.worker.reference import Reference
from automodel_lint.probe.worker.same_weights import Twins, twins
from automodel_lint.probe.worker.subject import Subject

# Of the scale: rounding in fp32 leaves 1e-6, a wrong epsilon of a norm moves the logits by some 1e-4.
TOLERANCE = 1e-5
TYPES = "mm_token_type_ids"


@check("NAM908", order=30)
def parity(subject: Subject) -> Iterator[Fault]:
    pair = twins(subject, Reference.of(subject))
    seen = _compare(subject, pair, subject.inputs(pair.ours))
    figure = f"largest difference {seen.difference}"
    agreed = seen.ran if seen.place is None else frozenset()
    if seen.place is None:
        try:
            seen = _compare_image(subject, pair)
            figure += f", with an image {seen.difference}"
        except NotProbed as reason:
            figure += f"; with an image not compared: {reason}" if subject.image.form is not None else ""
    subject.figure(figure)
    if seen.place is None:
        return
    ours_at, theirs_at = seen.place.ours, seen.place.theirs
    yield Fault(
        {
            "reference": type(pair.theirs).__name__,
            "difference": seen.difference + (", with an image" if agreed else ""),
            "module": f"`{ours_at}`" if ours_at else "the model as a whole",
            "reference_module": f"`{theirs_at}`" if theirs_at else "the model as a whole",
        },
        {**_giver(subject, pair.ours, ours_at, agreed), **({"module": ours_at} if ours_at else {})},
    )


def _giver(subject: Subject, model: nn.Module, name: str, agreed: frozenset[str]) -> dict[str, Any]:
    """Where a module is handed what it has to work with, if it is one of those that do well without an image."""
    giver = around_with(model, name, "pixel_values") if name in agreed else None
    return {} if giver is None else forward_of(giver, subject.cls)


@dataclass(frozen=True)
class Compared:
    """The largest difference of the logits and their size, in words; where the models part if that is too far.

    ``ran`` are the modules that were compared.
    """

    difference: str
    place: Divergence | None
    ran: frozenset[str]


def _compare_image(subject: Subject, pair: Twins) -> Compared:
    fault = subject.recipe.get("reference_fault", {}).get("image")
    if fault:
        raise NotProbed(fault)
    return _compare(subject, pair, subject.inputs(pair.ours, modality="image"))


def _compare(subject: Subject, pair: Twins, arguments: dict[str, Any]) -> Compared:
    """Compare the logits for one set of arguments.

    Raises:
        NotProbed: if one of the two does not run, or they differ and depend on a parameter that was not filled.
    """
    ours, theirs = pair.ours, pair.theirs
    pairs = aligned(ours, theirs)
    with torch.no_grad(), recorded(ours, set(pairs)) as our_calls:
        got = _run(ours, arguments, subject, "forward")
    with torch.no_grad(), recorded(theirs, set(pairs.values())) as their_calls:
        wanted = _run(theirs, _accepted(subject, theirs, arguments), subject, "the reference's forward")
    if got.shape != wanted.shape:
        raise NotProbed(f"it returns {list(got.shape)}, the reference {list(wanted.shape)}: nothing to compare")
    largest, scale = difference(got, wanted)
    place = None
    if not largest <= TOLERANCE * scale:
        missing = [name for name in pair.unfilled if _matters(subject, ours, name, arguments)]
        if missing:
            more = f" and {len(missing) - 1} more" if missing[1:] else ""
            raise NotProbed(f"the reference's checkpoint does not fill {missing[0]}{more}")
        # where several things differ, the one that the logits come from and not the first trace of another
        place = first_divergence(pairs, our_calls, their_calls, max(TOLERANCE, 0.01 * largest / scale))
    return Compared(f"{largest:.2g} of {scale:.2g}", place, frozenset(our_calls))


@torch.no_grad()
def _matters(subject: Subject, model: nn.Module, name: str, arguments: dict[str, Any]) -> bool:
    """Tell whether the logits depend on a parameter."""
    parameter = model.get_parameter(name)
    before, kept = _run(model, arguments, subject, "forward"), parameter.clone()
    parameter.add_(0.1).mul_(1.5)
    after = _run(model, arguments, subject, "forward")
    parameter.copy_(kept)
    return not torch.equal(before, after)


def _run(model: nn.Module, arguments: dict[str, Any], subject: Subject, what: str) -> torch.Tensor:
    try:
        return inputs.logits_of(building.call(model, arguments, subject.observed)).float()
    except Exception as error:
        raise NotProbed(f"{what} fails: {one_line(error, subject.package)}") from error


def _accepted(subject: Subject, theirs: nn.Module, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that a forward of transformers knows, and no cache.

    Where it reads positions from which tokens are those of an image, it is told, as by its processor.
    """
    known = inspect.signature(theirs.forward).parameters
    accepted = {name: value for name, value in arguments.items() if name in known}
    token = inputs.special_ids(subject.config()).get("image_token_id")
    if TYPES in known and TYPES not in accepted and token is not None:
        accepted[TYPES] = (arguments["input_ids"] == token).long()
    return {**accepted, "use_cache": False} if "use_cache" in known else accepted
