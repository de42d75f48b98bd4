"""How two state dicts differ that an adapter should have kept equal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from automodel_lint.probe.names import brief
from automodel_lint.probe.worker.adapter_calls import (
    EXCLUDED_END,
    PEFT_PREFIX,
    AdapterCalls,
    AdapterRaised,
    State,
    claims_low_memory,
)

COUNT = re.compile(r"\b(one tensor|\d+ tensors)\b")


@dataclass(frozen=True)
class Difference:
    """One way in which an adapter breaks a state.

    ``what`` it does to ``names``, in which ``method``; ``instead`` are the names that stand in their place, if any.
    ``verb`` is ``what`` without how many: differences of one verb with names in common have one cause, or any of one
    verb where ``global_cause`` says so.
    """

    what: str
    names: tuple[str, ...]
    detail: str
    method: str
    instead: tuple[str, ...] = ()
    global_cause: bool = False

    @property
    def verb(self) -> tuple[str, str]:
        return self.method, COUNT.sub("", self.what)

    def has_cause_of(self, other: Difference) -> bool:
        """Tell whether one edit repairs both."""
        return self.verb == other.verb and (self.global_cause or bool(set(self.names) & set(other.names)))


def of_round_trip(calls: AdapterCalls, own: State, before: State, after: State) -> Iterator[Difference]:
    """Compare what ``from_hf(to_hf(before))`` gave with ``before``; ``own`` are the model's own values.

    What an adapter writes straight into the model, aliases that it adds, and buffers that it computes anew and to the
    same values, are as they should be. So is a wider dtype: installing the tensor narrows it to the same value.
    """
    direct = _loaded_through_views(calls.adapter)
    lost = tuple(n for n in sorted(before) if n not in after and n not in direct and not _is_derived(n))
    extra = tuple(n for n in sorted(after) if n not in before and not _is_alias(calls, before, after, n))
    if lost:
        instead = f"gives back {brief(extra)} instead" if extra else "gives nothing back for them"
        yield Difference(f"loses {counted(lost)}", lost, instead, "from_hf", extra)
    elif extra:
        yield Difference(f"adds {counted(extra)}", extra, "the model has no such tensors", "from_hf")
    both = [n for n in before if n in after]
    yield from _shapes(before, after, both)
    changed = [n for n in both if not _equal(before[n], after[n]) and not _recomputed(own[n], after[n])]
    yield from _values(before, after, [n for n in changed if before[n].shape == after[n].shape])


def of_lora(before: State, hf: State, after: State) -> Iterator[Difference]:
    """Compare low-rank adapters under native names, as PEFT saves them (``hf``), and as they come back."""
    lost, extra = tuple(sorted(before.keys() - after)), tuple(sorted(after.keys() - before))
    if lost:
        instead = f"a resumed run gets {brief(extra, 2)} instead" if extra else "a resumed run gets nothing for them"
        yield Difference(f"loses {counted(lost)} of LoRA", lost, instead, "from_hf", extra)
    both = [n for n in before if n in after]
    yield from _shapes(before, after, both)
    yield from _values(before, after, [n for n in both if not _equal(before[n], after[n])])
    outside = tuple(n for n in sorted(hf) if not n.startswith(PEFT_PREFIX))
    if outside:
        what = f"exports {counted(outside)} of LoRA without `{PEFT_PREFIX}` in front"
        yield Difference(
            what, outside, "PEFT finds none of them when it loads the exported adapter", "to_hf", global_cause=True
        )


def of_announced_names(calls: AdapterCalls) -> Iterator[Difference]:
    """Compare the names that the adapter announces for the whole model with those that it then writes."""
    announced = calls.hf_keys()
    if announced is None:
        return
    written = {n for n in calls.to_hf(calls.model.state_dict()) if not n.endswith(EXCLUDED_END)}
    method = "get_hf_state_dict_keys"
    if written - announced:
        names = tuple(sorted(written - announced))
        yield Difference(f"does not announce {counted(names)}", names, f"`{method}` lacks what `to_hf` writes", method)
    if announced - written:
        names = tuple(sorted(announced - written))
        yield Difference(f"announces {counted(names)} too many", names, "`to_hf` does not write them", method)


def of_single_tensors(
    calls: AdapterCalls, native: State, hf: State, broken: set[str], notes: list[str]
) -> Iterator[Difference]:
    """Compare what comes out tensor by tensor with what ``to_hf`` makes of the same tensor.

    A component of the model in which ``to_hf`` joins tensors is left out, since there nothing can come out right one by
    one; and one in which all keep their native names, which adapters do on purpose for those who read the weights.
    """
    method = "convert_single_tensor_to_hf"
    if not hasattr(calls.adapter, method):
        return
    alone = {name: _alone(calls, name, tensor) for name, tensor in native.items()}
    joined = {_component(name) for name, made in alone.items() if made is None or not _is_within(made, hf)}
    if joined:
        notes.append(f"tensor by tensor without {', '.join(sorted(joined))}")
    made_of = {name: calls.one_to_hf(name, native[name]) for name in native if _component(name) not in joined}
    kept = {_component(n) for n in made_of} - {_component(n) for n, one in made_of.items() if one.keys() != {n}}
    names, values = [], []
    for name, one in made_of.items():
        made = alone[name]
        if made is None or name in broken or _component(name) in kept:
            continue
        if one.keys() != made.keys():
            names.append(name)
        elif not all(one[n].dtype == made[n].dtype and _equal(made[n], one[n]) for n in made):
            values.append(name)
    if names:
        instead = tuple(made_of[names[0]])
        detail = f"`{method}` makes {brief(instead) or 'nothing'} of the first, `to_hf` {brief(alone[names[0]])}"
        yield Difference(f"renames {counted(names)} otherwise one by one", tuple(names), detail, method, instead)
    if values:
        detail = f"`{method}` and `to_hf` differ in values, shape or dtype"
        yield Difference(f"converts {counted(values)} otherwise one by one", tuple(values), detail, method)


def _shapes(before: State, after: State, both: list[str]) -> Iterator[Difference]:
    wrong = tuple(n for n in both if before[n].shape != after[n].shape)
    if wrong:
        sizes = f"{tuple(before[wrong[0]].shape)} comes back as {tuple(after[wrong[0]].shape)}"
        yield Difference(f"changes the shape of {counted(wrong)}", wrong, sizes, "from_hf")


def _values(before: State, after: State, wrong: list[str]) -> Iterator[Difference]:
    """Tell tensors that were rounded on the way from those that have other values altogether."""
    rounded = tuple(n for n in wrong if after[n].dtype != before[n].dtype)
    other = tuple(n for n in wrong if after[n].dtype == before[n].dtype)
    for names, verb in ((rounded, "rounds"), (other, "changes the values of")):
        if names:
            worst = max(float((before[n].double() - after[n].double()).abs().max()) for n in names)
            detail = f"off by up to {worst:.2g}"
            if names is rounded:
                was, now = (str(s[names[0]].dtype).removeprefix("torch.") for s in (before, after))
                detail = f"{was} comes back as {now}, {detail}"
            yield Difference(f"{verb} {counted(names)}", names, detail, "from_hf", global_cause=bool(rounded))


def _loaded_through_views(adapter: object) -> set[str]:
    """Names that ``from_hf`` leaves out because reading has written them into the model, where that is so (NAM909)."""
    if not claims_low_memory(adapter):
        return set()
    return set(getattr(adapter, "view_loaded_native_keys", None) or ())


def _is_derived(name: str) -> bool:
    return name.endswith(("inv_freq", ".freqs", "freqs_cis"))


def _is_alias(calls: AdapterCalls, before: State, after: State, name: str) -> bool:
    """Tell whether a name that came in addition is a second name of a tensor that the model saves under another."""
    tensor = calls.model.state_dict().get(name)
    return isinstance(tensor, torch.Tensor) and any(_equal(before[n], after[name]) for n in before)


def _recomputed(own: torch.Tensor, after: torch.Tensor) -> bool:
    return own.shape == after.shape and torch.allclose(own.double(), after.double(), rtol=1e-5, atol=0)


def _alone(calls: AdapterCalls, name: str, tensor: torch.Tensor) -> State | None:
    try:
        return calls.to_hf({name: tensor})
    except AdapterRaised:
        return None


def _is_within(part: State, whole: State) -> bool:
    return all(name in whole and _equal(whole[name], tensor) for name, tensor in part.items())


def _component(name: str) -> str:
    return name.removeprefix("model.").partition(".")[0]


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and torch.equal(one, other.to(one.dtype))


def counted(names: object) -> str:
    number = len(names)  # type: ignore[arg-type]
    return "one tensor" if number == 1 else f"{number} tensors"
