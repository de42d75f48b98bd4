"""The parameters and buffers of modules that every model is made of, as plain data.

They are part of the stable interface of ``torch.nn`` and of the kernel libraries, so the source need not be at hand. A
spec is a signature and the tensors: ``name``, ``name?flag`` (only if that argument is true), ``name!buffer``; after the
colon the shape over the arguments (``size^2`` is a size that a plain number gives twice).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from typing import Any

LISTS = frozenset({"ModuleList", "ParameterList", "Sequential"})
DICTS = frozenset({"ModuleDict", "ParameterDict"})
_CONV = (
    "in_channels, out_channels, kernel_size, stride, padding, dilation, groups=1, bias=True, padding_mode, device, "
    "dtype"
)
_CONV_T = (
    "in_channels, out_channels, kernel_size, stride, padding, output_padding, groups=1, bias=True, dilation, "
    "padding_mode, device, dtype"
)
_CONV_BIAS = "bias?bias: out_channels"
_BATCH = "num_features, eps, momentum, affine=True, track_running_stats=True, device, dtype"
_INSTANCE = "num_features, eps, momentum, affine=False, track_running_stats=False, device, dtype"
_BATCH_TENSORS = (
    "weight?affine: num_features",
    "bias?affine: num_features",
    "running_mean?track_running_stats!buffer: num_features",
    "running_var?track_running_stats!buffer: num_features",
    "num_batches_tracked?track_running_stats!counter",
)
_LINEAR_TENSORS = ("weight: out_features, in_features", "bias?bias: out_features")
_LINEAR = ("in_features, out_features, bias=True, device, dtype", *_LINEAR_TENSORS)
_NORM = ("normalized_shape, eps, device, dtype", "weight: normalized_shape")
_TABLE = (
    "num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, _weight, _freeze, "
    "device, dtype"
)
_GATED = ("hidden_size, elementwise_affine=True", "weight?elementwise_affine: hidden_size")
_WEIGHTED = ("weight=None", "weight?weight!buffer")

_SPECS: dict[str, tuple[str, ...]] = {
    "torch.nn.Linear": _LINEAR,
    "torch.nn.Bilinear": (
        "in1_features, in2_features, out_features, bias=True, device, dtype",
        "weight: out_features, in1_features, in2_features",
        "bias?bias: out_features",
    ),
    "torch.nn.Embedding": (_TABLE, "weight: num_embeddings, embedding_dim"),
    "torch.nn.EmbeddingBag": ("num_embeddings, embedding_dim", "weight: num_embeddings, embedding_dim"),
    "torch.nn.LayerNorm": (
        "normalized_shape, eps, elementwise_affine=True, bias=True, device, dtype",
        "weight?elementwise_affine: normalized_shape",
        "bias?elementwise_affine?bias: normalized_shape",
    ),
    "torch.nn.RMSNorm": (
        "normalized_shape, eps, elementwise_affine=True, device, dtype",
        "weight?elementwise_affine: normalized_shape",
    ),
    "torch.nn.GroupNorm": (
        "num_groups, num_channels, eps, affine=True, device, dtype",
        "weight?affine: num_channels",
        "bias?affine: num_channels",
    ),
    "torch.nn.PReLU": ("num_parameters=1, init, device, dtype", "weight: num_parameters"),
    **{
        f"torch.nn.Conv{n}d": (_CONV, f"weight: out_channels, in_channels / groups, kernel_size^{n}", _CONV_BIAS)
        for n in (1, 2, 3)
    },
    **{
        f"torch.nn.ConvTranspose{n}d": (
            _CONV_T,
            f"weight: in_channels, out_channels / groups, kernel_size^{n}",
            _CONV_BIAS,
        )
        for n in (1, 2, 3)
    },
    **{f"torch.nn.BatchNorm{n}d": (_BATCH, *_BATCH_TENSORS) for n in (1, 2, 3)},
    **{f"torch.nn.InstanceNorm{n}d": (_INSTANCE, *_BATCH_TENSORS) for n in (1, 2, 3)},
    "torch.nn.SyncBatchNorm": (_BATCH.replace("device", "process_group, device"), *_BATCH_TENSORS),
    "torch.nn.CrossEntropyLoss": _WEIGHTED,
    "torch.nn.NLLLoss": _WEIGHTED,
    "torch.nn.BCELoss": _WEIGHTED,
    "torch.nn.BCEWithLogitsLoss": (
        "weight=None, size_average, reduce, reduction, pos_weight=None",
        "weight?weight!buffer",
        "pos_weight?pos_weight!buffer",
    ),
    "transformer_engine.Linear": ("in_features, out_features, sequence_parallel, bias=True", *_LINEAR_TENSORS),
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
    "fla.FusedRMSNormGated": _GATED,
    "fla.RMSNorm": _GATED,
    "fla.ShortConvolution": (
        "hidden_size, kernel_size, bias=False",
        "weight: hidden_size, 1, kernel_size",
        "bias?bias: hidden_size",
    ),
    "mamba_ssm.RMSNorm": ("hidden_size, eps", "weight: hidden_size"),
    "timm.DropPath": ("drop_prob",),
    "einops.Rearrange": ("pattern",),
    "einops.Reduce": ("pattern",),
}
# Classes of ``torch.nn`` that hold no tensor: activations, dropouts, reshaping, pooling, losses.
_EMPTY = frozenset(
    "Module Identity ReLU ReLU6 GELU SiLU Mish Tanh Sigmoid Softmax Softmax2d LogSoftmax Softplus Softsign ELU CELU "
    "SELU GLU LeakyReLU LogSigmoid Hardtanh Hardswish Hardsigmoid Hardshrink Softshrink Tanhshrink Threshold RReLU "
    "Softmin Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout Flatten Unflatten Upsample "
    "UpsamplingNearest2d UpsamplingBilinear2d PixelShuffle PixelUnshuffle Fold Unfold ZeroPad1d ZeroPad2d ZeroPad3d "
    "ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d ReflectionPad2d ReplicationPad1d ReplicationPad2d "
    "AvgPool1d AvgPool2d AvgPool3d MaxPool1d MaxPool2d MaxPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d "
    "AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d MSELoss L1Loss SmoothL1Loss KLDivLoss HuberLoss "
    "CosineSimilarity PairwiseDistance CosineEmbeddingLoss ChannelShuffle LocalResponseNorm".split()
)


@dataclass(frozen=True)
class TensorSpec:
    """One tensor: ``role`` is ``parameter``, ``buffer`` or ``counter`` (a buffer of whole numbers)."""

    name: str
    flags: tuple[str, ...]
    role: str
    shape: tuple[str, ...]


@dataclass(frozen=True)
class Spec:
    """A signature, as names with the defaults that matter, and the tensors that construction makes."""

    parameters: tuple[tuple[str, str | None], ...]
    tensors: tuple[TensorSpec, ...]

    def given(self, args: list[Any], keywords: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call by name; defaults, where they matter, as Python data."""
        found = {name: value for (name, _), value in zip(self.parameters, args, strict=False)}
        return found | {k: v for k, v in keywords.items() if isinstance(k, str)}

    def defaults(self) -> dict[str, Any]:
        """Return the defaults that matter, by name."""
        return {name: ast.literal_eval(default) for name, default in self.parameters if default is not None}


@cache
def spec_of(key: str) -> Spec | None:
    """Return the spec under a key; ``None`` where the class holds no tensor or is a container."""
    written = _SPECS.get(key)
    if written is None:
        return None
    signature, *rows = written
    parts = (part.partition("=") for part in signature.split(", "))
    parameters = tuple((name, default if equals else None) for name, equals, default in parts)
    return Spec(parameters, tuple(_tensor(row) for row in rows))


def _tensor(row: str) -> TensorSpec:
    head, _, shape = row.partition(": ")
    head, _, role = head.partition("!")
    name, *flags = head.split("?")
    return TensorSpec(name, tuple(flags), role or "parameter", tuple(shape.split(", ")) if shape else ())


@cache
def key_of(fqn: str) -> str | None:
    """Return the key of a class in the tables; ``None`` if it is none of them."""
    top, _, rest = fqn.partition(".")
    name = rest.rpartition(".")[2]
    if not fqn.startswith("torch.nn."):
        key = f"{top}.{name}"
        return key if key in _SPECS and (top != "einops" or rest.startswith("layers.")) else None
    key = f"torch.nn.{name}"
    known = key in _SPECS or name in LISTS | DICTS | _EMPTY or name == "MultiheadAttention"
    return key if known and not fqn.startswith(("torch.nn.utils.", "torch.nn.functional.", "torch.nn.init.")) else None


def public_name(fqn: str) -> str | None:
    """Return the name under which torch offers a class of its own source, where that says what it holds."""
    if not fqn.startswith(("torch.nn.modules.", "torch.nn.parameter.")):
        return None
    public = f"torch.nn.{fqn.rpartition('.')[2]}"
    return public if key_of(public) is not None or public in ("torch.nn.Parameter", "torch.nn.Buffer") else None
