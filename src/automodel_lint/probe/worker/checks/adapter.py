"""NAM906: does the state-dict adapter give back what it was given, and what the other library knows?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker.adapter_calls import (
    AdapterCalls,
    AdapterRaised,
    State,
    copied,
    distinct_values,
    folded,
    lora_state,
)
from automodel_lint.probe.worker.adapter_places import place_of
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.errors import one_line, place_in
from automodel_lint.probe.worker.subject import Subject


@dataclass(frozen=True)
class Difference:
    """One way in which an adapter breaks a state: what it does to which names, and where to look for it."""

    what: str
    names: tuple[str, ...]
    detail: str
    method: str
    others: tuple[str, ...] = ()


@check("NAM906", order=20)
def adapter_round_trip(subject: Subject) -> Iterator[Fault]:
    if subject.adapter is None:
        raise NotProbed("it has no state-dict adapter")
    seen: set[tuple] = set()
    for dtype in (torch.float32, torch.bfloat16):
        model = subject.model if dtype == torch.float32 else subject.fresh(dtype=dtype)
        calls = AdapterCalls(subject, model, copied(model.state_dict_adapter))
        native = distinct_values(calls.native(), subject.job.seed)
        try:
            for difference in differences(subject, calls, native, dtype):
                key = (difference.what, folded(difference.names))
                if key not in seen:
                    seen.add(key)
                    yield fault(subject, calls.adapter, difference)
        except AdapterRaised as raised:
            if (raised.call,) not in seen:
                seen.add((raised.call,))
                text = one_line(raised.cause, subject.package)
                fields = {"what": f"raises in {raised.call}", "names": "", "detail": text}
                yield Fault(fields, place_in(raised.cause, subject.package))
    subject.figure(f"{len(native)} tensors there and back, in fp32 and bf16")


def differences(subject: Subject, calls: AdapterCalls, native: State, dtype) -> Iterator[Difference]:
    hf = calls.to_hf(native)
    yield from changed(native, calls.from_hf({k: v.clone() for k, v in hf.items()}))
    announced = calls.hf_keys()
    if announced is not None:
        whole = set(calls.to_hf(calls._model.state_dict()))
        if announced != whole:
            yield Difference("announces other names", tuple(sorted(announced ^ whole)), "", "get_hf_state_dict_keys")
    yield from singles(calls, native, hf)
    if dtype == torch.float32:
        lora = lora_state(calls._model, 0)
        back = calls.from_hf(calls.to_hf(lora))
        for d in changed(lora, back):
            yield Difference("PEFT " + d.what, d.names, d.detail, d.method, d.others)


def singles(calls, native, hf):
    lost, extra, other = [], [], []
    for name, tensor in native.items():
        try:
            alone = calls.to_hf({name: tensor})
        except AdapterRaised:
            continue
        if not set(alone) <= set(hf):
            continue
        one = calls.one_to_hf(name, tensor)
        if set(one) != set(alone):
            lost += sorted(set(alone) - set(one))
            extra += sorted(set(one) - set(alone))
        for k in set(one) & set(alone):
            if not same(one[k], alone[k]) or one[k].dtype != alone[k].dtype:
                other.append(k)
    if lost or extra:
        yield Difference("single other names", tuple(lost), folded(extra), "convert_single_tensor_to_hf")
    if other:
        yield Difference("single other values", tuple(other), "", "convert_single_tensor_to_hf")


def changed(before: State, after: State) -> Iterator[Difference]:
    lost = sorted(set(before) - set(after))
    extra = sorted(set(after) - set(before))
    if lost:
        yield Difference("loses", tuple(lost), folded(extra), "from_hf", tuple(extra))
    elif extra:
        yield Difference("invents", tuple(extra), "", "from_hf")
    both = [n for n in before if n in after]
    shapes = [n for n in both if before[n].shape != after[n].shape]
    if shapes:
        n = shapes[0]
        yield Difference("shape", tuple(shapes), f"{tuple(before[n].shape)} {tuple(after[n].shape)}", "from_hf")
    values = [n for n in both if n not in shapes and not same(before[n], after[n].to(before[n].dtype))]
    if values:
        n = values[0]
        big = max((before[n].double() - after[n].double()).abs().max().item() for n in values)
        yield Difference("values", tuple(values), f"{before[n].dtype} {after[n].dtype} by up to {big:.3g}", "from_hf")
    dt = [n for n in both if n not in shapes and n not in values and before[n].dtype != after[n].dtype]
    if dt:
        yield Difference("dtype", tuple(dt), f"{before[dt[0]].dtype} {after[dt[0]].dtype}", "from_hf")


def same(one, other):
    return one.shape == other.shape and torch.equal(one, other)


def fault(subject: Subject, adapter, difference: Difference) -> Fault:
    fields = {"what": difference.what, "names": folded(difference.names), "detail": difference.detail}
    return Fault(fields, place_of(adapter, difference.method, difference.names, difference.others))
