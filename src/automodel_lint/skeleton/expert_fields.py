"""The fields of the shared MoE layer's config, filled from a model's config."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.onboarding.experts import Experts
from automodel_lint.request import UsageError
from automodel_lint.skeleton.design import Design

_UNSAID = "config.json does not say: compare with the reference"
_ACTIVATIONS = {"gelu": "geglu", "gelu_pytorch_tanh": "geglu", "relu2": "relu2"}


def expert_fields(design: Design) -> list[tuple[str, str, str]]:
    """Return the arguments of the checkout's ``MoEConfig``: name, expression, and a remark where it is a guess.

    Raises:
        UsageError: if it wants one that nothing is known about.
    """
    experts, wanted = design.found.experts, design.shared.moe_config
    assert experts is not None and wanted is not None
    given = {name: (value, remark) for name, value, remark in _given(design, experts)}
    missing = [name for name in wanted.required if name not in given]
    if missing:
        raise UsageError(f"{wanted.module}: {wanted.name} has a field {missing[0]!r} without a default, unknown here")
    return [
        (name, *given[name])
        for name in wanted.parameters
        if name in given and _counts(given[name][0], name, wanted.required)
    ]


def _counts(value: str, name: str, required: tuple[str, ...]) -> bool:
    """Whether an argument is worth writing: one that only repeats a default is not."""
    return name in required or value not in ("False", "None", "0")


def _given(design: Design, experts: Experts) -> Iterator[tuple[str, str, str]]:
    data, f = design.found.parts.backbone.data, design.f
    yield "dim", f"config.{f.hidden}", ""
    yield "inter_dim", f"config.{f.inner}", ""
    yield "moe_inter_dim", f"config.{f.expert_inner}", ""
    yield "n_routed_experts", f"config.{f.experts}", ""
    yield "n_activated_experts", f"config.{f.active}", ""
    shared = experts.shared.path.rpartition(".")[2] if experts.shared is not None else ""
    yield "n_shared_experts", f"config.{shared}" if experts.shared_count else "1" if shared else "0", ""
    if shared and not experts.shared_count:
        yield "shared_expert_inter_dim", f"config.{shared}", ""
    grouped = experts.groups is not None
    yield "n_expert_groups", f"config.{experts.groups.path.rpartition('.')[2]}" if grouped else "0", ""  # type: ignore[union-attr]
    yield "n_limited_groups", "config.topk_group" if grouped and "topk_group" in data else "0", ""
    yield "train_gate", "True", ""
    yield "gate_bias_update_factor", "1e-3" if experts.correction_bias is not None else "0.0", ""
    router = experts.router or "softmax"
    yield "score_func", f'"{router}"', "" if experts.router else _UNSAID
    yield "softmax_before_topk", str(router == "softmax"), "" if experts.router else _UNSAID
    scale = next((n for n in ("routed_scaling_factor", "router_scaling_factor") if data.get(n) is not None), "")
    yield "route_scale", f"config.{scale}" if scale else "1.0", ""
    loss = next((n for n in ("router_aux_loss_coef", "aux_loss_alpha", "aux_loss_coef") if data.get(n) is not None), "")
    yield "aux_loss_coeff", f"config.{loss}" if loss else "0.0", ""
    normed = "norm_topk_prob" in data
    yield "norm_topk_prob", "config.norm_topk_prob" if normed else "True", "" if normed else _UNSAID
    act = _ACTIVATIONS.get(str(data.get(f.act, "silu")))
    if act:
        yield "expert_activation", f'"{act}"', ""
    yield "dtype", "dtype", ""
