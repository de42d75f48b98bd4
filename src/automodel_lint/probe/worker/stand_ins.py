"""What stands in for packages that cannot be installed on a machine without a GPU: their layers in plain torch.

Only as much as the classes that ask for them call, in the arithmetic that those packages document, slow and in fp32.
Which names a package has is data, see ``stand_ins`` in ``recipes.json``.
"""

from __future__ import annotations

import itertools
import sys
import types
from importlib.machinery import ModuleSpec
from typing import Any

import torch
from torch import nn
from torch.nn import functional


class ShortConvolution(nn.Conv1d):
    """The depthwise causal convolution of flash-linear-attention."""

    def __init__(
        self,
        hidden_size: int,
        kernel_size: int,
        bias: bool = False,
        activation: str | None = "silu",
        dtype: Any = None,
        **_: Any,
    ) -> None:
        super().__init__(hidden_size, hidden_size, kernel_size, groups=hidden_size, bias=bias, dtype=dtype)
        self.activation = activation

    def forward(self, x: torch.Tensor, cu_seqlens: torch.Tensor | None = None, **_: Any) -> tuple[torch.Tensor, None]:
        """Map ``[B, S, D]`` to the same shape; ``cu_seqlens`` are the bounds of documents in a single row."""
        parts = []
        for part in _documents(x, cu_seqlens):
            padded = functional.pad(part.transpose(1, 2).to(self.weight.dtype), (self.kernel_size[0] - 1, 0))
            parts.append(super().forward(padded).transpose(1, 2))
        y = torch.cat(parts, 1)
        return (functional.silu(y) if self.activation else y).to(x.dtype), None


class FusedRMSNormGated(nn.Module):
    """The norm of flash-linear-attention whose result a gate scales."""

    def __init__(
        self, hidden_size: int, eps: float = 1e-5, activation: str = "swish", dtype: Any = None, **_: Any
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size, dtype=dtype))
        self.eps, self.activation = eps, activation

    def reset_parameters(self) -> None:
        """Set the weight to ones."""
        nn.init.ones_(self.weight)

    def forward(self, x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
        """Map ``x`` and its gate, both ``[..., D]``, to the same shape."""
        normed = functional.rms_norm(x.float(), x.shape[-1:], self.weight.float(), self.eps)
        gate = torch.sigmoid(g.float()) if self.activation == "sigmoid" else functional.silu(g.float())
        return (normed * gate).to(x.dtype)


def fused_kda_gate(
    g: torch.Tensor, A_log: torch.Tensor, dt_bias: torch.Tensor | None = None, lower_bound: float | None = None
) -> torch.Tensor:
    """Return the logarithm of the decay, ``[B, S, H, D]`` (fp32), of a raw gate of that shape."""
    raw = g.float() if dt_bias is None else g.float() + dt_bias.float().view(g.shape[-2:])
    rate = A_log.float().reshape(-1, 1).exp()
    return -rate * functional.softplus(raw) if lower_bound is None else lower_bound * torch.sigmoid(rate * raw)


def chunk_kda(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    g: torch.Tensor,
    beta: torch.Tensor,
    use_qk_l2norm_in_kernel: bool = False,
    cu_seqlens: torch.Tensor | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Kimi's delta attention, step by step: ``q``, ``k``, ``g`` ``[B, S, H, K]``, ``v`` ``[B, S, H, V]``.

    ``beta`` is ``[B, S, H]``; the result has the shape of ``v``.
    """
    if use_qk_l2norm_in_kernel:
        q, k = (functional.normalize(item.float(), dim=-1, eps=1e-6) for item in (q, k))
    q = q.float() * q.shape[-1] ** -0.5
    rows = zip(*(_documents(item.float(), cu_seqlens) for item in (q, k, v, g, beta)), strict=True)
    return torch.cat([_delta_rule(*row) for row in rows], 1).to(v.dtype), None


fused_recurrent_kda = chunk_kda


def _delta_rule(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    state = q.new_zeros(q.shape[0], q.shape[2], q.shape[3], v.shape[3])
    outputs = []
    for step in range(q.shape[1]):
        state = state * g[:, step].exp()[..., None]
        missing = v[:, step] - torch.einsum("bhk,bhkv->bhv", k[:, step], state)
        state = state + torch.einsum("bhk,bhv->bhkv", k[:, step], beta[:, step][..., None] * missing)
        outputs.append(torch.einsum("bhk,bhkv->bhv", q[:, step], state))
    return torch.stack(outputs, 1)


def mamba_split_conv1d_scan_combined(
    zxbcdt: torch.Tensor,
    conv1d_weight: torch.Tensor,
    conv1d_bias: torch.Tensor | None,
    dt_bias: torch.Tensor,
    A: torch.Tensor,
    D: torch.Tensor,
    chunk_size: int,
    seq_idx: torch.Tensor | None = None,
    dt_limit: tuple[float, float] = (0.0, float("inf")),
    activation: str = "silu",
    rmsnorm_weight: torch.Tensor | None = None,
    rmsnorm_eps: float = 1e-6,
    outproj_weight: torch.Tensor | None = None,
    outproj_bias: torch.Tensor | None = None,
    headdim: int | None = None,
    ngroups: int = 1,
    norm_before_gate: bool = True,
    **_: Any,
) -> torch.Tensor:
    """The whole of a Mamba-2 mixer after its first projection, step by step in fp32: ``[B, S, …]`` to ``[B, S, H]``."""
    if seq_idx is not None:
        raise NotImplementedError("the stand-in for mamba_ssm knows no packed rows")
    heads = A.shape[0]
    inner = heads * (headdim or 0)
    z, mixed, dt = zxbcdt.float().split([inner, conv1d_weight.shape[0], heads], -1)
    padded = functional.pad(mixed.transpose(1, 2), (conv1d_weight.shape[1] - 1, 0))
    bias = None if conv1d_bias is None else conv1d_bias.float()
    mixed = functional.conv1d(padded, conv1d_weight.float()[:, None], bias, groups=len(conv1d_weight)).transpose(1, 2)
    mixed = functional.silu(mixed) if activation in ("silu", "swish") else mixed
    states = (mixed.shape[-1] - inner) // (2 * ngroups)
    x, b, c = mixed.split([inner, ngroups * states, ngroups * states], -1)
    b, c = (item.unflatten(-1, (ngroups, states)).repeat_interleave(heads // ngroups, 2) for item in (b, c))
    dt = functional.softplus(dt + dt_bias.float()).clamp(*dt_limit)
    y = _state_space(x.unflatten(-1, (heads, -1)), dt, A.float(), b, c, D.float()).flatten(2)
    if rmsnorm_weight is None:
        y = y * functional.silu(z)
    else:
        y = rmsnorm_fn(y, rmsnorm_weight, None, z, rmsnorm_eps, inner // ngroups, norm_before_gate)
    y = y.to(zxbcdt.dtype)
    return y if outproj_weight is None else functional.linear(y, outproj_weight, outproj_bias)


def rmsnorm_fn(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    z: torch.Tensor | None = None,
    eps: float = 1e-6,
    group_size: int | None = None,
    norm_before_gate: bool = True,
) -> torch.Tensor:
    """Mamba's norm of groups of channels, ``[..., H]``, scaled by a gate before or after."""
    y = x.float() if z is None or norm_before_gate else x.float() * functional.silu(z.float())
    size = group_size or x.shape[-1]
    y = functional.rms_norm(y.unflatten(-1, (-1, size)), (size,), eps=eps).flatten(-2) * weight.float()
    y = y if bias is None else y + bias.float()
    return (y * functional.silu(z.float()) if z is not None and norm_before_gate else y).to(x.dtype)


def _state_space(
    x: torch.Tensor, dt: torch.Tensor, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, d: torch.Tensor
) -> torch.Tensor:
    state = x.new_zeros(*x.shape[:1], *x.shape[2:], b.shape[-1])
    outputs = []
    for step in range(x.shape[1]):
        decay = (dt[:, step] * a).exp()[..., None, None]
        state = state * decay + torch.einsum("bh,bhp,bhn->bhpn", dt[:, step], x[:, step], b[:, step])
        outputs.append(torch.einsum("bhpn,bhn->bhp", state, c[:, step]) + d[:, None] * x[:, step])
    return torch.stack(outputs, 1)


def _documents(x: torch.Tensor, bounds: torch.Tensor | None) -> list[torch.Tensor]:
    if bounds is None:
        return [x]
    edges = bounds.tolist()
    return [x[:, start:end] for start, end in itertools.pairwise(edges) if end > start]


def put(modules: dict[str, list[str]]) -> None:
    """Put modules into ``sys.modules`` with what is defined here under their names, and functions that do nothing."""
    for module, names in modules.items():
        parent = ""
        for part in module.split("."):
            parent = f"{parent}.{part}".lstrip(".")
            made = sys.modules.setdefault(parent, types.ModuleType(parent))
            made.__path__ = []  # type: ignore[attr-defined]
            made.__spec__ = made.__spec__ or ModuleSpec(parent, None)
        for name in names:
            setattr(sys.modules[module], name, globals().get(name, lambda *_, **__: None))
