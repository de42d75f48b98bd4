"""NAM907: does it run, forward and backward, and is what comes out finite and of the right shape?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.errors import is_out_of_memory, missing_dependency, one_line, place_in
from automodel_lint.probe.worker.inputs import is_generative, vocabulary
from automodel_lint.probe.worker.subject import Subject
from automodel_lint.probe.worker.trial import vision_towers

# What code raises on purpose about its arguments; of anything else it did not think.
DELIBERATE = (ValueError, NotImplementedError, AssertionError)
DTYPES = re.compile(r"same dtype|expected scalar type|dtypes? .*(match|differ)")
TEXT, IMAGE = "text", "text and images"


@check("NAM907", order=10, fatal=True)
def forward_fails(subject: Subject) -> Iterator[Fault]:
    if "not_run" in subject.recipe:
        raise NotProbed(subject.recipe["not_run"])
    yield from _optional(subject)
    yield from _run(subject, TEXT, subject.inputs())
    if subject.image.form is not None:
        yield from _run(subject, IMAGE, subject.inputs(modality="image"))
    elif subject.image.tried:
        faults = list(_image_error(subject))
        if not faults:
            subject.figure(f"{subject.measured or 'nothing'}; no images found that it takes")
        yield from faults


def _run(subject: Subject, modality: str, arguments: dict[str, Any]) -> Iterator[Fault]:
    """Forward in evaluation mode, then forward and backward in training mode."""
    try:
        with torch.no_grad():
            output = subject.run(subject.model, arguments)
    except Exception as error:
        yield _fault(subject, modality, error)
        return
    yield from _wrong_output(subject, modality, output, arguments)
    model = subject.fresh().train()
    try:
        with torch.enable_grad():
            output = subject.run(model, arguments).float()
            weights = torch.randn(output.shape, generator=torch.Generator().manual_seed(subject.job.seed))
            (output * weights).mean().backward()
    except Exception as error:
        yield _fault(subject, modality, error, "in training mode, ")
        return
    yield from _wrong_gradients(subject, modality, model)


def _fault(subject: Subject, modality: str, error: Exception, when: str = "") -> Fault:
    """What was raised, as a fault of the class.

    Raises:
        NotProbed: if this machine lacks something, or the class says that it wants other inputs.
    """
    missing = missing_dependency(error, subject.package)
    if missing:
        raise NotProbed(f"needs {missing}, which is not installed") from error
    if is_out_of_memory(error):
        raise NotProbed(f"ran out of memory: the limit is {subject.job.memory / (1 << 30):g} GB") from error
    if isinstance(error, DELIBERATE):
        raise NotProbed(f"no inputs found that it takes: {one_line(error, subject.package)}") from error
    text = f"{when}{one_line(error, subject.package)}"
    return Fault({"modality": modality, "error": text}, place_in(error, subject.package) or {"method": "forward"})


def _wrong_output(subject: Subject, modality: str, output: torch.Tensor, arguments: dict[str, Any]) -> Iterator[Fault]:
    where = {"method": "forward"}
    if not torch.isfinite(output).all():
        count = int((~torch.isfinite(output)).sum())
        yield Fault({"modality": modality, "error": f"{count} of {output.numel()} outputs are not finite"}, where)
    ids, config = arguments.get("input_ids"), subject.config()
    if modality == TEXT and ids is not None and is_generative(config) and "inputs" not in subject.recipe:
        size = vocabulary(config)
        if output.dim() != 3 or output.shape[:2] != ids.shape or output.shape[2] < size:
            text = f"it returns {list(output.shape)} for tokens {list(ids.shape)} and a vocabulary of {size}"
            yield Fault({"modality": modality, "error": text}, where)
    shown = f"{modality}: {list(output.shape)}, deviation {float(output.float().std()):.2g}"
    subject.figure(f"{subject.measured}; {shown}" if subject.measured else shown)


def _wrong_gradients(subject: Subject, modality: str, model: nn.Module) -> Iterator[Fault]:
    """Gradients that are not finite, and a model or a vision tower that none reaches."""
    trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
    reached = {name for name, p in trained.items() if p.grad is not None and bool(p.grad.any())}
    broken = [name for name, p in trained.items() if p.grad is not None and not torch.isfinite(p.grad).all()]
    subject.figure(f"{subject.measured}, gradients reach {len(reached)} of {len(trained)} parameters")
    if broken:
        more = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
        text = f"the gradient of `{broken[0]}`{more} is not finite"
        yield Fault({"modality": modality, "error": text}, {"tensor": broken[0]})
    if trained and not reached:
        yield Fault({"modality": modality, "error": "no gradient reaches any parameter"}, {"method": "forward"})
    if modality != IMAGE or not reached:
        return
    towers = {name: [n for n in trained if n.startswith(f"{name}.")] for name in vision_towers(model)}
    seen = [n for names in towers.values() for n in names]
    if seen and not reached & set(seen):
        first = next(name for name, names in towers.items() if names)
        text = f"no gradient reaches the vision tower `{first}`"
        yield Fault({"modality": modality, "error": text}, {"module": first})


def _optional(subject: Subject) -> Iterator[Fault]:
    """What ``forward`` raises unless an argument is given that is optional, or a field is set that may be unset."""
    trial = subject.trial
    error = trial.first_error
    if not trial.ran or error is None or isinstance(error, DELIBERATE) or not isinstance(error, Exception):
        return
    if not (trial.extras or trial.attention):
        return
    if trial.extras:
        without = f"without the optional {' and '.join(trial.extras)}"
    else:
        without = "with a configuration that names no implementation of attention"
    fault = _fault(subject, TEXT, error)
    fields = {"modality": f"{TEXT} {without}", "error": fault.fields["error"]}
    yield Fault(fields, fault.at, severity="warning")


def _image_error(subject: Subject) -> Iterator[Fault]:
    """What was raised once the vision tower was done, if that cannot be for images in the wrong form.

    A wrong number or shape of features is our doing; code that finds another kind of object than it expects is not, nor
    are two dtypes where the model and the pixels have one.
    """
    error = subject.image.error
    if isinstance(error, (AttributeError, TypeError, NameError)) or (error and DTYPES.search(str(error))):
        yield _fault(subject, IMAGE, error)
