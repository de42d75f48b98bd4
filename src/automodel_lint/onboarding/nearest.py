"""Which registered architectures are nearest to a config, and why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from automodel_lint.onboarding.built import ANY_ROUTER, TOWER, Key
from automodel_lint.onboarding.classification import Classification
from automodel_lint.onboarding.component import ATTENTION, EXPERTS, MLP, NORM, ROPE, Component
from automodel_lint.onboarding.kind import DENSE, DIFFUSION, ENCODER, ENCODER_DECODER, MOE
from automodel_lint.onboarding.registered import Registered

KIND = "kind"
_LOOKED_AT = 10  # classes whose module tree is built, after a first look at their configs
# What the module tree shows; for the rest it is enough that the config has the fields for it.
_SHOWN = frozenset(("MLA", "linear attention", "state space", "sinks", "routed", "shared", "correction bias"))
_BUILT = _SHOWN | {"heads", "SwiGLU"}
_HEADS = frozenset(("MHA", "GQA", "MQA", "key-value heads not stated"))
_WEIGHTS = {KIND: 4.0, TOWER: 4.0, ATTENTION: 3.0, EXPERTS: 2.0, MLP: 1.0, ROPE: 1.0, NORM: 0.5}
_OF_EVERY_CONFIG = frozenset(
    "torch_dtype dtype architectures model_type output_hidden_states output_attentions use_cache return_dict "
    "is_encoder_decoder name_or_path id2label label2id num_labels pad_token_id bos_token_id eos_token_id "
    "problem_type transformers_version pruned_heads chunk_size_feed_forward use_return_dict auto_map "
    "quantization_config initializer_range attn_implementation pretraining_tp hidden_size num_hidden_layers "
    "vocab_size num_attention_heads max_position_embeddings attention_dropout tie_word_embeddings".split()
)


@dataclass(frozen=True)
class Near:
    """A registered architecture that has much in common with a config.

    Attributes:
        registered: the class.
        score: from 0 to 1.
        shared: what both are made of, the rarest first.
        missing: what the config asks for and the class has not.
        fields: the fields of the language model's config that both have, those of the fewest classes first.
    """

    registered: Registered
    score: float
    shared: tuple[Key, ...]
    missing: tuple[Key, ...]
    fields: tuple[str, ...]


def not_built(found: Classification, one: Registered) -> tuple[Key, ...]:
    """Return what a config asks for and its own registered class cannot construct; nothing where that is not sure."""
    if not one.model.module_tree.complete:
        return ()
    shown = {key for key in _wanted(found) if key[0] == TOWER or key[1] in _SHOWN}
    has = _said(one) | set(one.built)
    return _sorted({key for key in shown - has if not key[1].endswith("output")})


def _missing(wanted: set[Key], has: set[Key]) -> tuple[Key, ...]:
    """What is wanted and not there, but for what every model has in some way or what the tables of a config decide."""
    return _sorted({key for key in wanted - has if key[0] not in (NORM, ROPE) and key != (MLP, "SwiGLU")})


def _has(one: Registered, wanted: set[Key]) -> set[Key]:
    """What a class has by its config's defaults and its module tree; what it reads off its config it has as wanted."""
    has = _said(one) | set(one.built)
    if (EXPERTS, ANY_ROUTER) in has:
        routers = {key for key in wanted if key[0] == EXPERTS and key[1].endswith(" router")}
        has = (has - {(EXPERTS, ANY_ROUTER)}) | routers
    return has


def nearest(found: Classification, classes: Iterable[Registered], most: int = 5) -> list[Near]:
    """Return the classes that are nearest to a config, the nearest first; its own class is not among them."""
    own = set(found.architectures)
    others = [one for one in classes if not own & set(one.model.architectures)]
    frequency = Counter(name for one in others for name in one.fields)
    stated = frozenset(found.parts.backbone.data) - _OF_EVERY_CONFIG
    wanted, asked = _wanted(found), _asked(found)
    first = []
    for one in others:
        has = _said(one) | _read(asked, one)
        first.append((_score(wanted, has, stated, one.fields, frequency, len(others)), one))
    first.sort(key=lambda pair: (-pair[0], pair[1].model.name))
    unknown = [one for _, one in first[_LOOKED_AT:] if one.said is None]
    result = []
    for one in [one for _, one in first[:_LOOKED_AT]] + unknown:
        has = _has(one, wanted) | _read(asked, one)
        score = _score(wanted, has, stated, one.fields, frequency, len(others))
        fields = sorted(stated & one.fields, key=lambda name: (frequency[name], name))
        result.append(Near(one, round(score, 3), _sorted(wanted & has), _missing(wanted, has), tuple(fields)))
    result.sort(key=lambda near: (-near.score, near.registered.model.name))
    return result[:most]


def _wanted(found: Classification) -> set[Key]:
    """What a config says, in words that compare across models."""
    keys = {(c.group, "heads" if c.name in _HEADS else c.name) for c in found.components if c.group != EXPERTS}
    keys -= {(ROPE, c.name) for c in found.components if c.group == ROPE and _is_kind_of_table(c)}
    keys |= {(EXPERTS, c.name) for c in found.components if c.group == EXPERTS and c.name != "router not stated"}
    keys |= {(TOWER, medium) for medium in found.modalities.inputs if medium != "video"}
    keys |= {(TOWER, f"{medium} output") for medium in found.modalities.outputs}
    keys |= {(KIND, kind.name) for kind in found.kinds if kind.name in (DIFFUSION, ENCODER, ENCODER_DECODER)}
    return keys | {(KIND, MOE if found.experts is not None else DENSE)}


def _asked(found: Classification) -> dict[Key, frozenset[str]]:
    """The fields that say of each component that it is there, where the module tree would not show it."""
    inside = f"{found.parts.backbone.path}." if found.parts.backbone.path else ""
    asked: dict[Key, frozenset[str]] = {}
    for component in found.components:
        if component.name not in _BUILT | _HEADS and component.fields:
            paths = (field.path.removeprefix(inside) for field in component.fields)
            asked[component.group, component.name] = frozenset(path.rpartition(".")[2] for path in paths)
    return asked


def _is_kind_of_table(component: Component) -> bool:
    """Whether a component is what the table of every config can say, so that it tells no class from another."""
    return all(
        field.path.endswith(("rope_type", "rope_scaling.type", "rope_parameters.type", "rope_theta"))
        for field in component.fields
    )


def _read(asked: dict[Key, frozenset[str]], one: Registered) -> set[Key]:
    """The components for which the config of a class has the fields."""
    return {key for key, names in asked.items() if names & one.fields}


def _said(one: Registered) -> set[Key]:
    """What a class has by its config's defaults, and by how it is registered."""
    keys = _wanted(one.said) if one.said is not None else set()
    if "retrieval" in one.model.tags:
        keys.add((KIND, ENCODER))
    return keys


def _score(
    wanted: set[Key], has: set[Key], stated: frozenset[str], fields: frozenset[str], frequency: Counter[str], total: int
) -> float:
    """How much of what either has both have: half by components, half by fields, of which the rare ones say more."""
    if (EXPERTS, "routed") in has:
        has = {*has, (KIND, MOE)}
    components = _overlap(wanted, has, lambda key: _WEIGHTS[key[0]])
    known = fields - _OF_EVERY_CONFIG
    names = _overlap(stated, known, lambda name: math.log(1 + total / max(frequency[name], 1)))
    return 0.6 * components + 0.4 * names


def _overlap(one: Iterable, other: Iterable, weight) -> float:  # type: ignore[no-untyped-def]
    one, other = set(one), set(other)
    both = sum(weight(item) for item in one & other)
    either = sum(weight(item) for item in one) + sum(weight(item) for item in other)
    return 2 * both / either if either else 0.0


def _sorted(keys: set[Key]) -> tuple[Key, ...]:
    return tuple(sorted(keys, key=lambda key: (-_WEIGHTS[key[0]], key)))
