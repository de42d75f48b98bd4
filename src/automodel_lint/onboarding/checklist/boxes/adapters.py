"""What gives a model's tensors the names of a checkpoint: whether it is there, complete, honest about memory."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.adapter import Adapter, has_unknown_adapter
from automodel_lint.domain.low_memory import claim, claim_tests, decisions, is_asked_about
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.model_config import constructed_with
from automodel_lint.domain.reference import reference_tree
from automodel_lint.inference.construction.flatten import module_tree
from automodel_lint.inference.key_map import Key
from automodel_lint.inference.module_tree import ModuleTree, matches
from automodel_lint.inference.names import ClassEntity
from automodel_lint.onboarding.checklist import box
from automodel_lint.onboarding.checklist.answers import Evidence, NotApplicable, NotDecidable
from automodel_lint.onboarding.checklist.components import expert_blocks, parts_of_block
from automodel_lint.onboarding.checklist.subject import Subject

NO_ADAPTER = "it has no state-dict adapter"
_SHOWN = 3


@box(
    "adapter",
    225,
    "A state-dict adapter is written where names or layouts of a checkpoint differ, and loses nothing either way",
    "2.2",
    ("NAM501", "NAM502", "NAM503", "NAM504", "NAM505", "NAM506", "NAM507", "NAM510", "NAM513"),
)
def adapter(subject: Subject) -> Iterator[Evidence]:
    model = subject.model
    for found in model.adapters:
        if found.entity is not None:
            yield subject.at_class(f"`{found.name}`", found.entity)
    if has_unknown_adapter(model):
        raise NotDecidable("it has an adapter that the source does not tell")
    if not model.adapters:
        _without(model)


def _without(model: ModelClass) -> None:
    """Whether a model that has no adapter needs none: its names are those of transformers' own."""
    own, tree = model.module_tree, _reference(model)
    if tree is None or not tree.complete or not own.complete:
        raise NotDecidable(f"{NO_ADAPTER}, and there is nothing to compare its names with")
    known = _saved(tree)
    alien = [name for name in _saved(own) if not any(matches(name, other) for other in known)]
    if alien:
        more = f" and {len(alien) - 1} more" if len(alien) > 1 else ""
        raise NotDecidable(f"{NO_ADAPTER}; transformers' own model has no `{alien[0]}`{more}")
    raise NotApplicable("its names are those of transformers' own model")


def _reference(model: ModelClass) -> ModuleTree | None:
    """The tree of transformers' own class of the architecture, or else of the one that the class is derived from."""
    found = reference_tree(model)
    if found is not None:
        return found
    config, _ = constructed_with(model)
    bases = [a for a in model.mro if isinstance(a, ClassEntity) and not model.classes.is_local(a)]
    trees = (module_tree(model.classes, model.project.torch_names, base, config) for base in bases)
    return next((tree for tree in trees if tree.tensors), None)


def _saved(tree: ModuleTree) -> list[str]:
    return [fqn for fqn, variants in tree.by_fqn.items() if any(t.persistent for t in variants)]


def _known_adapters(subject: Subject) -> tuple[Adapter, ...]:
    """The adapters of a class; raises where there is none, or none that can be followed."""
    found = subject.model.adapters
    if not found:
        if has_unknown_adapter(subject.model):
            raise NotDecidable("it has an adapter that the source does not tell")
        raise NotApplicable(NO_ADAPTER)
    return found


@box(
    "moe-mapping",
    240,
    "Router, router bias, routed and shared experts each have their names in a checkpoint, experts in their order",
    "2.4",
    ("NAM512",),
)
def moe_mapping(subject: Subject) -> Iterator[Evidence]:
    blocks = expert_blocks(subject.model)
    if not blocks:
        raise NotApplicable("it has no routed experts")
    lost: list[str] = []
    for found in _known_adapters(subject):
        for block in blocks:
            for role, tensors in parts_of_block(subject.model, block).items():
                keys = [found.to_hf.keys[t.fqn] for t in tensors if t.fqn in found.to_hf.keys]
                lost += [key.name for key in keys if not key.followed]
                yield from _mapped(subject, found, role, [k for k in keys if k.followed and k.all_names])
    if lost:
        raise NotDecidable(f"what the adapter makes of `{lost[0]}` cannot be followed")


def _mapped(subject: Subject, found: Adapter, role: str, keys: list[Key]) -> Iterator[Evidence]:
    """Where the names of one part are put together; the method that hands them on, where they stay as they are."""
    method = found.method("to_hf")
    if not keys or method is None:
        return
    key = next((k for k in keys if k.place is not None), keys[0])
    names = list(dict.fromkeys(name for k in keys for name in k.all_names))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    text = f"{role}: saved as {', '.join(f'`{name}`' for name in names[:_SHOWN])}{more}"
    if key.place is not None:
        yield subject.at_place(text, key.place)
    else:
        yield subject.done(text, method.owner.module.path, method.node)


@box(
    "checkpoint-cost",
    260,
    "Time and peak memory of loading and saving a checkpoint are measured",
    "2.6",
)
def checkpoint_cost(subject: Subject) -> Iterator[Evidence]:
    _known_adapters(subject)
    raise NotDecidable("a matter of figures from a real checkpoint: give model, dtype, backend and topology with them")


@box(
    "low-memory",
    261,
    "The adapter says whether a checkpoint can be read straight into the model's memory, and a test holds it to that",
    "2.6",
    ("NAM508", "NAM509", "NAM909"),
)
def low_memory(subject: Subject) -> Iterator[Evidence]:
    model, silent = subject.model, []
    adapters = _known_adapters(subject)
    if not any(is_asked_about(model, found) for found in adapters):
        raise NotApplicable("this release of the framework asks no adapter for it")
    for found in adapters:
        own = decisions(model, found)
        tests = list(claim_tests(model, found))
        for member in own:
            says = "says that it can" if claim(model, found) is not None else "says when it can"
            yield subject.at_member(f"`{found.name}` {says}", member)
        yield from (subject.named_in(path, found.name, f"asks `{found.name}` whether it can") for path in tests)
        if not own and not tests:
            silent.append(found.name)
    yield from subject.also_ran("NAM909")
    if silent:
        raise NotDecidable(f"`{silent[0]}` leaves it at no; whether that was thought about does not show")
