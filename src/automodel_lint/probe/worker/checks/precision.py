"""NAM905, NAM916: does what must be fp32 stay so in a bf16 model, and is an fp32 model fp32?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import nn

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker import fp32, scratch
from automodel_lint.probe.worker.building import randomise
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.errors import one_line
from automodel_lint.probe.worker.folding import folded, grouped
from automodel_lint.probe.worker.rotary_angles import (
    NOTICED,
    Turned,
    largest_turn,
    rounded_tables,
    turn_of_module,
    turned_by,
)
from automodel_lint.probe.worker.subject import Subject

BF16 = torch.bfloat16
KEEP_LISTS = ("_keep_in_fp32_modules_strict", "_keep_in_fp32_modules")
SINKS = "sinks"  # some checkpoints have them in the model's dtype: lost only where the class says fp32


@check("NAM916", order=13)
def config_dtype_ignored(subject: Subject) -> Iterator[Fault]:
    model = _built(subject, torch.float32)
    floating = {name: p.dtype for name, p in model.named_parameters() if p.is_floating_point()}
    other = {name: fp32.word(dtype) for name, dtype in floating.items() if dtype != torch.float32}
    subject.figure(f"{len(floating) - len(other)} of {len(floating)} parameters are fp32")
    late = _cast_late(subject) if other else set()
    for group in grouped(model, other):
        whole = group.shown == "*"
        tensor = "every parameter" if whole else group.shown
        fields = {"tensor": tensor, "dtype": other[group.names[0]], "count": len(group.names), "why": ""}
        at = {"method": "__init__"} if whole else group.at
        if late.issuperset(group.names):
            fields["why"] = " once the constructor has called `initialize_weights()` without a dtype"
            at = {"method": "initialize_weights"}
        yield Fault(fields, at, "warning")


def _cast_late(subject: Subject) -> set[str]:
    """The parameters that are in fp32 where constructors do not initialise."""
    try:
        model = scratch.empty(subject, scratch.config_in(subject, torch.float32), torch.float32)
    except (Exception, SystemExit):
        return set()
    return {name for name, p in model.named_parameters() if p.dtype == torch.float32}


@check("NAM905", order=14)
def fp32_lost(subject: Subject) -> Iterator[Fault]:
    low = _built(subject, BF16)
    names, turns = fp32.intrinsic(low), _Rotary(subject, low)
    stages: list[tuple[str, Callable[[], dict[str, str]]]] = [
        ("after construction in bfloat16", lambda: _wrong_dtypes(low, names)),
        ("after cast_model_to_dtype(bfloat16)", lambda: _after_cast(subject, names)),
        ("after its initialiser in bfloat16", lambda: _after_initialiser(subject, low, names)),
    ]
    lost: dict[str, list[tuple[str, str]]] = {}
    looked, skipped = [], []
    for when, look in stages:
        try:
            found = look()
        except (Exception, SystemExit) as error:
            skipped.append(f"{when}: {error if isinstance(error, NotProbed) else one_line(error, subject.package)}")
            continue
        looked.append(when)
        for name, detail in found.items():
            lost.setdefault(name, []).append((when, detail))
    yield from _faults(low, lost)
    yield from turns.faults()
    told = [f"{len(names)} fp32 tensor{'s' * (len(names) > 1)} {', '.join(looked)}" if names else "no fp32 tensors"]
    subject.figure("; ".join([*told, turns.figure, *(f"not looked {one}" for one in skipped)]))


def _faults(model: nn.Module, lost: dict[str, list[tuple[str, str]]]) -> Iterator[Fault]:
    """One for every kind of tensor: of one name in modules of one class."""
    modules, kinds = dict(model.named_modules(remove_duplicate=False)), {}
    for name in lost:
        owner, _, last = name.rpartition(".")
        kinds.setdefault((type(modules[owner]), last), []).append(name)
    for (_, last), names in kinds.items():
        first = names[0]
        when = ", ".join(when for when, _ in lost[first])
        fields = {"tensor": folded(first) if len(names) > 1 else first, "when": when, "detail": lost[first][0][1]}
        if last == SINKS and lost[first][0][0].startswith("after construction") and not _is_pinned(model, first):
            continue
        yield Fault(fields, {"tensor": first})


def _is_pinned(model: nn.Module, name: str) -> bool:
    lists = (getattr(model, attribute, None) or () for attribute in KEEP_LISTS)
    return any(pattern in name for patterns in lists for pattern in patterns)


def _wrong_dtypes(model: nn.Module, names: list[str]) -> dict[str, str]:
    tensors = fp32.tensors_of(model)
    return {n: fp32.word(tensors[n].dtype) for n in names if n in tensors and tensors[n].dtype != torch.float32}


def _after_cast(subject: Subject, names: list[str]) -> dict[str, str]:
    cast = subject.framework.need("cast_model_to_dtype")
    model = _built(subject, torch.float32)
    planted = fp32.plant(model, names)
    cast(model, BF16)
    tensors = fp32.tensors_of(model)
    return {n: lost for n, values in planted.items() if (lost := fp32.what_was_lost(tensors[n], values))}


def _after_initialiser(subject: Subject, low: nn.Module, names: list[str]) -> dict[str, str]:
    """Initialise ``low``; a value counts as rounded if the initialiser gives others in an fp32 model."""
    if not hasattr(low, "initialize_weights"):
        raise NotProbed("it has none")
    scratch.own_initialiser(subject, low, BF16)
    found = _wrong_dtypes(low, names)
    tensors = fp32.tensors_of(low)
    suspects = [n for n in names if n in tensors and n not in found and fp32.is_rounded(tensors[n])]
    if suspects and any(tensors[n].count_nonzero() for n in suspects):
        exact = _built(subject, torch.float32)
        scratch.own_initialiser(subject, exact, torch.float32)
        values = fp32.tensors_of(exact)
        found |= {n: "rounded to bfloat16" for n in suspects if n in values and not fp32.is_rounded(values[n])}
    return found


def _built(subject: Subject, dtype: torch.dtype) -> nn.Module:
    try:
        return subject.construct(scratch.config_in(subject, dtype), dtype)
    except NotProbed:
        raise
    except (Exception, SystemExit) as error:
        reason = f"it cannot be constructed in {fp32.word(dtype)}: {one_line(error, subject.package)}"
        raise NotProbed(reason) from error


class _Rotary:
    """Compares the angles of the model in bf16, after construction and its initialiser, with those of one in fp32."""

    def __init__(self, subject: Subject, low: nn.Module):
        self.subject, self.low = subject, low
        self.figure = "no angles seen"
        self.exact = scratch.materialised(
            scratch.empty(subject, scratch.config_in(subject, torch.float32), torch.float32)
        )
        randomise(self.exact, subject.job.seed)
        self.at_construction = set(rounded_tables(self.exact, low))

    def faults(self) -> Iterator[Fault]:
        """To be called after the initialiser of the model in bf16 has run."""
        tables = rounded_tables(self.exact, self.low)
        self.figure = f"no angles seen, {len(tables)} rotary tables rounded"
        fine = self._run(self.exact, torch.float32, far=True)
        far = bool(fine.angles) or not fine.failed
        if not far:
            fine = self._run(self.exact, torch.float32, far=False)
        turned = self._run(self.low, BF16, far)
        turn = largest_turn(fine, turned)
        if turn is not None:
            self.figure = f"angles off by {turn:.2g} rad at position {fine.position}"
        if turn is not None and turn > NOTICED:
            yield self._fault(next(iter(tables), None), turn, fine.position)
        idle = {folded(name): name for name in reversed(tables) if name.rpartition(".")[0] not in turned.ran}
        for name in reversed(idle.values()):
            yield from self._without_forward(name)

    def _without_forward(self, name: str) -> Iterator[Fault]:
        """Judge a table that the forward did not come to, as that of a tower without input."""
        module = name.rpartition(".")[0]
        both = self.exact.get_submodule(module), self.low.get_submodule(module)
        turn, position = turn_of_module(self.subject, *both)
        if turn is None:
            self.figure += f", `{name}` is rounded but not used here"
        elif turn > NOTICED:
            yield self._fault(name, turn, position)

    def _fault(self, name: str | None, turn: float, position: int) -> Fault:
        when = "construction" if name in self.at_construction else "its initialiser"
        fields = {"tensor": folded(name) if name else "the rotary angles", "when": f"after {when} in bfloat16"}
        detail = f"angle off by {turn:.2g} rad at position {position}"
        return Fault({**fields, "detail": detail}, {"tensor": name} if name else {})

    def _run(self, model: nn.Module, dtype: torch.dtype, far: bool) -> Turned:
        try:
            return turned_by(self.subject, model.eval(), dtype, far)
        except NotProbed:
            return Turned(failed=True)
