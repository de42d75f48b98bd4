"""NAM906: does the state-dict adapter give back what it was given, and what the other library can read?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from automodel_lint.probe.names import brief
from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker import adapter_differences as differences
from automodel_lint.probe.worker.adapter_calls import (
    PEFT_PREFIX,
    AdapterCalls,
    AdapterRaised,
    copied,
    distinct_values,
    lora_state,
)
from automodel_lint.probe.worker.adapter_differences import Difference
from automodel_lint.probe.worker.adapter_places import place_of
from automodel_lint.probe.worker.adapter_reference import unread_by_reference
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.errors import one_line, place_in
from automodel_lint.probe.worker.model_variants import with_adapter
from automodel_lint.probe.worker.subject import Subject


@check("NAM906", order=20)
def adapter_round_trip(subject: Subject) -> Iterator[Fault]:
    found: list[list[tuple[str, Difference]]] = []
    raised: dict[str, tuple[str, AdapterRaised]] = {}
    notes: list[str] = []
    models = _models(subject, notes)
    for number, (where, model) in enumerate(models):
        calls = AdapterCalls(subject, model, copied(model.state_dict_adapter))
        try:
            for difference in _all_differences(subject, where, calls, notes, thorough=number == 0):
                _add(found, where, difference)
        except AdapterRaised as error:
            raised.setdefault(error.call, (where, error))
    for where, error in raised.values():
        fields = {"what": "raises", "names": f"in `{error.call}`"}
        fields["detail"] = f"{where}, {one_line(error.cause, subject.package)}"
        yield Fault(
            fields, place_in(error.cause, subject.package) or place_of(models[0][1].state_dict_adapter, error.call)
        )
    for same_cause in found:
        yield _fault(models[0][1].state_dict_adapter, same_cause)
    subject.figure("; ".join(notes))


def _models(subject: Subject, notes: list[str]) -> list[tuple[str, nn.Module]]:
    """Return the models to look at, each with what is particular about it; the first is in fp32."""
    models = with_adapter(subject)
    try:
        lower = subject.fresh(dtype=torch.bfloat16)
    except NotProbed as reason:
        notes.append(f"not in bf16: {reason}")
        return models
    return [*models, ("in bf16", lower)] if getattr(lower, "state_dict_adapter", None) is not None else models


def _all_differences(
    subject: Subject, where: str, calls: AdapterCalls, notes: list[str], thorough: bool
) -> Iterator[Difference]:
    own = calls.native()
    native = distinct_values(own, subject.job.seed)
    hf = calls.to_hf(native)
    notes.append(f"{len(native)} tensors {where}")
    broken: set[str] = set()
    after = calls.from_hf({name: tensor.clone() for name, tensor in hf.items()})
    for difference in differences.of_round_trip(calls, own, native, after):
        broken.update(difference.names)
        yield difference
    subject.broken_by_adapter |= broken
    yield from differences.of_announced_names(calls)
    yield from differences.of_single_tensors(calls, native, hf, broken, notes if thorough else [])
    if not thorough:
        return
    yield from _of_lora(calls, broken, subject.job.seed, notes)
    if calls.model is not subject.model:
        return  # the reference has the configuration without the option
    try:
        yield from unread_by_reference(subject, native, hf, notes)
    except NotProbed as reason:
        notes.append(f"names not compared with a reference: {reason}")


def _of_lora(calls: AdapterCalls, broken: set[str], seed: int, notes: list[str]) -> Iterator[Difference]:
    """Low-rank adapters go through the same methods, under PEFT's names, when they are saved and resumed from."""
    modules = {name.rpartition(".")[0] for name in broken}
    lora = {n: t for n, t in lora_state(calls.model, seed).items() if n.rpartition(".lora_")[0] not in modules}
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


def _add(found: list[list[tuple[str, Difference]]], where: str, difference: Difference) -> None:
    """Put a difference to those that have its cause."""
    same = next((group for group in found if difference.has_cause_of(group[0][1])), None)
    if same is None:
        found.append([(where, difference)])
    else:
        same.append((where, difference))


def _fault(adapter: Any, same_cause: list[tuple[str, Difference]]) -> Fault:
    where, first = same_cause[0]
    detail = first.detail if where == "in fp32" else f"{where}, {first.detail}"
    others = [f"{w}: {brief(d.names)}" for w, d in same_cause[1:] if w != where and set(d.names) != set(first.names)]
    if others:
        detail += f"; {'; '.join(others[:2])}"
    fields = {"what": first.what, "names": brief(first.names), "detail": detail}
    return Fault(fields, place_of(adapter, first.method, first.names, first.instead))
