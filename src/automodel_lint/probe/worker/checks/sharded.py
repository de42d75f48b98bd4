"""NAM913: does a model keep its ties, its fp32 tensors and its gradients when it is sharded over two ranks?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.errors import missing_dependency, one_line
from automodel_lint.probe.worker.ranks import Body, RanksFailed, on_ranks
from automodel_lint.probe.worker.sharded_step import Lost, Rank, pinned
from automodel_lint.probe.worker.sharding import can_shard_experts, shards
from automodel_lint.probe.worker.subject import Subject
from automodel_lint.probe.worker.tensor_names import listed
from automodel_lint.probe.worker.variants import tie_settings, with_tie

RANKS = 2
SECONDS = 25.0  # for the two ranks of one setting


@dataclass(frozen=True)
class Setting:
    """How to shard: tie or not, computing in which dtype, experts over how many ranks."""

    tied: bool | None
    dtype: torch.dtype
    experts: int

    def __str__(self) -> str:
        experts = f", experts over {self.experts} ranks" if self.experts > 1 else ""
        return f"{str(self.dtype).removeprefix('torch.')}{experts}"


@check("NAM913", order=90)
def sharded(subject: Subject) -> Iterator[Fault]:
    seen: set[str] = set()
    done: list[str] = []
    failure: RanksFailed | None = None
    settings = _settings(subject)
    bodies = [_body(subject, setting, model) for setting, model in settings]
    for (setting, _), said in zip(settings, on_ranks(bodies, subject.package, SECONDS, RANKS), strict=True):
        if isinstance(said, RanksFailed):
            if not _is_sharding(said):
                failure = failure or said
                continue
            losses = [["torch refuses to shard", [], str(said)]]
        else:
            done.append(str(setting))
            losses = [lost for of_rank in said for lost in of_rank]
        for what, names, detail in losses:
            if what not in seen:  # in another setting it has the same cause
                seen.add(what)
                fields = {"what": what, "names": listed(names) or "the model", "detail": f"{detail} ({setting})"}
                # which tensors stay in fp32 the class says to the framework, not the line that creates one
                yield Fault(fields, {"tensor": names[0]} if names and "out of fp32" not in what else {})
    if failure and not seen:
        raise NotProbed(f"sharded over two ranks, {failure}")
    subject.figure(f"sharded in {'; '.join(done)}")


def _is_sharding(error: RanksFailed) -> bool:
    """Tell whether the code raised that shards parameters, not a model that cannot run here for another reason."""
    return any(f"{os.sep}torch{os.sep}distributed{os.sep}{part}{os.sep}" in error.file for part in ("fsdp", "tensor"))


def _settings(subject: Subject) -> list[tuple[Setting, nn.Module]]:
    """Return the ways to shard, each with a model for it."""
    ties = tie_settings(subject.cls)
    fp32 = Setting(ties[-1], torch.float32, 1)
    model = subject.fresh(with_tie(subject.config(), fp32.tied), fp32.dtype)
    try:
        with torch.no_grad():
            subject.run(model, subject.inputs(model))
    except Exception as error:
        missing = missing_dependency(error, subject.package)
        cause = f"needs {missing}" if missing else one_line(error, subject.package)
        raise NotProbed(f"its forward does not run on one process: {cause}") from error
    made = [(fp32, model)]
    experts = can_shard_experts(subject.framework, model)
    if experts:
        setting = Setting(ties[0], torch.float32, 2)
        made.append((setting, subject.fresh(with_tie(subject.config(), setting.tied), setting.dtype)))
    if shards(subject.framework):  # which tensors stay in fp32 is for the framework to see to
        setting = Setting(ties[-1], torch.bfloat16, 2 if experts else 1)
        model = subject.fresh(with_tie(subject.config(), setting.tied), setting.dtype)
        if pinned(model):
            made.append((setting, model))
    return made


def _body(subject: Subject, setting: Setting, model: nn.Module) -> Body:
    given = [subject.inputs(model, seed=rank) for rank in range(RANKS)]

    def body(rank: int) -> list[Lost]:
        torch.manual_seed(subject.job.seed)
        inside = Rank(subject, rank, RANKS, model, given[rank])
        if setting.dtype == torch.float32:
            return list(inside.one_step(setting.experts))
        return list(inside.pins(setting.dtype, setting.experts))

    return body
