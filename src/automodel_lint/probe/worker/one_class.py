"""What happens in the child of one class: its checks, one after the other, each said as soon as it is known."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

from automodel_lint.probe.protocol import FINDING, NOT_PROBED, PASSED, CheckResult, Job, Target
from automodel_lint.probe.worker import environment
from automodel_lint.probe.worker.checks import Check, NotProbed, checks
from automodel_lint.probe.worker.errors import inner, is_out_of_memory, one_line
from automodel_lint.probe.worker.subject import Subject

CONSTRUCTED = 2  # the order of the last check that there need not be a model for
Say = Callable[[dict[str, Any]], None]


def probe(job: Job, target: Target, say: Say) -> None:
    """Run the checks of a job on one class.

    Says ``{"check": code, "fatal": …}`` when one begins, ``{"result": …}`` when it has ended, ``{"facts": …}`` with
    what became known of the class on the way.
    """
    import torch

    warnings.simplefilter("ignore")
    observed = environment.Observed(job.package)
    subject = Subject(job, target, observed)
    with environment.no_network(observed):
        for one in checks():
            if one.code not in job.checks:
                continue
            say({"check": one.code, "fatal": one.fatal})
            random.seed(job.seed)
            torch.manual_seed(job.seed)
            say({"result": _run(one, subject).to_json()})
            if subject.new_facts:
                say({"facts": subject.new_facts})
                subject.new_facts = {}


def _run(one: Check, subject: Subject) -> CheckResult:
    """Look, and say how that ended. What the check did not expect to be raised is a reason, never a verdict."""
    subject.measured = None
    result = CheckResult(one.code, PASSED)
    if one.order > CONSTRUCTED and subject.obstacle:
        return CheckResult(one.code, NOT_PROBED, subject.obstacle)
    try:
        result.faults = list(one.look(subject))
    except NotProbed as reason:
        result.status, result.reason = NOT_PROBED, str(reason)
    except BaseException as raised:  # torch's collection of what ranks raised is no Exception
        error = inner(raised)
        what = "ran out of memory" if is_out_of_memory(error) else one_line(error, subject.package)
        result.status, result.reason = NOT_PROBED, f"the check could not be carried out: {what}"
    if result.faults:
        result.status = FINDING
    result.figure = subject.measured
    return result
