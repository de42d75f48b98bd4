"""Which tensors a tensor was made of, followed through every torch function that is called meanwhile."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class Marks(TorchFunctionMode):
    """While it is entered, every tensor carries the names of those it was made of."""

    def __init__(self) -> None:
        super().__init__()
        self.written: dict[int, tuple[Any, set[str]]] = {}  # by storage, kept alive: marks that arrived by a write

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        found = set().union(*(self.of(tensor) for tensor in _tensors((args, kwargs))))
        if found and not name.startswith("new_") and not name.endswith("_like"):  # new, if after another's form
            for tensor in _tensors(result):
                tensor._marks = self.of(tensor) | found
            written = _tensors((kwargs or {}).get("out"))
            if name == "__setitem__" or (name.endswith("_") and not name.endswith("__")):
                written += _tensors(args[:1])
            for tensor in written:
                with torch._C.DisableTorchFunction():
                    storage = tensor.untyped_storage()
                self.written.setdefault(storage._cdata, (storage, set()))[1].update(found)
        return result

    def of(self, tensor: torch.Tensor) -> set[str]:
        """The names that a tensor was made of."""
        with torch._C.DisableTorchFunction():
            return (
                getattr(tensor, "_marks", set()) | self.written.get(tensor.untyped_storage()._cdata, (None, set()))[1]
            )


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for v in value for t in _tensors(v)] if isinstance(value, (list, tuple)) else []


def marked(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The same tensors, each in a storage of its own and marked with its name."""
    found = {}
    for name, tensor in state.items():
        found[name] = tensor.detach().clone() if isinstance(tensor, torch.Tensor) else tensor
        if isinstance(tensor, torch.Tensor):
            found[name]._marks = {name}
    return found


def followed(convert: Any, state: dict[str, torch.Tensor]) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Convert a state dict; return which names came out of which, and what came out."""
    given = marked(state)
    with Marks() as marks:
        made = convert(dict(given))
        pairs: dict[str, list[str]] = {name: [] for name in state}
        for name, value in made.items():
            for origin in sorted(marks.of(value)) if isinstance(value, torch.Tensor) else ():
                pairs[origin].append(name)
            if not isinstance(value, torch.Tensor) or not marks.of(value):
                pairs.setdefault("", []).append(name)
    return pairs, made
