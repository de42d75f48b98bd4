"""Instances of the modules whose tensors are known as data: what a call of their class gives."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from automodel_lint.inference.construction import tensors
from automodel_lint.inference.construction.heap import choice, same
from automodel_lint.inference.construction.torch_specs import DICTS, LISTS, Spec, TensorSpec, key_of, spec_of
from automodel_lint.inference.construction.truth import as_test, negated, text_of
from automodel_lint.inference.construction.values import (
    ABSENT,
    NONE,
    TRUE,
    UNKNOWN,
    Known,
    Map,
    Obj,
    Seq,
    Spread,
    TensorValue,
    Test,
    Thing,
    Unknown,
    Value,
)
from automodel_lint.inference.module_tree import Dtype, Place
from automodel_lint.inference.names import ClassEntity

if TYPE_CHECKING:
    from automodel_lint.inference.construction.interpreter import Interpreter


def make(run: Interpreter, fqn: str, args: list[Value], keywords: dict[str, Value], place: Place) -> Obj | None:
    """Return an instance of a class of the tables; ``None`` if ``fqn`` is none of them."""
    if key_of(fqn) is None:
        return None
    made = Obj(None, fqn, True, place)
    _contain(run, made, fqn.rpartition(".")[2])
    construct(run, made, fqn, args, keywords)
    return made


def prepare(run: Interpreter, made: Obj, cls: ClassEntity) -> None:
    """Give an instance of a subclass of a container its container."""
    for ancestor in run.mro(cls):
        if not isinstance(ancestor, ClassEntity) and ancestor.fqn.startswith("torch.nn."):
            _contain(run, made, ancestor.fqn.rpartition(".")[2])


def _contain(run: Interpreter, made: Obj, name: str) -> None:
    if name in LISTS:
        made.items = Seq(depth=run.depth)
    elif name in DICTS:
        made.items = Map()
    made.holds_parameters = made.holds_parameters or name.startswith("Parameter")


def construct(run: Interpreter, made: Obj, fqn: str, args: list[Value], keywords: dict[str, Value]) -> bool:
    """Run the constructor of a class of the tables on ``made``; tell whether it is one."""
    key = key_of(fqn)
    if key is None:
        return False
    name = fqn.rpartition(".")[2]
    spec = spec_of(key)
    if made.items is not None and name in LISTS | DICTS:
        _fill(run, made, name, args, keywords)
    elif name == "MultiheadAttention":
        _attention(run, made, args, keywords)
    elif spec is not None:
        _allocate(run, made, spec, args, keywords)
    return True


def _fill(run: Interpreter, made: Obj, name: str, args: list[Value], keywords: dict[str, Value]) -> None:
    given = args[0] if args else next(iter(keywords.values()), None)
    if isinstance(made.items, Map):
        if given is not None:
            run.containers.call(made.items, "update", [given], {})
        return
    assert isinstance(made.items, Seq)
    if name == "Sequential" and given is not None and isinstance(run.single(given), Map):
        made.items = run.single(given)  # type: ignore[assignment]
    elif name == "Sequential":
        for value in args:
            if isinstance(value, Spread):
                run.containers.extend(made.items, Seq((), value.values))
            else:
                run.containers.append(made.items, value)
    elif given is not None:
        run.containers.extend(made.items, run.loops.elements(given, ""))


def _allocate(run: Interpreter, made: Obj, spec: Spec, args: list[Value], keywords: dict[str, Value]) -> None:
    given: dict[str, Value] = spec.given(args, keywords)
    for name, default in spec.defaults().items():
        given.setdefault(name, Known(default))
    for name, _ in spec.parameters:
        value = given.get(name, NONE)
        made.slots.setdefault(name, UNKNOWN if isinstance(value, Unknown) else value)
    asked = given.get("dtype", given.get("params_dtype"))
    for tensor in spec.tensors:
        made.slots[tensor.name] = _tensor(run, made, tensor, given, asked)
        if tensor.role != "parameter":
            made.buffers[tensor.name] = True


def _tensor(run: Interpreter, made: Obj, tensor: TensorSpec, given: dict[str, Value], asked: Value | None) -> Value:
    role = "parameter" if tensor.role == "parameter" else "buffer"
    shape = _shape(tensor, given)
    if tensor.role == "counter":
        value: Value = TensorValue(Dtype("int64"), "[]", made.place, role)
    else:
        value = tensors.with_dtype(run, asked, lambda dtype: TensorValue(dtype, shape, made.place, role))
    return _flagged(run, value, tensor.flags, given)


def _flagged(run: Interpreter, value: Value, flags: tuple[str, ...], given: dict[str, Value]) -> Value:
    """Return a tensor that is only there if its flags are true (a tensor given as a flag is)."""
    for flag in flags:
        asked = given.get(flag, TRUE)
        test = TRUE if isinstance(asked, TensorValue) else as_test(asked, text_of(asked, ast.Name(flag)), run.heap)
        if isinstance(test, Test):
            value = choice([((test.condition,), value), ((negated(test.condition),), ABSENT)])
        elif test is not TRUE:
            return NONE
    return value


def _shape(tensor: TensorSpec, given: dict[str, Value]) -> str | None:
    sizes: list[Value] = []
    for size in tensor.shape:
        over, _, under = size.partition(" / ")
        over, _, times = over.partition("^")
        value = given.get(over, Known(int(over)) if over.isdigit() else None)
        if under:
            value = _divided(value, given.get(under))
        if isinstance(value, Seq) and not value.star:
            sizes += value.items
        elif value is None:
            return None
        else:
            sizes += [value] * (int(times) if times and isinstance(value, (Known, Thing)) else 1)
    return tensors.shape_text(sizes) if sizes else None


def _divided(value: Value | None, divisor: Value | None) -> Value | None:
    if isinstance(divisor, Known) and divisor.value == 1:
        return value
    if isinstance(value, Known) and isinstance(divisor, Known):
        return Known(value.value // divisor.value) if divisor.value else None
    if isinstance(value, (Thing, Known)) and isinstance(divisor, (Thing, Known)):
        return Thing(f"{text_of(value, ast.Name('?'))} // {text_of(divisor, ast.Name('?'))}")
    return None


_ATTENTION = "embed_dim num_heads dropout bias add_bias_kv add_zero_attn kdim vdim batch_first device dtype".split()


def _attention(run: Interpreter, made: Obj, args: list[Value], keywords: dict[str, Value]) -> None:
    """``nn.MultiheadAttention``: one packed input projection, or three where key or value has a size of its own."""
    given = dict(zip(_ATTENTION, args, strict=False)) | keywords
    given.setdefault("bias", TRUE)
    given.setdefault("add_bias_kv", Known(False))
    size = given.get("embed_dim", NONE)

    def parameter() -> Value:
        return tensors.with_dtype(run, given.get("dtype"), lambda d: TensorValue(d, None, made.place, "parameter"))

    packed = all(_is_size(given.get(name, NONE), size) for name in ("kdim", "vdim"))
    names = ("in_proj_weight",) if packed else ("q_proj_weight", "k_proj_weight", "v_proj_weight")
    for name in names:
        made.slots[name] = parameter()
    made.slots["in_proj_bias"] = _flagged(run, parameter(), ("bias",), given)
    for name in ("bias_k", "bias_v"):
        made.slots[name] = _flagged(run, parameter(), ("add_bias_kv",), given)
    words = {"bias": given["bias"], "dtype": given.get("dtype", NONE)}
    made.slots["out_proj"] = make(run, "torch.nn.Linear", [size, size], words, made.place)  # type: ignore[assignment]


def _is_size(value: Value, size: Value) -> bool:
    """Whether a size of keys or values is that of the embedding: not given, or the same."""
    if isinstance(value, Known) and value.value is None:
        return True
    return same(value, size) or (isinstance(value, Thing) and isinstance(size, Thing) and value.text == size.text)
