"""What a class declares about parallelism and precision."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.capabilities import DYNAMIC, NESTED
from automodel_lint.domain.keep_list import STRICT, may_match
from automodel_lint.domain.precision import intrinsically_fp32, is_open_choice, is_rotary_table
from automodel_lint.inference.module_tree import Tensor
from automodel_lint.onboarding.checklist import box
from automodel_lint.onboarding.checklist.answers import Evidence, NotApplicable, NotDecidable
from automodel_lint.onboarding.checklist.subject import Subject


@box(
    "capabilities",
    280,
    "Parallelism is declared in one way: a frozen `ModelCapabilities`, or `get_capabilities(cls, config)`",
    "2.8",
    ("NAM301", "NAM302", "NAM303", "NAM304", "NAM305", "NAM306", "NAM308", "NAM816", "NAM911"),
)
def capabilities(subject: Subject) -> Iterator[Evidence]:
    if not subject.model.project.knows("query_capabilities"):
        raise NotApplicable("this release of the framework asks no class for its capabilities")
    for name in (NESTED, DYNAMIC):
        for member in subject.model.local(name)[:1]:
            yield subject.at_member(f"declares `{name}`", member)
    yield from subject.also_ran("NAM911")


@box(
    "fp32",
    281,
    "Every parameter and buffer that must be fp32 is pinned in `_keep_in_fp32_modules_strict`",
    "2.8",
    ("NAM401", "NAM402", "NAM403", "NAM404", "NAM405", "NAM406", "NAM408", "NAM410", "NAM905"),
)
def fp32(subject: Subject) -> Iterator[Evidence]:
    model, pins = subject.model, subject.model.pins
    if not model.project.knows(STRICT):
        raise NotApplicable("this release of the framework has no strict keep list")
    used: dict[str, list[Tensor]] = {}
    places = {p.text: p.place for p in pins.strict.patterns}
    intrinsic = [t for t in _intrinsic(subject) if not is_open_choice(t)]
    for tensor in model.module_tree.tensors:
        for text in places:
            if may_match(text, tensor.fqn) and (tensor in intrinsic or is_rotary_table(tensor)):
                used.setdefault(text, []).append(tensor)
    for text, tensors in used.items():
        names = list(dict.fromkeys(t.fqn for t in tensors))
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield subject.done(f'"{text}" pins `{names[0]}`{more}', places[text].owner.module.path, places[text].node)
    yield from subject.also_ran("NAM905")
    open_ones = [t.fqn for t in intrinsic if not pins.covers(t.fqn)]
    if not pins.complete and open_ones:
        raise NotDecidable(f"the keep lists are put together at run time; `{open_ones[0]}` may be in them")
    if not model.module_tree.complete:
        raise NotDecidable("the module tree is not complete; there may be more that must be fp32")
    if not used:
        raise NotApplicable("the source shows nothing that must be fp32")


def _intrinsic(subject: Subject) -> list[Tensor]:
    model = subject.model
    found = intrinsically_fp32(model.module_tree, model.project.fp32_names)
    return [tensor for tensor in found if model.may_surely_hold(tensor)]
