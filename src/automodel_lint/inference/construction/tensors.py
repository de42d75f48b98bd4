"""Tensors: how they are allocated, and what becomes of their dtype."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from automodel_lint.inference.construction import payload
from automodel_lint.inference.construction.heap import choice
from automodel_lint.inference.construction.truth import parts, text_of
from automodel_lint.inference.construction.values import (
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Choice,
    External_,
    Known,
    Method,
    Seq,
    TensorValue,
    Thing,
    Value,
)
from automodel_lint.inference.module_tree import Dtype, Place

if TYPE_CHECKING:
    from automodel_lint.inference.construction.interpreter import Interpreter

_ALIASES = {"float": "float32", "half": "float16", "double": "float64", "long": "int64", "int": "int32"}
_DTYPES = frozenset(
    "float32 float16 bfloat16 float64 int64 int32 int16 int8 uint8 bool complex64 complex128 float8_e4m3fn "
    "float8_e5m2 float8_e8m0fnu".split()
)
# Functions whose leading arguments are the shape.
_SIZED = frozenset({"empty", "zeros", "ones", "rand", "randn"})
_FROM_OTHER = frozenset({"empty_like", "zeros_like", "ones_like", "rand_like", "randn_like", "full_like"})
_ALLOCATING = _SIZED | _FROM_OTHER | {"full", "tensor", "arange", "linspace", "eye", "as_tensor", "from_numpy"}
_CASTS = {
    "float": "float32",
    "half": "float16",
    "bfloat16": "bfloat16",
    "double": "float64",
    "long": "int64",
    "bool": "bool",
}
_FEW = 4  # dtypes that give a variant each
_KEEPS_ROLE = frozenset({"normal_", "zero_", "fill_", "uniform_", "copy_", "data"})


def dtype_name(value: Value | None, expr: ast.AST | None = None) -> str | None:
    """Return the name of a dtype, or the config expression it comes from; ``None`` if the source leaves it open."""
    if isinstance(value, External_) and value.fqn.startswith("torch."):
        name = value.fqn.removeprefix("torch.")
        return _ALIASES.get(name, name) if name in _DTYPES or name in _ALIASES else None
    if isinstance(value, Thing):
        return None if "get_default_dtype" in value.text else value.text
    if isinstance(value, Choice):
        names = list(dict.fromkeys(dtype_name(v) for _, v in value.alternatives))
        if len(names) == 1:
            return names[0]
        open_names = [n for n in names if n and ("." in n or " " in n)]
        return open_names[0] if open_names else None
    if isinstance(value, TensorValue):
        return value.dtype.name if value.dtype else None
    return None


def dtype_of(value: Value | None, how: str = "dtype") -> Dtype | None:
    """Return a dtype as given by an argument."""
    name = dtype_name(value)
    if name is not None and isinstance(value, External_) and value.left_out is not None:
        return Dtype(name, "default", value.left_out)
    return Dtype(name, how) if name is not None else None


def left_out(value: Value, place: Place | None) -> Value:
    """Return a parameter's default; of a dtype it is kept which call left it out."""
    if isinstance(value, External_) and dtype_name(value) is not None:
        return External_(value.fqn, place)
    if isinstance(value, Known) and isinstance(value.value, str) and value.value.removeprefix("torch.") in _DTYPES:
        return Known(value.value, place)
    return value


def with_dtype(run: Interpreter, asked: Value | None, make: Callable[[Dtype | None], Value]) -> Value:
    """Return what ``make`` gives for a dtype argument; one of each where it is one of a few written dtypes."""
    sides = parts(asked, run.heap) if isinstance(asked, Choice) else []
    names = [dtype_name(v) for _, v in sides]
    if len(set(names)) > 1 and len(names) <= _FEW and all(n and "." not in n and " " not in n for n in names):
        return choice([(cond, make(dtype_of(v))) for cond, v in sides])
    return make(dtype_of(asked))


def call(run: Interpreter, fqn: str, args: list[Value], keywords: dict[str, Value], place: Place) -> Value | None:
    """Return what a function of torch gives; ``None`` if it is none that gives a tensor."""
    if not fqn.startswith("torch.") or fqn.startswith(("torch.nn.", "torch.cuda.", "torch.distributed.")):
        return None
    name = fqn.rpartition(".")[2]
    out = keywords.get("out")
    if isinstance(out, TensorValue) and out.names is not None:
        payload.wrote(out, args)
        return out
    if fqn == f"torch.{name}" and name in _ALLOCATING:
        new = set() if run.converting else None
        shape = _shape(name, args, keywords)
        other = args[0].dtype if name in _FROM_OTHER and args and isinstance(args[0], TensorValue) else None
        return with_dtype(run, keywords.get("dtype"), lambda d: TensorValue(d or other, shape, place, names=new))
    if name == "get_default_dtype":
        return Thing("torch.get_default_dtype()")
    if name == "is_tensor" and args:
        return TRUE if isinstance(args[0], TensorValue) else FALSE
    if name[:1].islower() and fqn == f"torch.{name}" and name not in ("device", "compile", "jit", "dtype"):
        return _derived(args, place)
    return None


def _derived(args: list[Value], place: Place) -> Value | None:
    """A function of tensors: the dtype of the first, if it has one of its own."""
    given = [a for a in args if isinstance(a, TensorValue)]
    given += [i for a in args if isinstance(a, Seq) for i in (*a.items, *a.star) if isinstance(i, TensorValue)]
    if not given:
        return None
    return TensorValue(given[0].dtype, None, place, names=payload.names_in(args))


def _shape(name: str, args: list[Value], keywords: dict[str, Value]) -> str | None:
    sizes = list(args)
    if name == "full":
        sizes = args[:1]
    elif name not in _SIZED:
        return None
    if "size" in keywords:
        sizes = [keywords["size"]]
    if len(sizes) == 1 and isinstance(sizes[0], Seq):
        if sizes[0].star:
            return None
        sizes = list(sizes[0].items)
    return shape_text(sizes)


def shape_text(sizes: list[Value]) -> str | None:
    """Return a shape as a person would write it over the config; ``None`` if a size is unknown."""
    texts = []
    for size in sizes:
        if not isinstance(size, (Known, Thing)):
            return None
        texts.append(text_of(size, ast.Name("?")))
    return f"[{', '.join(texts)}]"


def attribute(owner: TensorValue, name: str) -> Value:
    """Return an attribute of a tensor."""
    if owner.names is not None and name != "dtype":
        return payload.attribute(owner, name)
    if name == "dtype":
        return (
            External_(f"torch.{owner.dtype.name}")
            if owner.dtype is not None and owner.dtype.is_fixed
            else (Thing(owner.dtype.name) if owner.dtype is not None else UNKNOWN)
        )
    if name in ("data", "T", "mT", "real"):
        return owner if name == "data" else replace(owner, role="")
    return Method(owner, name)


def method(run: Interpreter, owner: TensorValue, name: str, args: list[Value], keywords: dict[str, Value]) -> Value:
    """Return what calling a method of a tensor gives."""
    told = payload.method(owner, name, args, keywords) if owner.names is not None else None
    if told is not None:
        return told
    if name in _CASTS:
        return replace(owner, role="", dtype=Dtype(_CASTS[name], "float"))
    if name in ("to", "type"):
        given = [keywords["dtype"]] if "dtype" in keywords else args
        for value in given:
            dtype = dtype_of(value, "to")
            if dtype is not None and _is_dtype(value):
                return replace(owner, role="", dtype=dtype)
        return replace(owner, role="")
    if name == "requires_grad_":
        freeze(run, owner, args[0] if args else TRUE)
        return owner
    if name in ("size", "numel", "dim", "item", "tolist", "stride", "element_size", "data_ptr"):
        return Thing(f"{name}()")
    if name.startswith("register_"):
        return UNKNOWN
    if name.startswith("new_"):
        dtype = dtype_of(keywords["dtype"], "to") if "dtype" in keywords else owner.dtype
        return replace(owner, role="", dtype=dtype, shape=None, names=None if owner.names is None else set())
    return owner if name in _KEEPS_ROLE else replace(owner, role="", shape=None)


def _is_dtype(value: Value) -> bool:
    if isinstance(value, External_):
        return True
    return isinstance(value, (Thing, Choice)) and "dtype" in (dtype_name(value) or "")


def as_parameter(value: Value, keywords: dict[str, Value], args: list[Value], place: Place) -> Value:
    """Return ``nn.Parameter(value)``."""
    tensor = value if isinstance(value, TensorValue) else TensorValue(None, None, place)
    given = keywords.get("requires_grad", args[1] if len(args) > 1 else NONE)
    trainable = not (isinstance(given, Known) and given.value is False)
    return replace(tensor, role="parameter", trainable=trainable, place=place)


def as_buffer(value: Value, persistent: bool, place: Place | None = None) -> Value:
    """Return a tensor as a buffer."""
    tensor = value if isinstance(value, TensorValue) else TensorValue(None, None, place or Place("", ast.Pass()))
    return replace(tensor, role="buffer", persistent=persistent, place=place or tensor.place)


def freeze(run: Interpreter, tensor: TensorValue, wanted: Value) -> None:
    """Execute ``tensor.requires_grad = wanted``; in a branch a tensor from outside may be trained all the same."""
    if isinstance(wanted, Known) and run.heap.is_fresh(tensor):
        for one in (tensor, tensor.origin):
            if one is not None:
                one.trainable = bool(wanted.value)


def cast_to(name: str, args: list[Value], keywords: dict[str, Value]) -> Dtype | None:
    """Return the dtype that ``module.<name>(…)`` casts to; ``None`` if it does not cast."""
    if name in _CASTS:
        return Dtype(_CASTS[name], "float")
    for value in [keywords["dtype"]] if "dtype" in keywords else args if name in ("to", "type") else ():
        if _is_dtype(value):
            return dtype_of(value, "to")
    return None


def cast(tensor: TensorValue, dtype: Dtype) -> None:
    """Cast a tensor of a module in place; one of whole numbers stays as it is."""
    whole = tensor.dtype is not None and tensor.dtype.name.startswith(("int", "uint", "bool"))
    if not whole:
        tensor.dtype = dtype
