"""What the model class must declare: the tie, what it can be split by, what stays in fp32."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.precision import is_named
from automodel_lint.onboarding.classification import Classification
from automodel_lint.onboarding.component import ATTENTION
from automodel_lint.onboarding.kind import ENCODER, MULTIMODAL, OMNI
from automodel_lint.onboarding.nearest import Near
from automodel_lint.onboarding.step import DECLARATIONS, IF, PRECISION, TO_DO, Step, several


def declarations(found: Classification) -> Iterator[Step]:
    """Yield what the class declares besides its precision."""
    yield from _tie(found)
    yield Step(
        DECLARATIONS,
        TO_DO,
        "declare `ModelCapabilities`, each axis only where a recipe has run it",
        "every registered class does, with or without a head",
        rule="NAM301",
    )
    if found.experts is not None:
        yield Step(
            DECLARATIONS,
            IF,
            "use `get_capabilities(cls, config)` instead, if dense checkpoints of the same class exist",
            "`supports_ep` must not be claimed for a variant without experts",
            rule="NAM308",
        )
        yield Step(
            DECLARATIONS,
            TO_DO,
            "`MoEFSDPSyncMixin` among the bases, `moe_overrides` passed on to the `MoEConfig`",
            "experts are sharded apart from the rest",
            rule="NAM601",
        )
    if found.experts is not None and found.experts.correction_bias is not None:
        yield Step(
            DECLARATIONS,
            IF,
            "`update_moe_gate_bias`, if the bias is updated in training",
            f"`{found.experts.correction_bias.path}`: a bias corrects which experts are chosen",
            rule="NAM602",
        )
    if found.is_(MULTIMODAL) or found.is_(OMNI):
        yield Step(
            DECLARATIONS,
            IF,
            "`_pp_keep_self_forward = True`, if `supports_pp` is declared and chunks of media are fetched in `forward`",
            "a pipeline stage otherwise loses the media",
            rule="NAM703",
        )
    if not found.is_(ENCODER):
        what = "take `logits_to_keep` and `**kwargs` in `forward`"
        yield Step(DECLARATIONS, TO_DO, what, "the loss does not need the logits of every token", rule="NAM701")


def _tie(found: Classification) -> Iterator[Step]:
    tie = found.tie
    where = several([f"`{field.path}: {str(field.value).lower()}`" for field in tie.fields])
    if found.is_(ENCODER):
        why = "no causal head is named" + (f"; {where} is of no use then" if where else "")
        what = "declare `tie_word_embeddings_support` and guard it, if the class owns a causal head"
        yield Step(DECLARATIONS, IF, what, why, rule="NAM201")
        return
    if tie.value is None:
        policy, why = (
            "which policy is open",
            "the flag is absent; what transformers takes by default is no statement: ask its checkpoints",
        )
    elif tie.value:
        policy, why = "`BOTH` or `TIED_ONLY`", where
    else:
        policy, why = "`UNTIED_ONLY`, or `BOTH` if other checkpoints of the class are tied", where
    if tie.place == "nested":
        why += "; stated only inside: the outer config must take it and pass it on"
    if tie.contradicts:
        why += "; they differ, and the outer one counts"
    what = f"declare `tie_word_embeddings_support` ({policy}), and call the guard first in `__init__`"
    yield Step(DECLARATIONS, TO_DO, what, why, rule="NAM201")
    state = TO_DO if tie.value else IF
    what = "write `_tied_weights_keys` and `tie_weights()`" + (
        "" if tie.value else " where the policy lets the head be tied"
    )
    yield Step(DECLARATIONS, state, what, "tying is not left to a base class", rule="NAM208")


def precision(found: Classification, near: list[Near]) -> Iterator[Step]:
    """Yield what must stay in fp32, by the config and by what the nearest classes keep."""
    for tensors, why in _tensors(found):
        what = f"keep {several([f'`{name}`' for name in tensors])} in `_keep_in_fp32_modules_strict`"
        yield Step(PRECISION, TO_DO, what, why, rule="NAM401")
    said = {name for tensors, _ in _tensors(found) for name in tensors}
    for one in near[:3]:
        kept = [name for name in _kept(one) if not any(name in word or word in name for word in said)]
        if kept:
            said |= set(kept)
            words = several([f"`{name}`" for name in kept])
            why = f"`{one.registered.model.name}` does"
            yield Step(PRECISION, IF, f"keep {words} too, if there is such a tensor", why, rule="NAM401")
    if found.experts is not None:
        yield Step(
            PRECISION, IF, "set or pass on `backend.gate_precision`", "routing rounds experts away", rule="NAM603"
        )


def _tensors(found: Classification) -> list[tuple[list[str], str]]:
    result: list[tuple[list[str], str]] = []
    experts = found.experts
    if experts is not None and experts.correction_bias is not None:
        why = f"`{experts.correction_bias.path}`: rounding it changes which experts are chosen"
        result.append((["e_score_correction_bias"], why))
    elif experts is not None and experts.router == "sigmoid" and experts.router_field is not None:
        why = f"`{experts.router_field.path}`: a sigmoid gate mostly comes with a correction bias; see the checkpoint"
        result.append((["e_score_correction_bias"], why))
    for name in ("state space", "linear attention"):
        if found.has(ATTENTION, name):
            result.append((["A_log", "dt_bias"], f"{name}: the decay is exponentiated"))
    if found.has(ATTENTION, "sinks"):
        result.append((["sinks"], "attention sinks are added to logits"))
    return result


def _kept(one: Near) -> list[str]:
    """The tensors, by their last name, that a class keeps in fp32."""
    model = one.registered.model
    names = {tensor.name for tensor in model.module_tree.tensors if is_named(tensor, model.project.fp32_names)}
    return sorted(name for name in names if any(name in p.text or p.text in name for p in model.pins.strict.patterns))
