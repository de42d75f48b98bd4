"""Ask the adapter of every registered class, on a tiny configuration, which key it really makes of which.

    python -m truth.adapter_keys OUT.json [--arch A ...] [--jobs 2] [--timeout 120]

Runs like ``truth/construct.py``, and writes what that writes. A class whose model has a ``state_dict_adapter`` has a
record ``adapter`` as well: its class, and under ``to_hf`` what that makes of the whole state dict of the model, under
``from_hf`` what that makes of the result. Each is a map from the name that went in to the names that came out; a name
that nothing came out of has none. Names that came out of no other name are listed under ``""``.

Which name a tensor came from is followed, not guessed: every torch function hands the marks of its arguments on to its
result, and what writes into a tensor marks it.
"""

from __future__ import annotations

import copy
import sys
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from truth.construct import described, main, one_line

PACKAGE = "nemo_automodel"


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


def mapped(model: torch.nn.Module) -> dict[str, Any]:
    """What a model consists of, and what its adapter makes of the names."""
    adapter = getattr(model, "state_dict_adapter", None)
    found: dict[str, Any] = {"adapter": None}
    if adapter is not None:
        found["adapter"] = record = {
            "class": type(adapter).__qualname__,
            "to_hf": None,
            "from_hf": None,
            "reason": None,
        }
        try:
            record["to_hf"], made = followed(copy.copy(adapter).to_hf, model.state_dict())
            record["from_hf"], _ = followed(copy.copy(adapter).from_hf, made)
        except Exception as error:
            record["reason"] = one_line(error, PACKAGE)
    return described(model) | found


if __name__ == "__main__":
    sys.exit(main(describe=mapped, what=__doc__))
