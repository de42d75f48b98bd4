"""The modules of ``torch.nn`` and of kernel libraries that every model is made of, as plain data.

Their parameters and buffers are part of each library's stable interface, so their source need not be at hand. A spec
is a signature and the tensors: ``name``, ``name?flag`` (only if that argument is true), ``name!buffer``; after the
colon the shape, over the arguments.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from automodel_lint.inference.construction import tensors
from automodel_lint.inference.construction.heap import choice
from automodel_lint.inference.construction.truth import as_test, negated, text_of
from automodel_lint.inference.construction.values import (
    ABSENT,
    NONE,
    TRUE,
    Known,
    Map,
    Obj,
    Seq,
    TensorValue,
    Test,
    Thing,
    Value,
)
from automodel_lint.inference.module_tree import Place
from automodel_lint.inference.names import ClassEntity

if TYPE_CHECKING:
    from automodel_lint.inference.construction.interpreter import Interpreter

_LISTS = frozenset({"ModuleList", "ParameterList", "Sequential"})
_DICTS = frozenset({"ModuleDict", "ParameterDict"})
_CONV = "in_channels, out_channels, kernel_size, stride, padding, dilation, groups=1, bias=True"
_CONV_T = "in_channels, out_channels, kernel_size, stride, padding, output_padding, groups=1, bias=True"
_CONV_SHAPES = ("weight: out_channels, in_channels / groups, kernel_size", "bias?bias: out_channels")
_CONV_T_SHAPES = ("weight: in_channels, out_channels / groups, kernel_size", "bias?bias: out_channels")
_BATCH = "num_features, eps, momentum, affine=True, track_running_stats=True"
_BATCH_TENSORS = (
    "weight?affine: num_features",
    "bias?affine: num_features",
    "running_mean?track_running_stats!buffer: num_features",
    "running_var?track_running_stats!buffer: num_features",
    "num_batches_tracked?track_running_stats!buffer",
)
_LINEAR = ("in_features, out_features, bias=True", "weight: out_features, in_features", "bias?bias: out_features")
_NORM = ("normalized_shape, eps", "weight: normalized_shape")

_SPECS: dict[str, tuple[str, ...]] = {
    "torch.nn.Linear": _LINEAR,
    "torch.nn.Bilinear": (
        "in1_features, in2_features, out_features, bias=True",
        "weight: out_features, in1_features, in2_features",
        "bias?bias: out_features",
    ),
    "torch.nn.Embedding": ("num_embeddings, embedding_dim", "weight: num_embeddings, embedding_dim"),
    "torch.nn.EmbeddingBag": ("num_embeddings, embedding_dim", "weight: num_embeddings, embedding_dim"),
    "torch.nn.LayerNorm": (
        "normalized_shape, eps, elementwise_affine=True, bias=True",
        "weight?elementwise_affine: normalized_shape",
        "bias?elementwise_affine?bias: normalized_shape",
    ),
    "torch.nn.RMSNorm": (
        "normalized_shape, eps, elementwise_affine=True",
        "weight?elementwise_affine: normalized_shape",
    ),
    "torch.nn.GroupNorm": (
        "num_groups, num_channels, eps, affine=True",
        "weight?affine: num_channels",
        "bias?affine: num_channels",
    ),
    "torch.nn.PReLU": ("num_parameters=1, init", "weight: num_parameters"),
    **{f"torch.nn.Conv{n}d": (_CONV, *_CONV_SHAPES) for n in (1, 2, 3)},
    **{f"torch.nn.ConvTranspose{n}d": (_CONV_T, *_CONV_T_SHAPES) for n in (1, 2, 3)},
    **{f"torch.nn.BatchNorm{n}d": (_BATCH, *_BATCH_TENSORS) for n in (1, 2, 3)},
    "torch.nn.SyncBatchNorm": (_BATCH, *_BATCH_TENSORS),
    "transformer_engine.Linear": ("in_features, out_features, sequence_parallel, bias=True", *_LINEAR[1:]),
    "transformer_engine.RMSNorm": _NORM,
    "transformer_engine.LayerNorm": (*_NORM, "bias: normalized_shape"),
    "transformer_engine.DotProductAttention": ("num_attention_heads, kv_channels",),
    "transformer_engine.GroupedLinear": (
        "num_gemms, in_features, out_features, sequence_parallel, bias=True",
        "weight*: out_features, in_features",
        "bias*?bias: out_features",
    ),
    "transformer_engine.Fp8Padding": ("num_gemms",),
    "transformer_engine.Fp8Unpadding": ("num_gemms",),
    "quack.Linear": _LINEAR,
    "quack.QuackRMSNorm": _NORM,
    "fla.FusedRMSNormGated": ("hidden_size, elementwise_affine=True", "weight?elementwise_affine: hidden_size"),
    "fla.RMSNorm": ("hidden_size, elementwise_affine=True", "weight?elementwise_affine: hidden_size"),
    "fla.ShortConvolution": (
        "hidden_size, kernel_size, bias=False",
        "weight: hidden_size, 1, kernel_size",
        "bias?bias: hidden_size",
    ),
    "mamba_ssm.RMSNorm": ("hidden_size, eps", "weight: hidden_size"),
    "timm.DropPath": ("drop_prob",),
}  # fmt: skip
# Classes of ``torch.nn`` that hold no tensor: activations, dropouts, reshaping, pooling, losses.
_EMPTY = frozenset(
    "Module Identity ReLU ReLU6 GELU SiLU Mish Tanh Sigmoid Softmax Softmax2d LogSoftmax Softplus Softsign "
    "ELU CELU SELU GLU LeakyReLU LogSigmoid Hardtanh Hardswish Hardsigmoid Hardshrink Softshrink Tanhshrink "
    "Threshold RReLU Softmin Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout Flatten "
    "Unflatten Upsample UpsamplingNearest2d UpsamplingBilinear2d PixelShuffle PixelUnshuffle Fold Unfold "
    "ZeroPad1d ZeroPad2d ZeroPad3d ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d ReflectionPad2d "
    "ReplicationPad1d ReplicationPad2d AvgPool1d AvgPool2d AvgPool3d MaxPool1d MaxPool2d MaxPool3d "
    "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d "
    "CrossEntropyLoss BCELoss BCEWithLogitsLoss MSELoss L1Loss SmoothL1Loss NLLLoss KLDivLoss HuberLoss "
    "CosineSimilarity PairwiseDistance CosineEmbeddingLoss ChannelShuffle LocalResponseNorm".split()
)


@dataclass(frozen=True)
class _Tensor:
    name: str
    flags: tuple[str, ...]
    is_buffer: bool
    shape: tuple[str, ...]


@dataclass(frozen=True)
class _Spec:
    parameters: tuple[tuple[str, str | None], ...]
    tensors: tuple[_Tensor, ...]


@cache
def _spec(key: str) -> _Spec | None:
    written = _SPECS.get(key)
    if written is None:
        return None
    signature, *rows = written
    parameters = []
    for part in signature.split(", "):
        name, equals, default = part.partition("=")
        parameters.append((name, default if equals else None))
    return _Spec(tuple(parameters), tuple(_tensor(row) for row in rows))


def _tensor(row: str) -> _Tensor:
    head, _, shape = row.partition(": ")
    head, buffer, _ = head.partition("!")
    name, *flags = head.split("?")
    return _Tensor(name, tuple(flags), bool(buffer), tuple(shape.split(", ")) if shape else ())


def key_of(fqn: str) -> str | None:
    """Return the key of a class in the tables; ``None`` if it is none of them."""
    top, _, rest = fqn.partition(".")
    name = rest.rpartition(".")[2]
    key = f"torch.nn.{name}" if fqn.startswith("torch.nn.") else f"{top}.{name}"
    if fqn == "torch.nn" or not (key in _SPECS or name in _LISTS | _DICTS | _EMPTY or name == "MultiheadAttention"):
        return None
    return key if key in _SPECS or fqn.startswith("torch.nn.") else None


def make(run: Interpreter, fqn: str, args: list[Value], keywords: dict[str, Value], place: Place) -> Obj | None:
    """Return an instance of a class of the tables; ``None`` if ``fqn`` is none of them."""
    key = key_of(fqn)
    if key is None:
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
    if name in _LISTS:
        made.items = Seq(depth=run.depth)
    elif name in _DICTS:
        made.items = Map()


def construct(run: Interpreter, made: Obj, fqn: str, args: list[Value], keywords: dict[str, Value]) -> bool:
    """Run the constructor of a class of the tables on ``made``; tell whether it is one."""
    key = key_of(fqn)
    if key is None:
        return False
    name = fqn.rpartition(".")[2]
    if made.items is not None and name in _LISTS | _DICTS:
        _fill(run, made, name, args, keywords)
    elif name == "MultiheadAttention":
        _attention(run, made, args, keywords)
    elif key in _SPECS:
        spec = _spec(key)
        assert spec is not None
        _allocate(run, made, spec, args, keywords)
    return True


def _fill(run: Interpreter, made: Obj, name: str, args: list[Value], keywords: dict[str, Value]) -> None:
    given = args[0] if args else next(iter(keywords.values()), None)
    if isinstance(made.items, Map):
        if given is not None:
            run.containers.call(made.items, "update", [given], {})
    elif name == "Sequential" and args and isinstance(run.single(args[0]), Map):
        made.items = run.single(args[0])  # type: ignore[assignment]
    elif name == "Sequential":
        for value in args:
            run.containers.append(made.items, value)  # type: ignore[arg-type]
    elif given is not None:
        run.containers.extend(made.items, run.loops.elements(given, ""))  # type: ignore[arg-type]


def _allocate(run: Interpreter, made: Obj, spec: _Spec, args: list[Value], keywords: dict[str, Value]) -> None:
    given = {name: value for (name, _), value in zip(spec.parameters, args, strict=False)} | keywords
    for name, default in spec.parameters:
        if default is not None:
            given.setdefault(name, Known(ast.literal_eval(default)))
        made.slots.setdefault(name, given.get(name, NONE))
    dtype = tensors.dtype_of(given.get("dtype", given.get("params_dtype")))
    for tensor in spec.tensors:
        role = "buffer" if tensor.is_buffer else "parameter"
        own = TensorValue(None if tensor.is_buffer else dtype, _shape(tensor, given), made.place, role)
        made.slots[tensor.name] = _flagged(run, own, tensor.flags, given)
        if tensor.is_buffer:
            made.buffers[tensor.name] = True


def _flagged(run: Interpreter, value: Value, flags: tuple[str, ...], given: dict[str, Value]) -> Value:
    """Return a tensor that is only there if its flags are true."""
    for flag in flags:
        asked = given.get(flag, TRUE)
        test = as_test(asked, text_of(asked, ast.Name(flag)), run.heap)
        if isinstance(test, Test):
            value = choice([((test.condition,), value), ((negated(test.condition),), ABSENT)])
        elif test is not TRUE:
            return NONE
    return value


def _shape(tensor: _Tensor, given: dict[str, Value]) -> str | None:
    sizes: list[Value] = []
    for size in tensor.shape:
        over, _, under = size.partition(" / ")
        value = given.get(over, Known(int(over)) if over.isdigit() else None)
        divisor = given.get(under) if under else None
        if isinstance(value, Thing) and isinstance(divisor, (Thing, Known)) and not _is_one(divisor):
            value = Thing(f"{value.text} // {text_of(divisor, ast.Name(under))}")
        if isinstance(value, Seq) and not value.star:
            sizes += value.items
        elif value is None:
            return None
        else:
            sizes.append(value)
    return tensors.shape_text(sizes) if sizes else None


def _is_one(value: Value) -> bool:
    return isinstance(value, Known) and value.value == 1


_ATTENTION = ["embed_dim", "num_heads", "dropout", "bias", "add_bias_kv", "add_zero_attn", "kdim", "vdim"]


def _attention(run: Interpreter, made: Obj, args: list[Value], keywords: dict[str, Value]) -> None:
    """``nn.MultiheadAttention``: one packed input projection, or three where key and value have sizes of their own."""
    given = dict(zip(_ATTENTION, args, strict=False)) | keywords
    given.setdefault("bias", TRUE)
    given.setdefault("add_bias_kv", Known(False))
    dtype = tensors.dtype_of(given.get("dtype"))

    def parameter() -> TensorValue:
        return TensorValue(dtype, None, made.place, "parameter")

    own_sizes = any(not (isinstance(given.get(k, NONE), Known) and given.get(k, NONE).value is None)  # type: ignore
                    for k in ("kdim", "vdim"))  # fmt: skip
    names = ("q_proj_weight", "k_proj_weight", "v_proj_weight") if own_sizes else ("in_proj_weight",)
    for name in names:
        made.slots[name] = parameter()
    made.slots["in_proj_bias"] = _flagged(run, parameter(), ("bias",), given)
    for name in ("bias_k", "bias_v"):
        made.slots[name] = _flagged(run, parameter(), ("add_bias_kv",), given)
    size = given.get("embed_dim", NONE)
    words = {"bias": given["bias"], "dtype": given.get("dtype", NONE)}
    made.slots["out_proj"] = make(run, "torch.nn.Linear", [size, size], words, made.place)  # type: ignore[assignment]
