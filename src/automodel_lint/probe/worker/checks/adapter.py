"""NAM906: does the state-dict adapter give back what it was given, and what the other library can read?"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker import adapter_differences as differences
from automodel_lint.probe.worker.adapter_calls import (
    PEFT_PREFIX,
    AdapterCalls,
    AdapterRaised,
    copied,
    distinct_values,
    folded,
    lora_state,
)
from automodel_lint.probe.worker.adapter_differences import Difference
from automodel_lint.probe.worker.adapter_places import place_of
from automodel_lint.probe.worker.adapter_reference import unread_by_reference
from automodel_lint.probe.worker.adapter_variants import variants
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.errors import one_line, place_in
from automodel_lint.probe.worker.subject import Subject


@check("NAM906", order=20)
def adapter_round_trip(subject: Subject) -> Iterator[Fault]:
    if subject.adapter is None:
        raise NotProbed("it has no state-dict adapter")
    found: dict[tuple, list[tuple[str, Difference]]] = {}
    notes: list[str] = []
    try:
        for where, calls in _calls(subject):
            for difference in _all_differences(subject, where, calls, notes):
                found.setdefault(difference.cause(), []).append((where, difference))
    except AdapterRaised as raised:
        text = one_line(raised.cause, subject.package)
        fields = {"what": f"raises in `{raised.call}`", "names": "", "detail": f"{where}: {text}"}
        yield Fault(fields, place_in(raised.cause, subject.package) or place_of(subject.adapter, raised.call))
    for same_cause in found.values():
        yield _fault(subject, same_cause)
    subject.figure("; ".join(notes))


def _calls(subject: Subject) -> Iterator[tuple[str, AdapterCalls]]:
    """The models to look at, each with what is particular about it and an adapter that nobody has used yet."""
    yield "in fp32", AdapterCalls(subject, subject.model, copied(subject.adapter))
    model = subject.fresh(dtype=torch.bfloat16)
    yield "in bf16", AdapterCalls(subject, model, model.state_dict_adapter)
    for name, model in variants(subject):
        yield f"with {name}", AdapterCalls(subject, model, model.state_dict_adapter)


def _all_differences(subject: Subject, where: str, calls: AdapterCalls, notes: list[str]) -> Iterator[Difference]:
    own = calls.native()
    native = distinct_values(own, subject.job.seed)
    hf = calls.to_hf(native)
    yield from differences.of_round_trip(calls, own, native, calls.from_hf({k: v.clone() for k, v in hf.items()}))
    yield from differences.of_announced_names(calls)
    notes.append(f"{len(native)} tensors {where}")
    if where != "in fp32":
        return
    yield from differences.of_single_tensors(calls, native, hf, notes)
    yield from _of_lora(calls, subject.job.seed, notes)
    try:
        yield from unread_by_reference(subject, native, hf, notes)
    except NotProbed as reason:
        notes.append(f"names not compared with a reference: {reason}")


def _of_lora(calls: AdapterCalls, seed: int, notes: list[str]) -> Iterator[Difference]:
    """Low-rank adapters go through the same methods, under PEFT's names, when they are saved and resumed from."""
    lora = lora_state(calls.model, seed)
    if not lora:
        return
    try:
        hf = calls.to_hf({PEFT_PREFIX + name: tensor for name, tensor in lora.items()})
        back = calls.lora_from_hf(hf)
    except AdapterRaised as refused:
        notes.append(f"LoRA names are refused by `{refused.call}`")
        return
    notes.append(f"{len(lora)} tensors of LoRA")
    yield from differences.of_lora(lora, hf, back)


def _fault(subject: Subject, same_cause: list[tuple[str, Difference]]) -> Fault:
    where, first = same_cause[0]
    detail = f"{where}, {first.detail}"
    others = [f"{w}: {folded(d.names)}" for w, d in same_cause[1:] if set(d.names) != set(first.names)]
    if others:
        detail += f"; {'; '.join(others[:2])}"
    fields = {"what": first.what, "names": folded(first.names), "detail": detail}
    return Fault(fields, place_of(subject.adapter, first.method, first.names, first.instead))
