"""What the reference implementation makes of the checkpoint that an adapter writes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import torch

from automodel_lint.probe.worker import building, environment
from automodel_lint.probe.worker.adapter_calls import State
from automodel_lint.probe.worker.adapter_differences import Difference, counted
from automodel_lint.probe.worker.checks import NotProbed
from automodel_lint.probe.worker.errors import one_line
from automodel_lint.probe.worker.reference import Reference
from automodel_lint.probe.worker.subject import Subject


def unread_by_reference(subject: Subject, native: State, hf: State, notes: list[str]) -> Iterator[Difference]:
    """Load ``hf``, which ``to_hf`` made of ``native``, with the reference's own loading, its renames included.

    Names are wrong where the reference misses some and does not know others. Where it only misses some, or only does
    not know some, the model has other tensors than the reference: not the adapter's doing.

    Raises:
        NotProbed: without a reference of the class's own architecture, or if it cannot load anything.
    """
    reference = Reference.of(subject)
    if reference.cls.__name__ not in (*subject.target.architectures, subject.cls.__name__):
        raise NotProbed(f"the nearest class of transformers is {reference.cls.__name__}")
    missing, unknown, shapes = _load(subject, reference, hf)
    notes.append(f"{len(hf)} names read by {reference.cls.__name__} of transformers")
    if missing and unknown and not _is_part_of_larger(missing, unknown):
        detail = f"{reference.cls.__name__} of transformers misses {counted(missing)}"
        what = f"writes {counted(unknown)} that the reference does not know"
        yield Difference(what, tuple(unknown), detail, "to_hf", tuple(missing))
    elif missing or unknown:
        other = f"misses {len(missing)}" if missing else f"does not know {len(unknown)}"
        notes.append(f"of which it {other}: other tensors or the layout of a larger model")
    turned = {n: sizes for n, sizes in shapes.items() if n in hf and not any(_same(t, hf[n]) for t in native.values())}
    if turned:
        first, (ours, theirs) = next(iter(turned.items()))
        detail = f"{first} is {ours}, for the reference {theirs}"
        yield Difference(f"writes {counted(turned)} in another layout", tuple(turned), detail, "to_hf")


def _load(subject: Subject, reference: Reference, hf: State) -> tuple[list[str], list[str], dict[str, tuple]]:
    state = {name: tensor.detach().clone().contiguous() for name, tensor in hf.items()}
    arguments: dict[str, Any] = {"output_loading_info": True, "ignore_mismatched_sizes": True}
    reference.model()  # what is too large, or cannot be constructed, says so there
    config = _own_model_types(reference.config())
    config._attn_implementation = "eager"
    try:
        with (
            warnings.catch_warnings(),
            environment.on_cpu(subject.observed),
            building.default_dtype(torch.get_default_dtype()),
        ):
            warnings.simplefilter("ignore")
            _, info = reference.cls.from_pretrained(None, config=config, state_dict=state, **arguments)
    except Exception as error:
        text = one_line(error, "transformers")
        raise NotProbed(f"{reference.cls.__name__} of transformers cannot load a state dict: {text}") from error
    shapes = {name: (tuple(ours), tuple(theirs)) for name, ours, theirs in info.get("mismatched_keys", ())}
    return sorted(info["missing_keys"]), sorted(info["unexpected_keys"]), shapes


def _own_model_types(config: Any) -> Any:
    """Give every part the model type of its class, by which transformers finds the renames for it."""
    for part in (config, *(v for v in vars(config).values() if hasattr(v, "to_dict") and not isinstance(v, type))):
        own = getattr(type(part), "model_type", None)
        if own and getattr(part, "model_type", own) != own:
            part.model_type = own
    return config


def _is_part_of_larger(missing: list[str], unknown: list[str]) -> bool:
    """Tell whether the names only stand under a prefix: the layout of a checkpoint in which this model is a part."""
    for prefix in {name[: -len(end)] for name in unknown for end in missing[:1] if name.endswith(end)}:
        stripped = {name.removeprefix(prefix) for name in unknown if name.startswith(prefix)}
        if prefix and set(missing) <= stripped:
            return True
    return False


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and torch.equal(one, other)
