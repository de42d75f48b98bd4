"""Where in a model later tokens come to be seen by earlier ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from automodel_lint.probe.worker.subject import Subject

Call = tuple[str, list[torch.Tensor], list[torch.Tensor]]


def first_leaking(subject: Subject, model: nn.Module, shape: torch.Size, *both: dict[str, Any]) -> str:
    """Return the name of the first module whose output moves at earlier positions though its input does not.

    ``both`` are two inputs that differ in the last token of each row, ``shape`` is ``[B, S]``. An empty name if no
    module can be told.
    """
    first, second = ([*_calls(subject, model, arguments, shape)] for arguments in both)
    for (name, given, made), (other, given_then, made_then) in zip(first, second, strict=False):
        if name != other:
            return ""
        if _differ(made, made_then) and not _differ(given, given_then):
            return name
    return ""


def _calls(subject: Subject, model: nn.Module, arguments: dict[str, Any], shape: torch.Size) -> list[Call]:
    """Run a model and return the calls of its modules in the order of their ends, with what is at earlier positions."""
    calls: list[Call] = []

    def watch(name: str) -> Any:
        def ended(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
            calls.append((name, [*_earlier((args, kwargs), shape)], [*_earlier(output, shape)]))

        return ended

    hooks = [m.register_forward_hook(watch(name), with_kwargs=True) for name, m in model.named_modules()]
    try:
        with torch.no_grad():
            subject.run(model, arguments)
    finally:
        for hook in hooks:
            hook.remove()
    return calls


def _earlier(value: Any, shape: torch.Size) -> Iterator[torch.Tensor]:
    """Yield all but the last position of every tensor ``[B, S, …]`` or ``[B * S, …]`` in a value."""
    if isinstance(value, torch.Tensor):
        if value.shape[:2] == shape:
            yield value[:, :-1].detach().clone()
        elif value.dim() > 1 and len(value) == shape.numel():
            yield value.unflatten(0, shape)[:, :-1].detach().clone()
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _earlier(item, shape)
    elif isinstance(value, dict):
        yield from _earlier([*value.values()], shape)


def _differ(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return any(not torch.allclose(a.float(), b.float(), rtol=1e-4, atol=1e-5) for a, b in zip(one, other, strict=False))
