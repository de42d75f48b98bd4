"""NAM917, NAM918: what construction takes for granted: a GPU, the network."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import torch
from torch import nn

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker import building, environment
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.environment import Observed
from automodel_lint.probe.worker.errors import one_line
from automodel_lint.probe.worker.subject import Subject

Asked = dict[tuple[str, int], str]


@check("NAM917", order=5)
def device_assumed(subject: Subject) -> Iterator[Fault]:
    """Construct and initialise with a stand-in for the GPU, and see who asks for one."""
    observed = Observed(subject.package)
    problem = _construct_and_initialise(subject, observed)
    asked = _by_line(_unprompted(observed.devices))
    if problem and not asked:
        raise NotProbed(problem)
    subject.figure(f"{len(asked)} lines ask for a CUDA device" + (f"; {problem}" if problem else ""))
    for (file, line), what in asked.items():
        yield Fault({"asked": what}, {"file": file, "line": line})


@check("NAM918", order=6)
def network_at_construction(subject: Subject) -> Iterator[Fault]:
    """Construct as on a machine with a network, refuse every connection, and see who opened one."""
    observed = Observed(subject.package)
    # what it raises for want of a network, or for its own reasons, is for NAM902
    with _hub_online(), environment.no_network(observed), contextlib.suppress(Exception, SystemExit):
        _construct(subject, observed)
    asked = _by_line(observed.network)
    subject.figure(f"{len(asked)} lines open a connection")
    for (file, line), host in asked.items():
        yield Fault({"host": host}, {"file": file, "line": line} if file else {})


def _construct(subject: Subject, observed: Observed) -> nn.Module:
    config, recipe = subject.config(), subject.recipe
    return building.construct(subject.cls, config, recipe, torch.float32, subject.package, observed)


def _construct_and_initialise(subject: Subject, observed: Observed) -> str | None:
    """Return what went wrong, in words; what was asked for until then is in ``observed``."""
    try:
        model = _construct(subject, observed)
    except (Exception, SystemExit) as error:
        return f"it cannot be constructed: {one_line(error, subject.package)}"
    initialise: Any = getattr(model, "initialize_weights", None)
    if initialise is None:
        return None
    try:
        with environment.on_cpu(observed):
            try:
                initialise(dtype=next(p.dtype for p in model.parameters() if p.is_floating_point()))
            except TypeError:  # the framework, too, tries again without a dtype
                initialise()
    except (Exception, SystemExit) as error:
        return f"its initialiser stopped: {one_line(error, subject.package)}"
    return None


def _unprompted(devices: list[tuple[str, int, str]]) -> list[tuple[str, int, str]]:
    """Leave out the uses of a device that an earlier question for the current one has led to."""
    questions = [number for number, (_, _, what) in enumerate(devices) if "current_device" in what]
    return [d for number, d in enumerate(devices) if number in questions or number < min(questions, default=number + 1)]


def _by_line(seen: list[tuple[str, int, str]]) -> Asked:
    """Return by line what was asked for there first."""
    asked: Asked = {}
    for file, line, what in seen:
        asked.setdefault((file, line), what)
    return asked


@contextlib.contextmanager
def _hub_online() -> Iterator[None]:
    """Where the libraries believe in a network and lose no time with waiting for it."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(patch.object(time, "sleep", lambda _: None))
        with contextlib.suppress(ImportError):
            from huggingface_hub import constants

            stack.enter_context(patch.object(constants, "HF_HUB_OFFLINE", False))
        yield
