"""NAM920: the names of what is constructed, for the other half to hold against its module tree."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker.checks import check
from automodel_lint.probe.worker.naming import described
from automodel_lint.probe.worker.subject import Subject


@check("NAM920", order=3)
def names(subject: Subject) -> Iterator[Fault]:
    subject.tell(names=[described(model) for model in (subject.model, *(m for _, m in subject.variants))])
    yield from ()  # the verdict is the other half's, which has the tree
