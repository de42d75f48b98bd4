"""What holds of a registered class of all that contracts presuppose, each a question with one answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.subjects import NO, OPEN, YES


def facts(model: ModelClass) -> dict[str, str]:
    """Return what holds of a class of all that contracts presuppose: by fact ``yes``, ``no`` or ``open``."""
    return {name: _told(question, model) for name, question in _QUESTIONS.items()}


def _told(question: Callable[[ModelClass], bool | None], model: ModelClass) -> str:
    try:
        answer = question(model)
    except RecursionError:  # code nested deeper than Python lets us follow
        answer = None
    return OPEN if answer is None else YES if answer else NO


def _package(model: ModelClass) -> bool:
    return model.project.model_package(model.path) is not None


def _export(model: ModelClass) -> bool:
    return bool(model.entity.module.bindings.real("ModelClass"))


def _config(model: ModelClass) -> bool | None:
    from automodel_lint.domain.model_config import config_classes, literal_model_type

    found = config_classes(model)
    ours = [c for c in found if model.classes.in_checkout(c) and literal_model_type(model.project, c)]
    return bool(ours) if found else None


def _multimodal(model: ModelClass) -> bool | None:
    from automodel_lint.domain.model_config import config_classes
    from automodel_lint.domain.nested_flag import language_config

    found = config_classes(model)
    ours = [c for c in found if model.classes.in_checkout(c)]
    return any(language_config(model.classes, c) is not None for c in ours) if found else None


def _knows(name: str) -> Callable[[ModelClass], bool]:
    return lambda model: model.project.knows(name)


def _has(name: str) -> Callable[[ModelClass], bool | None]:
    """Whether the class has a member, its own or a base's; open if an unknown base may bring one."""

    def question(model: ModelClass) -> bool | None:
        members, opaque = model.inherited(name)
        return True if members else None if opaque else False

    return question


def _tied_keys(model: ModelClass) -> bool | None:
    members, opaque = model.inherited("_tied_weights_keys")
    return None if opaque else any(model.classes.in_checkout(member.owner) for member in members)


def _constructor(model: ModelClass) -> bool | None:
    return True if model.constructors[0].decided else None


def _guard(model: ModelClass) -> bool | None:
    return True if any(found.calls for found in model.constructors) else False if _constructor(model) else None


def _guarded(model: ModelClass) -> bool | None:
    return True if model.constructors[0].complete else False if _constructor(model) else None


def _ties(model: ModelClass) -> bool | None:
    return None if model.tie_policies is None else model.ties


def _meant_to_tie(model: ModelClass) -> bool | None:
    """As above; in a release that has no policies yet, keys say it."""
    if not model.project.knows("TieSupport"):
        return model.defines("_tied_weights_keys")
    return _ties(model) if model.inherited("tie_word_embeddings_support")[0] else False


def _one_sided(model: ModelClass) -> bool | None:
    return None if model.tie_policy is None else model.tie_policy != "BOTH"


def _tie_method(model: ModelClass) -> bool | None:
    return True if model.method("tie_weights") is not None else None if model.inherited("tie_weights")[1] else False


def _declares(*names: str) -> Callable[[ModelClass], bool]:
    return lambda model: any(model.defines(name) for name in names)


def _in_tree(found: Callable[[ModelClass], Iterable[object]]) -> Callable[[ModelClass], bool | None]:
    """Whether something is in the module tree; of a tree that is not whole, what is not seen may be there."""

    def question(model: ModelClass) -> bool | None:
        return any(True for _ in found(model)) or (False if model.module_tree.complete else None)

    return question


def _fp32(model: ModelClass) -> Iterator[object]:
    from automodel_lint.domain.precision import intrinsically_fp32

    found = intrinsically_fp32(model.module_tree, model.project.fp32_names)
    return (tensor for tensor in found if model.may_surely_hold(tensor))


def _fp32_parameters(model: ModelClass) -> Iterator[object]:
    return (t for t in _fp32(model) if t.kind == "parameter" and t.trainable)  # type: ignore[attr-defined]


def _rotary(model: ModelClass) -> Iterator[object]:
    from automodel_lint.domain.rotary import is_rotary_table

    return (tensor for tensor in model.module_tree.tensors if is_rotary_table(tensor))


def _holders(model: ModelClass) -> Iterator[object]:
    from automodel_lint.domain.precision import HOLDER

    return (tensor for tensor in model.module_tree.tensors if HOLDER in tensor.fqn.split("."))


def _experts(model: ModelClass) -> Iterator[object]:
    from automodel_lint.domain.experts import expert_layers

    return expert_layers(model)


def _expert_configs(model: ModelClass) -> Iterator[object]:
    from automodel_lint.domain.experts import expert_configs

    return expert_configs(model)


def _bias_updates(model: ModelClass) -> Iterator[object]:
    from automodel_lint.domain.experts import update_factors

    return update_factors(model)


def _whole_tree(model: ModelClass) -> bool | None:
    return True if model.module_tree.complete else None


def _lists(model: ModelClass) -> bool | None:
    return True if model.pins.complete else None


def _pins(model: ModelClass) -> bool | None:
    lists = model.pins.lists.values()
    return True if any(x.patterns or x.problems for x in lists) else False if model.pins.complete else None


def _own_pins(model: ModelClass) -> bool | None:
    own = any(p.place.owner is model.entity for x in model.pins.lists.values() for p in x.patterns)
    return True if own else False if model.pins.complete else None


def _cast(model: ModelClass) -> bool:
    from automodel_lint.domain.casts import whole_model_casts

    return bool(whole_model_casts(model.classes, model.values, model.entity))


def _adapter(model: ModelClass) -> bool | None:
    from automodel_lint.domain.adapter import has_unknown_adapter

    if any(adapter.entity is not None for adapter in model.adapters):
        return True
    return None if has_unknown_adapter(model) or model.adapters else False


def _low_memory(model: ModelClass) -> bool | None:
    from automodel_lint.domain.low_memory import claim

    if _adapter(model) is None:
        return None
    return any(claim(model, adapter) is not None for adapter in model.adapters)


def _forward(model: ModelClass) -> bool | None:
    from automodel_lint.domain.forward import forwards

    return True if forwards(model) else None if model.inherited("forward")[1] else False


def _any_forward(model: ModelClass) -> bool | None:
    from automodel_lint.domain.forward import forwards

    return True if forwards(model, followed=True) else _forward(model)


def _tests(model: ModelClass) -> bool:
    from automodel_lint.domain.artefacts import tests_root

    return tests_root(model.project) is not None


def _pages(model: ModelClass) -> bool:
    from automodel_lint.domain.artefacts import has_coverage_pages

    return has_coverage_pages(model.project)


def _recipes(model: ModelClass) -> bool:
    from automodel_lint.domain.artefacts import has_recipes

    return has_recipes(model.project)


def _claims(model: ModelClass) -> bool:
    from automodel_lint.domain.capability_claims import static_claims

    return bool(static_claims(model))


def _own_recipes(model: ModelClass) -> bool:
    from automodel_lint.domain.capability_claims import recipes_of

    return bool(recipes_of(model))


def _possible_recipes(model: ModelClass) -> bool:
    from automodel_lint.domain.artefacts import recipe_uses

    return bool(recipe_uses(model.project, model.architectures, sure=False))


def _expert_claim(model: ModelClass) -> bool:
    from automodel_lint.domain.capability_claims import static_claims

    claim = static_claims(model).get("supports_ep")
    return claim is not None and claim.value


def _pipeline(model: ModelClass) -> bool:
    from automodel_lint.domain.pipeline_media import runs_in_pipelines

    return runs_in_pipelines(model)


def _staged_media(model: ModelClass) -> bool:
    from automodel_lint.domain.pipeline_media import staged_media

    return staged_media(model) is not None


_QUESTIONS: dict[str, Callable[[ModelClass], bool | None]] = {
    "package": _package,
    "export": _export,
    "config": _config,
    "multimodal": _multimodal,
    "head": lambda model: model.owns_causal_head,
    "mixin known": _knows("HFCheckpointingMixin"),
    "policies known": _knows("TieSupport"),
    "guard known": _knows("reject_unsupported_tie_word_embeddings"),
    "flip known": _knows("reject_tie_word_embeddings_flip"),
    "capabilities known": _knows("query_capabilities"),
    "strict known": _knows("_keep_in_fp32_modules_strict"),
    "policy": _has("tie_word_embeddings_support"),
    "constructor": _constructor,
    "guard": _guard,
    "guarded": _guarded,
    "ties": _ties,
    "meant to tie": _meant_to_tie,
    "one-sided": _one_sided,
    "tied keys": _tied_keys,
    "loads": _declares("from_pretrained"),
    "tie method": _tie_method,
    "declares": _declares("ModelCapabilities", "get_capabilities"),
    "nested": _declares("ModelCapabilities"),
    "dynamic": _declares("get_capabilities"),
    "whole tree": _whole_tree,
    "lists": _lists,
    "fp32": _in_tree(_fp32),
    "fp32 parameter": _in_tree(_fp32_parameters),
    "own pins": _own_pins,
    "pins": _pins,
    "cast": _cast,
    "rotary": _in_tree(_rotary),
    "adapter": _adapter,
    "low memory": _low_memory,
    "holder": _in_tree(_holders),
    "experts": _in_tree(_experts),
    "expert config": _in_tree(_expert_configs),
    "bias update": _in_tree(_bias_updates),
    "forward": _forward,
    "any forward": _any_forward,
    "tests": _tests,
    "pages": _pages,
    "recipes": _recipes,
    "claims": _claims,
    "own recipes": _own_recipes,
    "possible recipes": _possible_recipes,
    "expert claim": _expert_claim,
    "pipeline": _pipeline,
    "staged media": _staged_media,
}
