"""Tensors of a state dict on their way through an adapter: which names went into what comes out."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from automodel_lint.inference.construction.values import (
    FALSE,
    TRUE,
    Choice,
    Known,
    Map,
    Method,
    Seq,
    TensorValue,
    Thing,
    Value,
)
from automodel_lint.inference.module_tree import Place

_NOTHING: set[str] = set()
_DEEPEST = 4  # containers in containers that are looked through for tensors
# What only a distributed tensor has.
_DISTRIBUTED = frozenset("to_local full_tensor redistribute device_mesh placements _local_tensor _spec".split())
_VIEWS = frozenset("data T mT H mH real imag grad _local_tensor".split())
_FACTS = frozenset(
    "device layout is_cuda is_cpu is_meta is_sparse is_quantized is_contiguous requires_grad is_leaf itemsize nbytes "
    "device_mesh placements names grad_fn is_nested is_mps is_xpu".split()
)


def names_in(values: Iterable[Value], deep: int = _DEEPEST) -> set[str] | None:
    """Return the names of all tensors in some values; ``None`` if there is no tensor that is followed."""
    found: set[str] | None = None
    for value in values:
        more: set[str] | None = None
        if isinstance(value, TensorValue):
            more = value.names
        elif deep and isinstance(value, Seq):
            more = names_in((*value.items, *value.star), deep - 1)
        elif deep and isinstance(value, Map):
            more = names_in(value.slots.values(), deep - 1)
        elif isinstance(value, Choice):
            more = names_in((v for _, v in value.alternatives), deep)
        if more is not None:
            found = more | (found or set())
    return found


def outcome(args: Iterable[Value], keywords: dict[str, Value], place: Place) -> TensorValue | None:
    """Return what a function that cannot be followed makes of tensors; ``None`` if it is given none."""
    names = names_in((*args, *keywords.values()))
    return TensorValue(None, None, place, names=names) if names is not None else None


def together(before: Value, value: Value) -> TensorValue | None:
    """Return what stands for all that is under names that cannot be told; ``None`` if it is no tensors."""
    names = names_in((before, value))
    single = value if isinstance(value, TensorValue) else before
    return replace(single, names=set(names)) if names is not None and isinstance(single, TensorValue) else None


def replaced(before: Value | None, value: Value) -> set[str]:
    """Return the names of a tensor whose place in a dict another one takes, that is not made of it."""
    if not isinstance(before, TensorValue) or not before.names or not isinstance(value, TensorValue):
        return _NOTHING
    return before.names - (value.names or _NOTHING)


def attribute(owner: TensorValue, name: str) -> Value:
    """Return an attribute of a tensor that is followed."""
    sizes = sizes_of(owner)
    if name == "shape":
        return Seq(sizes) if sizes is not None else Thing(f"{text(owner)}.shape")
    if name == "ndim":
        return Known(len(sizes)) if sizes is not None else Thing(f"{text(owner)}.ndim")
    if name in _VIEWS:
        return owner if name == "data" else replace(owner, role="", shape=None)
    return Thing(f"{text(owner)}.{name}") if name in _FACTS and name != "is_contiguous" else Method(owner, name)


def method(owner: TensorValue, name: str, args: list[Value], keywords: dict[str, Value]) -> Value | None:
    """Call a method that tells something of a tensor or writes into it; ``None`` for all others."""
    sizes = sizes_of(owner)
    if name in ("dim", "ndimension"):
        return Known(len(sizes)) if sizes is not None else Thing(f"{text(owner)}.ndim")
    if name == "size":
        shape = attribute(owner, "shape")
        at = args[0].value if args and isinstance(args[0], Known) else None
        if isinstance(shape, Seq) and isinstance(at, int) and -len(shape.items) <= at < len(shape.items):
            return shape.items[at]
        return shape if not args else Thing(f"{text(owner)}.shape[{at}]")
    if name in ("numel", "item", "tolist", "stride", "element_size", "data_ptr", "storage_offset", "get_device") or (
        name.startswith("is_")
    ):
        return Thing(f"{text(owner)}.{name}()")
    if name.endswith("_") and not name.endswith("__"):
        wrote(owner, (*args, *keywords.values()))
        return owner
    return None


def wrote(owner: TensorValue, values: Iterable[Value]) -> None:
    """Something is written into a tensor: whatever looks at the same storage is made of that as well."""
    if owner.names is not None:
        owner.names |= names_in(values) or set()


def text(owner: TensorValue) -> str:
    """Return a tensor as conditions name it: two tensors never by the same text."""
    return f"state_dict[{min(owner.names)!r}]" if owner.names else "a new tensor"


def is_a(kind: str) -> bool | None:
    """Tell whether a plain tensor is an instance of a class of torch."""
    if not kind.startswith(("torch.", "builtins.")):
        return None
    return kind.startswith("torch.") and kind.rpartition(".")[2] == "Tensor"


def has(name: str) -> Value | None:
    """Tell whether a plain tensor has an attribute; ``None`` if it is not known."""
    if name in _DISTRIBUTED:
        return FALSE
    return TRUE if name in _VIEWS or name in _FACTS or name in ("shape", "dtype", "ndim") else None


def sizes_of(owner: TensorValue) -> list[Value] | None:
    """Return the sizes of a tensor, over the config; ``None`` if its shape is not known."""
    found = _sizes(owner.shape) if owner.shape else None
    return list(found) if found is not None else None


@lru_cache(maxsize=2048)
def _sizes(shape: str) -> tuple[Value, ...] | None:
    texts = sizes_as_written(shape)
    return None if texts is None else tuple(Known(int(t)) if t.isdigit() else Thing(t) for t in texts)


def sizes_as_written(shape: str | None) -> list[str] | None:
    """Return the sizes of a shape that is written over the config."""
    try:
        row = ast.parse(shape or "", mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(row, ast.List):
        return None
    return [ast.get_source_segment(shape or "", size) or "?" for size in row.elts]


def is_distributed(fqn: str) -> Value | None:
    """Answer questions about the process group: an adapter is asked outside of any."""
    if fqn in ("torch.distributed.is_initialized", "torch.distributed.is_available"):
        return FALSE
    return Known(1) if fqn == "torch.distributed.get_world_size" else None
