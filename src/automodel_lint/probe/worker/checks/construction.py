"""NAM901, NAM902: can the class be imported and constructed at all?"""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker import building
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.errors import is_out_of_memory, missing_dependency, one_line, place_in
from automodel_lint.probe.worker.subject import Subject


@check("NAM901", order=1, fatal=True)
def import_fails(subject: Subject) -> Iterator[Fault]:
    try:
        subject.import_class()
    except BaseException as error:
        _not_its_fault(subject, error)
        yield Fault({"error": one_line(error, subject.package)}, place_in(error, subject.package))


@check("NAM902", order=2, fatal=True)
def construction_fails(subject: Subject) -> Iterator[Fault]:
    config = subject.config()
    try:
        model = subject.construct(config)
    except BaseException as error:
        _not_its_fault(subject, error)
        yield Fault({"error": one_line(error, subject.package)}, place_in(error, subject.package))
        return
    if building.UNINITIALISED in subject.how:
        error = subject.failed[0]
        text = f"{one_line(error, subject.package)}; it can be {building.UNINITIALISED}"
        yield Fault({"error": text}, place_in(error, subject.package), severity="warning")
    count = sum(p.numel() for p in model.parameters())
    subject.figure(f"{count:,} parameters")


def _not_its_fault(subject: Subject, error: BaseException) -> None:
    """Raise NotProbed for what this machine lacks."""
    if is_out_of_memory(error):
        raise NotProbed(f"ran out of memory: the limit is {subject.job.memory / (1 << 30):g} GB") from error
    missing = missing_dependency(error, subject.package)
    if missing:
        raise NotProbed(f"needs {missing}, which is not installed") from error
