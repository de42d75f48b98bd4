"""Weight tying: policy, guard, declarations, loading."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.loading import FLIP_GUARD, Loading
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.tie_flag import FLAG
from automodel_lint.domain.tie_guard import GUARD
from automodel_lint.domain.tie_policy import KEYS, POLICY
from automodel_lint.onboarding.checklist import box
from automodel_lint.onboarding.checklist.answers import Evidence, NotApplicable, NotDecidable
from automodel_lint.onboarding.checklist.subject import Subject

NO_HEAD = "it owns no causal language-model head"
NO_POLICY = "the tie policy is not known"
OLD_RELEASE = "this release of the framework has no tie policies"


@box(
    "tie-policy",
    230,
    "The tie policy is declared, and the constructor starts with the guard on the whole config",
    "2.3",
    ("NAM201", "NAM202", "NAM203", "NAM204", "NAM205", "NAM206", "NAM207"),
)
def tie_policy(subject: Subject) -> Iterator[Evidence]:
    model = subject.model
    if not model.owns_causal_head:
        raise NotApplicable(NO_HEAD)
    members, opaque = model.inherited(POLICY)
    for member in members if not opaque else ():
        where = "" if member.owner is model.entity else f", inherited from `{member.owner.name}`"
        policies = " or ".join(sorted(model.tie_policies or ())) or "a policy that the source does not tell"
        yield subject.at_member(f"declares {policies}{where}", member)
    yield from _refused(subject)
    calls = [(g.owner, g.first) for g in model.constructors if g.first is not None and g.first.through is None]
    for owner, call in calls[:1]:
        yield subject.done(f"calls `{GUARD}`", owner.module.path, call.node)
    _demand(model, bool(members) and not opaque, bool(calls))


def _refused(subject: Subject) -> Iterator[Evidence]:
    """The given config of a checkpoint that the policy refuses."""
    flag = subject.config.found.tie if subject.config is not None else None
    outer = [field for field in flag.fields if field.path == FLAG] if flag is not None else []
    if outer and subject.model.tie_policy == ("UNTIED_ONLY" if outer[0].value else "TIED_ONLY"):
        said = f"`{FLAG}: {str(outer[0].value).lower()}`"
        text = f"the config says {said}, which {subject.model.tie_policy} refuses: declare the policy that is so"
        member = subject.model.inherited(POLICY)[0][0]
        yield subject.missing(text, member.owner.module.path, member.binding.node)


def _demand(model: ModelClass, has_policy: bool, has_guard: bool) -> None:
    """What no rule reports and no evidence shows is open, or older than the contract."""
    if not model.project.knows("TieSupport"):
        raise NotApplicable(OLD_RELEASE)
    if not has_policy:
        raise NotDecidable("a base without source at hand may declare the policy")
    if not has_guard:
        raise NotDecidable("a base without source at hand may call the guard")


@box(
    "tied-weights",
    231,
    "A head that can be tied has `_tied_weights_keys` and a `tie_weights()` of its own that keeps to the policy",
    "2.3",
    ("NAM208", "NAM209", "NAM210", "NAM212", "NAM213", "NAM214", "NAM903", "NAM904"),
)
def tied_weights(subject: Subject) -> Iterator[Evidence]:
    model = subject.model
    if not model.owns_causal_head:
        raise NotApplicable(NO_HEAD)
    has_policies = model.project.knows("TieSupport")
    if model.tie_policies is None and (has_policies or not model.defines(KEYS)):
        raise NotDecidable(NO_POLICY) if has_policies else NotApplicable(OLD_RELEASE)
    if not model.ties and has_policies:
        yield from subject.also_ran("NAM903", "NAM904")
        raise NotApplicable("its head is never tied")
    for name in (KEYS, "tie_weights"):
        for member in model.local(name)[:1]:
            yield subject.at_member(f"defines `{name}`", member)
    yield from subject.also_ran("NAM903", "NAM904")


@box(
    "flip-guard",
    232,
    "A `from_pretrained` of its own refuses to change the checkpoint's tie flag",
    "2.3",
    ("NAM211",),
)
def flip_guard(subject: Subject) -> Iterator[Evidence]:
    model = subject.model
    if not model.owns_causal_head:
        raise NotApplicable(NO_HEAD)
    view = model.method("from_pretrained", local=True)
    if view is None:
        raise NotApplicable("it is loaded through the framework's own `from_pretrained`")
    loading = Loading(view)
    refusal = loading.refusal()
    if refusal is not None:
        path, call = refusal
        yield subject.done(f"calls `{FLIP_GUARD}`", path, call)
    elif loading.changed_by() is None:
        yield subject.note("the `from_pretrained` of its own", view.owner.module.path, view.node)
        raise NotApplicable("its `from_pretrained` takes the checkpoint's own config only")
