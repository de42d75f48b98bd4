"""NAM401-NAM403, NAM406-NAM408, NAM410: what must stay in fp32, and the lists that pin it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator

from automodel_lint.domain.allocation import Allocations
from automodel_lint.domain.casts import casts_when_made
from automodel_lint.domain.keep_list import STRICT, Pattern, Written, may_match
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.own_code import names_checkpoint_key, names_tensor
from automodel_lint.domain.precision import (
    HOLDER,
    follows_model,
    has_followers,
    intrinsically_fp32,
    is_open_choice,
    is_rotary_table,
    pattern_for,
    sweeps_in,
)
from automodel_lint.findings import Finding, Severity
from automodel_lint.inference.module_tree import BUFFER, PARAMETER, ModuleTree, Tensor
from automodel_lint.inference.names import ClassEntity
from automodel_lint.remedies import pins as remedies
from automodel_lint.remedies.allocations import allocated, handed
from automodel_lint.repairs import Repair
from automodel_lint.rules import rule

_SHOWN = 3  # names that a message spells out


@rule("NAM401")
def fp32_unpinned(model: ModelClass) -> Iterator[Finding]:
    pins = model.pins
    if pins.complete and model.project.knows(STRICT):
        unpinned = [t for t in _intrinsic(model) if not pins.covers(t.fqn)]
        yield from _to_pin(model, unpinned, lambda t: Severity.INFO if is_open_choice(t) else None)


@rule("NAM406")
def fp32_pin_not_strict(model: ModelClass) -> Iterator[Finding]:
    def severity(tensor: Tensor) -> Severity | None:
        patterns = [p.text for p in pins.plainly(tensor.fqn)]
        mild = tensor.kind == BUFFER or names_tensor(model, tensor.fqn, patterns)
        return Severity.WARNING if mild else None

    pins = model.pins
    if pins.strict.complete and model.project.knows(STRICT):
        loose = [t for t in _intrinsic(model) if not pins.strictly(t.fqn) and pins.plainly(t.fqn)]
        yield from _to_pin(model, loose, severity)


def _intrinsic(model: ModelClass) -> list[Tensor]:
    found = intrinsically_fp32(model.module_tree, model.project.fp32_names)
    return [tensor for tensor in found if model.may_surely_hold(tensor)]


def _to_pin(
    model: ModelClass, tensors: list[Tensor], severity: Callable[[Tensor], Severity | None]
) -> Iterator[Finding]:
    """One finding for each place where patterns are missing: the strict list, or else the class."""
    places: dict[Written | None, list[Tensor]] = {}
    for tensor in tensors:
        places.setdefault(_strict_list(model, tensor), []).append(tensor)
    for place, missing in places.items():
        each = [pattern_for(t, model.module_tree, model.project.fp32_names) for t in missing]
        patterns = list(dict.fromkeys(pattern for pattern in each if pattern is not None))
        weights = [severity(t) for t in missing]
        yield model.finding(
            place.node if place else None,
            owner=place.owner if place else None,
            method=place.method if place else None,
            severity=None if None in weights else max(w for w in weights if w is not None),
            repair=remedies.pinned(model, place, missing, patterns) if None not in each else None,
            tensors=_listing(t.fqn for t in missing),
            advice=_advice(model, place, patterns),
        )


def _advice(model: ModelClass, place: Written | None, patterns: list[str]) -> str:
    """What to write, as the end of a message."""
    if not patterns:
        return f"add a pattern to `{STRICT}` that matches no other weights"
    quoted = ", ".join(f'"{pattern}"' for pattern in patterns)
    if place is not None:
        return f"add `{quoted}` to `{STRICT}`"
    inherited = model.pins.inherited
    return f"write `{STRICT} = [{f'*{inherited}, ' if inherited else ''}{quoted}]`"


def _strict_list(model: ModelClass, tensor: Tensor) -> Written | None:
    """The assignment to extend; an inherited one only if the class it belongs to has the tensor, too."""
    place = model.pins.strict.declared
    if place is None or place.owner is model.entity:
        return place
    base = ModelClass(model.project, place.owner, model.architectures, model.tags)
    return place if any(t.name == tensor.name for t in base.module_tree.tensors) else None


@rule("NAM402")
def fp32_pin_dead(model: ModelClass) -> Iterator[Finding]:
    for pattern in _own_patterns(model):
        if not _is_dead(pattern.text, model.module_tree) or names_checkpoint_key(model, pattern.text):
            continue
        if _is_dead(pattern.text, model.tree_by_caller):
            yield _about(model, pattern, hint=_near(pattern.text, model.module_tree.by_fqn))


def _is_dead(text: str, tree: ModuleTree) -> bool:
    """Whether a tree is known as a whole, and a pattern matches nothing in it."""
    return tree.complete and not any(may_match(text, fqn) for fqn in (*tree.by_fqn, *(n.fqn for n in tree.nodes())))


def _near(text: str, fqns: Iterable[str]) -> str:
    """The nearest end of a name that a pattern could have meant, as the end of a message."""
    ends = {".".join(fqn.split(".")[-size:]) for fqn in fqns for size in (1, 2, 3)}
    found = difflib.get_close_matches(text, sorted(end for end in ends if "*" not in end), 1, cutoff=0.75)
    return f' (did you mean `"{found[0]}"`?)' if found else ""


@rule("NAM403")
def fp32_pin_malformed(model: ModelClass) -> Iterator[Finding]:
    allocations = Allocations(model)
    for attribute, listed in model.pins.lists.items():
        for problem in {id(p.place.node): p for p in listed.problems if allocations.is_ours(p.place.owner)}.values():
            place = problem.place
            yield model.finding(
                place.node, owner=place.owner, method=place.method, attribute=attribute, problem=problem.kind
            )


@rule("NAM407")
def fp32_holder(model: ModelClass) -> Iterator[Finding]:
    names = model.project.fp32_names
    bare = [t for t in _intrinsic(model) if t.kind == PARAMETER and t.trainable and HOLDER not in t.fqn.split(".")]
    bare = [t for t in bare if has_followers(t.module, names)]
    for author, tensors in Allocations(model).by_author(bare).items():
        if author is not None:
            yield _where_created(model, author, tensors)
        else:
            yield model.finding(tensors=_listing(t.fqn for t in tensors))


@rule("NAM408")
def fp32_allocated_low(model: ModelClass) -> Iterator[Finding]:
    if casts_when_made(model.project, model.entity) - {"raw"}:
        return  # the framework's cast makes what is pinned fp32 before anything is loaded
    allocations = Allocations(model)
    low = [t for t in model.module_tree.tensors if follows_model(t) and not is_rotary_table(t) and _pin(model, t)]
    for author, tensors in allocations.by_author(low).items():
        if author is not None and allocations.is_of_a_model(author):
            repair = allocated(model, author.module.path, tensors)
            yield _where_created(model, author, tensors, repair, advice="allocate with `dtype=torch.float32`")
            continue
        shared = {t.fqn: p for t in tensors if allocations.is_created_here(t) and (p := _pin(model, t)) is not None}
        ours = {fqn: pattern for fqn, pattern in shared.items() if allocations.is_ours(pattern.place.owner)}
        if ours:
            pattern = next(iter(ours.values()))
            repair = handed(model, pattern.place.owner.module.path, ours)
            yield _about(model, pattern, repair, tensors=_listing(ours), advice=_SHARED)


_SHARED = (
    "hand `dtype=torch.float32` to the layer that allocates it (a routing gate: `MoEConfig(gate_dtype=torch.float32)`)"
)


def _pin(model: ModelClass, tensor: Tensor) -> Pattern | None:
    """The pattern that pins a tensor, if it is meant by one and not just swept in."""
    for pattern in (*model.pins.strict.patterns, *model.pins.plain.patterns):
        if may_match(pattern.text, tensor.fqn) and not sweeps_in(pattern.text, tensor, model.project.fp32_names):
            return pattern
    return None


def _where_created(
    model: ModelClass, author: ClassEntity, tensors: list[Tensor], repair: Repair | None = None, **fields: str
) -> Finding:
    """One finding for the tensors that one class creates, at the first of them."""
    names, at = _listing(dict.fromkeys(t.name for t in tensors)), tensors[0].place.node
    return model.finding(at, owner=author, method="__init__", repair=repair, tensors=names, **fields)


@rule("NAM410")
def fp32_pin_broad(model: ModelClass) -> Iterator[Finding]:
    names = model.project.fp32_names
    for pattern in _own_patterns(model):
        swept = dict.fromkeys(t.fqn for t in model.module_tree.tensors if sweeps_in(pattern.text, t, names))
        if swept:
            yield _about(model, pattern, tensors=_listing(swept))


def _own_patterns(model: ModelClass) -> list[Pattern]:
    """The patterns that the class itself writes, of lists that are well formed; each text once a list."""
    found: dict[tuple[str, str], Pattern] = {}
    for attribute, listed in model.pins.lists.items():
        for pattern in listed.patterns if not listed.problems else ():
            if pattern.place.owner is model.entity:
                found.setdefault((attribute, pattern.text), pattern)
    return list(found.values())


def _about(model: ModelClass, pattern: Pattern, repair: Repair | None = None, **fields: str) -> Finding:
    at, owner, method = pattern.place.node, pattern.place.owner, pattern.place.method
    return model.finding(at, owner=owner, method=method, repair=repair, pattern=f'"{pattern.text}"', **fields)


def _listing(names: Iterable[str]) -> str:
    """Names as a message shows them: the first few, and how many more there are."""
    every = list(names)
    shown = ", ".join(f"`{name}`" for name in every[:_SHOWN])
    return shown if len(every) <= _SHOWN else f"{shown} and {len(every) - _SHOWN} more"
