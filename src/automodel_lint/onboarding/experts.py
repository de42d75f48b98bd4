"""The mixture of experts that a config describes: how many, how chosen, in which layers, which are shared."""

from __future__ import annotations

from dataclasses import dataclass

from automodel_lint.onboarding.parts import Field, Part

COUNT = (
    "n_routed_experts",
    "num_routed_experts",
    "num_local_experts",
    "num_experts",
    "moe_num_experts",
    "n_experts",
    "num_moe_experts",
)
ACTIVE = (
    "num_experts_per_tok",
    "num_experts_per_token",
    "moe_topk",
    "moe_top_k",
    "moe_k",
    "top_k_experts",
    "num_selected_experts",
    "experts_per_token",
    "moe_router_topk",
    "num_experts_to_select",
)
SHARED = (
    "n_shared_experts",
    "num_shared_experts",
    "num_shared_expert",
    "moe_num_shared_experts",
    "shared_expert_intermediate_size",
    "moe_shared_expert_intermediate_size",
    "shared_intermediate_size",
    "share_expert_dim",
)
WIDTH = ("moe_intermediate_size", "expert_hidden_dim", "expert_intermediate_size", "moe_ffn_hidden_size")
_SCORES = (
    "scoring_func",
    "score_function",
    "moe_router_activation_func",
    "moe_router_activation",
    "router_activation",
    "moe_router_score_function",
    "expert_score_func",
    "router_score_func",
)
_BIAS = (
    "moe_router_enable_expert_bias",
    "use_routing_bias",
    "use_moe_router_bias",
    "use_expert_bias",
    "moe_use_aux_free",
    "use_aux_free",
    "moe_correction_bias",
    "router_bias",
    "use_router_bias",
)
_GROUPS = ("n_group", "num_expert_group", "n_groups_experts")
_LATENT = ("moe_latent_size", "routed_expert_hidden_size")
_UNIFORM_SPARSE = ("moe", "sparse")


@dataclass(frozen=True)
class Experts:
    """A mixture of experts.

    Attributes:
        evidence: the fields that say that there is one.
        count, active: how many experts there are, and how many each token goes to.
        width: the inner size of one expert.
        shared: the field that says that all tokens go through shared experts as well.
        shared_count: how many of them, where the config counts them.
        router: ``sigmoid``, ``softmax``, or another scoring function as it is called; ``None`` if it is not stated.
        router_field: the field that says so.
        correction_bias: the field that says that a bias corrects which experts are chosen.
        groups: the field that says that experts are chosen by groups.
        latent: the field that says that experts work in a smaller space than the model.
        layers: how many layers have experts; ``None`` if that is not told.
        layers_field: the field that says so.
    """

    evidence: tuple[Field, ...]
    count: Field | None
    active: Field | None
    width: Field | None
    shared: Field | None
    shared_count: int | None
    router: str | None
    router_field: Field | None
    correction_bias: Field | None
    groups: Field | None
    latent: Field | None
    layers: int | None
    layers_field: Field | None


def experts_of(part: Part, layers: int | None) -> Experts | None:
    """Return the experts of a language model of so many layers; ``None`` if it is dense.

    Fields that are null, zero or one say that there are none, whatever others of them say.

    Raises:
        ConfigProblem: for fields of a wrong type.
    """
    count, active = _most(part.sizes(*COUNT)), _most(part.sizes(*ACTIVE))
    if count is not None and count.value <= 1:
        return None
    if count is None and (active is None or not active.value or _says_none(part)):
        return None
    if part.says("enable_moe_block", False):
        return None
    number, by = _sparse_layers(part, layers)
    if number == 0:
        return None
    router, router_field = _router(part)
    shared = _shared(part)
    return Experts(
        evidence=tuple(f for f in (count, active) if f is not None),
        count=count,
        active=active,
        width=_most(part.sizes(*WIDTH)),
        shared=shared,
        shared_count=shared.value if shared is not None and _counts(shared) else None,
        router=router,
        router_field=router_field,
        correction_bias=_correction_bias(part),
        groups=_more_than_one(part),
        latent=_positive(part, _LATENT),
        layers=number,
        layers_field=by,
    )


def _says_none(part: Part) -> bool:
    """Whether the number of experts is there, and null."""
    return any(name in part.data for name in COUNT)


def _most(field: Field | None) -> Field | None:
    return None if field is None else Field(field.path, max(field.value))


def _positive(part: Part, names: tuple[str, ...]) -> Field | None:
    found = (_most(part.sizes(name)) for name in names)
    return next((f for f in found if f is not None and f.value > 0), None)


def _shared(part: Part) -> Field | None:
    return _positive(part, SHARED)


def _counts(field: Field) -> bool:
    name = field.path.rpartition(".")[2]
    return "size" not in name and "dim" not in name


def _more_than_one(part: Part) -> Field | None:
    found = part.size(*_GROUPS)
    return found if found is not None and found.value > 1 else None


def _router(part: Part) -> tuple[str | None, Field | None]:
    stated = part.text(*_SCORES)
    if stated is not None:
        return stated.value.lower(), stated
    sigmoid = part.flag("moe_router_use_sigmoid", "use_sigmoid_router")
    if sigmoid is not None:
        return ("sigmoid" if sigmoid.value else "softmax"), sigmoid
    method = part.get("topk_method")
    if method is not None and method.value == "noaux_tc":  # the routing of DeepSeek-V3, which scores by sigmoid
        return "sigmoid", method
    return None, None


def _correction_bias(part: Part) -> Field | None:
    method = part.get("topk_method")
    if method is not None and method.value == "noaux_tc":
        return method
    return next((f for f in (part.says(name, True) for name in _BIAS) if f is not None), None)


# -- which layers -----------------------------------------------------------------------------------------------------


def _sparse_layers(part: Part, layers: int | None) -> tuple[int | None, Field | None]:
    """How many layers have experts, and the field that says so; ``None`` where no field tells."""
    return _listed(part, layers) or _numbered(part, layers) or (None, None)


def _listed(part: Part, layers: int | None) -> tuple[int, Field] | None:
    """Layers that are told apart one by one."""
    for name in ("mlp_layer_types", "layers_block_type"):
        types = part.entries(name)
        sparse = [value for value in types.value if value in _UNIFORM_SPARSE] if types is not None else []
        if types is not None and (name == "mlp_layer_types" or sparse):
            return len(sparse), Field(types.path, f"{len(sparse)} of {len(types.value)}")
    pattern = part.get("hybrid_override_pattern")
    if pattern is not None and isinstance(pattern.value, str) and "E" in pattern.value:
        return pattern.value.count("E"), pattern
    frequency = part.get("moe_layer_freq")
    if frequency is not None and isinstance(frequency.value, list):
        sparse = [value for value in frequency.value if value]
        return len(sparse), Field(frequency.path, f"{len(sparse)} of {len(frequency.value)}")
    numbers = part.get("moe_layers_enum", "moe_layers", "moe_layer_indices")
    if numbers is not None and isinstance(numbers.value, str):
        return len([n for n in numbers.value.split(",") if n.strip()]), numbers
    if numbers is not None and isinstance(numbers.value, list):
        return len(numbers.value), Field(numbers.path, f"{len(numbers.value)} layers")
    return None


def _numbered(part: Part, layers: int | None) -> tuple[int, Field] | None:
    """Layers that are told by the first of them, or by every how many there is one."""
    if layers is None:
        return None
    first = part.size("first_k_dense_replace", "num_dense_layers", "moe_layer_start_index", "n_dense_layers")
    every = part.size("decoder_sparse_step", "moe_layer_interval", "interleave_moe_layer_step", "expert_layer_period")
    offset = part.size("expert_layer_offset")
    dense = part.entries("mlp_only_layers")
    frequency = part.size("moe_layer_freq") if every is None else every
    start = first.value if first is not None else 0
    step = max(frequency.value, 1) if frequency is not None else 1
    left_out = set(dense.value) if dense is not None and all(isinstance(n, int) for n in dense.value) else set()
    last = part.get("moe_layer_end_index")
    end = last.value + 1 if last is not None and isinstance(last.value, int) and last.value >= 0 else layers
    if offset is not None:
        sparse = [n for n in range(layers) if n % step == offset.value]
    elif first is None:
        sparse = [n for n in range(layers) if (n + 1) % step == 0]
    else:
        sparse = [n for n in range(start, min(end, layers)) if n % step == 0]
    said = first or frequency or dense
    return None if said is None else (len(set(sparse) - left_out), said)
