"""What one rank does with a model: the same before it is sharded and after, and the difference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from automodel_lint.probe.worker import building, inputs
from automodel_lint.probe.worker.fp32 import fp32_expectations, plant, tensors_of, what_was_lost, word
from automodel_lint.probe.worker.sharding import gathered, is_spread_expert, shard
from automodel_lint.probe.worker.subject import Subject
from automodel_lint.probe.worker.tensor_names import aliases

TOLERANCE = 1e-3  # of the largest value of a tensor, in fp32
NOISE = 1e-5  # of the largest gradient of all: below, a gradient is rounding

Lost = tuple[str, list[str], str]  # what is lost, of which tensors, a detail
Named = dict[str, torch.Tensor]


def pinned(model: nn.Module) -> list[str]:
    """Return the names of the tensors that must stay in fp32 and, before the model is sharded, are."""
    tensors = tensors_of(model)
    return [name for name in fp32_expectations(model) if tensors[name].dtype == torch.float32]


class Rank:
    """One of ``count`` ranks with a model that is the same on all, and inputs that are this rank's own."""

    def __init__(self, subject: Subject, rank: int, count: int, model: nn.Module, given: dict[str, Any]):
        self.subject, self.rank, self.count = subject, rank, count
        self.model, self.given = model, given

    def one_step(self, experts: int) -> Iterator[Lost]:
        """Compare logits and gradients in fp32; the batch of the unsharded model is that of all ranks."""
        ties = list(aliases(self.model.named_parameters(remove_duplicate=False)))
        logits, gradients = self._backward()
        expected = self._mean(gradients)
        self._shard(torch.float32, experts)
        now = dict(self.model.named_parameters(remove_duplicate=False))
        broken = [name for first, name in ties if now.get(first) is not now.get(name)]
        if broken:
            yield "sharding breaks the tie of", broken, "it is no longer the parameter of the embedding"
        sharded_logits, gradients = self._backward()
        change = self._agreed(_relative(sharded_logits, logits))
        if not change <= TOLERANCE:
            yield "sharding changes the output of", [], f"its logits differ by {change:.1e} of the largest value"
        else:  # or the gradients differ for that reason
            yield from self._differences(expected, gradients, now)

    def pins(self, dtype: torch.dtype, experts: int) -> Iterator[Lost]:
        """See whether what must stay in fp32 does, stored and computed with, in a model that computes in ``dtype``."""
        planted = plant(self.model, pinned(self.model))
        runs = self._runs(dtype)
        self._shard(dtype, experts)
        now = tensors_of(self.model)
        absent = [name for name in planted if name not in now]
        stored = gathered({name: now[name] for name in planted if name in now})
        stored = {name: tensor.to(now[name].dtype) for name, tensor in stored.items()}
        lost = {name: why for name in stored if (why := what_was_lost(stored[name], planted[name]))}
        if absent:
            yield "sharding loses", absent, "it must stay in fp32"
        if lost:
            yield "sharding takes out of fp32", list(lost), next(iter(lost.values()))
        elif runs:
            used = self._dtypes_in_use(dtype, [name for name in stored if name not in lost])
            if used:
                yield "the sharded model computes out of fp32 with", list(used), f"in {next(iter(used.values()))}"

    def _agreed(self, value: float) -> float:
        """The largest value on any rank: what decides whether the ranks talk on must be the same on all."""
        largest = torch.tensor([value if value == value else float("inf")])
        dist.all_reduce(largest, dist.ReduceOp.MAX)
        return float(largest)

    def _shard(self, dtype: torch.dtype, experts: int) -> None:
        self.model.zero_grad(set_to_none=True)
        self.model = shard(self.subject.framework, self.model, dtype, experts, self.count)

    def _backward(self) -> tuple[torch.Tensor, Named]:
        """Return logits and the gradients, as they lie on this rank, of a weighting of them that is this rank's own."""
        self.model.zero_grad(set_to_none=True)
        output = inputs.logits_of(building.call(self.model, self.given, self.subject.observed))
        logits = output.float().masked_fill(~output.isfinite(), 0)
        weights = torch.randn(logits.shape, generator=torch.Generator().manual_seed(self.rank))
        (logits * weights / weights.numel() ** 0.5).sum().backward()
        return logits.detach(), {name: p.grad for name, p in self.model.named_parameters() if p.grad is not None}

    def _mean(self, gradients: Named) -> Named:
        """Return the mean over the ranks, of the parameters that have a gradient on any."""
        shapes = {name: p.shape for name, p in self.model.named_parameters()}
        flat = torch.cat([gradients.get(name, torch.zeros(shape)).flatten() for name, shape in shapes.items()])
        dist.all_reduce(flat)
        parts = (flat / self.count).split([shape.numel() for shape in shapes.values()])
        means = {name: part.reshape(shapes[name]) for name, part in zip(shapes, parts, strict=True)}
        largest = max((float(mean.abs().max()) for mean in means.values() if mean.numel()), default=0.0)
        return {n: mean for n, mean in means.items() if mean.numel() and mean.abs().max() > NOISE * largest}

    def _differences(self, expected: Named, gradients: Named, now: Named) -> Iterator[Lost]:
        present = torch.tensor([float(name in gradients) for name in expected])
        dist.all_reduce(present, dist.ReduceOp.MIN)
        missing = [name for name, there in zip(expected, present.tolist(), strict=True) if not there]
        wrong: dict[str, str] = {}
        for name, got in gathered({name: gradients[name] for name in expected if name not in missing}).items():
            how = _difference(got, expected[name], is_spread_expert(now[name]))
            if how:
                wrong[name] = how
        if missing:
            yield "sharding loses the gradient of", missing, "on one process it has one"
        elif wrong:
            yield "sharding changes the gradient of", list(wrong), next(iter(wrong.values()))

    @torch.no_grad()
    def _runs(self, dtype: torch.dtype) -> bool:
        """Tell whether the model runs in ``dtype`` before it is sharded."""
        self.given = {
            name: value.to(dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value
            for name, value in self.given.items()
        }
        try:
            building.call(self.model, self.given, self.subject.observed)
        except Exception:  # on a CPU; the same on every rank
            return False
        return True

    @torch.no_grad()
    def _dtypes_in_use(self, dtype: torch.dtype, names: list[str]) -> dict[str, str]:
        """Return the tensors that are not in fp32 when their module runs, with the dtype that they are in."""
        used: dict[str, str] = {}
        hooks = []
        for name in names:
            owner, _, local = name.rpartition(".")

            def look(module: nn.Module, _: Any, name: str = name, local: str = local) -> None:
                tensor = getattr(module, local, None)
                if isinstance(tensor, torch.Tensor) and tensor.dtype != torch.float32:
                    used[name] = word(tensor.dtype)

            hooks.append(self.model.get_submodule(owner).register_forward_pre_hook(look))
        try:
            building.call(self.model, self.given, self.subject.observed)
        finally:
            for hook in hooks:
                hook.remove()
        return used


def _relative(one: torch.Tensor, other: torch.Tensor) -> float:
    """The largest difference, in units of the largest value of ``other``."""
    if one.shape != other.shape:
        return float("inf")
    return float((one - other).abs().max() / other.abs().max().clamp_min(1e-12))


def _difference(got: torch.Tensor, want: torch.Tensor, scaled: bool) -> str | None:
    """Say how a gradient differs, ``None`` if it does not, or only by a factor where it is ``scaled`` later."""
    if got.shape != want.shape:
        return f"its shape is {list(got.shape)}, not {list(want.shape)}"
    change = _relative(got, want)
    if change <= TOLERANCE:
        return None
    factor = float((got * want).sum() / want.square().sum())
    if abs(factor) > TOLERANCE and _relative(got / factor, want) <= TOLERANCE:
        return None if scaled else f"it is {factor:.3g} times that of one process"
    return f"it differs by {change:.1e} of its largest value"
