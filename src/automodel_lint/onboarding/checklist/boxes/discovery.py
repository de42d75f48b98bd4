"""What the checkpoint's config says, or else what the class shows of it."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.inference.module_tree import Place
from automodel_lint.onboarding.built import TOWER, Key, built_components
from automodel_lint.onboarding.checklist import box
from automodel_lint.onboarding.checklist.answers import Evidence, NotDecidable
from automodel_lint.onboarding.checklist.given import Given
from automodel_lint.onboarding.checklist.subject import Subject
from automodel_lint.onboarding.component import ATTENTION, EXPERTS, GROUPS
from automodel_lint.onboarding.nearest import KIND

NO_CONFIG = "it takes the checkpoint's config: `--config FILE`"
_TELLING = {
    (EXPERTS, "routed"): "mixture of experts",
    (TOWER, "image"): "multimodal",
    (TOWER, "audio"): "multimodal",
    (ATTENTION, "state space"): "hybrid",
    (ATTENTION, "linear attention"): "hybrid",
}
_MEDIA = {"image": "images", "audio": "sound"}


@box("config-read", 110, "The checkpoint's `config.json` is read", "1.1")
def config_read(subject: Subject) -> Iterator[Evidence]:
    given = subject.config
    if given is None:
        raise NotDecidable(NO_CONFIG)
    found = given.found
    named = ", ".join(f"`{name}`" for name in found.architectures) or "no architecture"
    line = found.file.line("architectures") or 1
    yield subject.in_config(f"of {named}, `model_type` {found.model_type or 'not stated'}", line)


@box("kind", 120, "The kind of model is told: dense, mixture of experts, hybrid, multimodal, encoder", "1.2")
def kind(subject: Subject) -> Iterator[Evidence]:
    if subject.config is not None:
        yield from _kinds(subject, subject.config)
        return
    model = subject.model
    telling = {key: place for key, place in built_components(model).items() if key in _TELLING}
    for key, place in telling.items():
        yield subject.at_place(f"{_TELLING[key]}: it builds {_named(key)}", place)
    if not model.owns_causal_head:
        yield subject.at_class("encoder: it owns no causal head", model.entity)
    elif not telling and model.module_tree.complete:
        yield subject.at_class("dense: nothing in its module tree says otherwise", model.entity)


def _kinds(subject: Subject, given: Given) -> Iterator[Evidence]:
    for found in given.found.kinds:
        yield subject.in_config(f"{found.name}: {found.reason}", given.line(found.fields))
    for key in given.lacking:
        if key[0] in (KIND, TOWER) or key == (EXPERTS, "routed"):
            yield subject.note(f"the class does not seem to build {_named(key)}", subject.model.path, _at(subject))


@box("components", 140, "Attention, rotary embedding, norm, feed-forward and experts are identified", "1.4")
def components(subject: Subject) -> Iterator[Evidence]:
    given = subject.config
    if given is None:
        for key, place in built_components(subject.model).items():
            if key[0] in GROUPS:
                yield _noted(subject, f"it builds {_named(key)}", place)
        raise NotDecidable(f"{NO_CONFIG}; the class only shows what it builds")
    for component in given.found.components:
        detail = f" ({component.detail})" if component.detail else ""
        yield subject.in_config(f"{component.group}: {component.name}{detail}", given.line(component.fields))
    for key in given.lacking:
        if key[0] in GROUPS and key != (EXPERTS, "routed"):
            yield subject.note(f"the class does not seem to have {_named(key)}", subject.model.path, _at(subject))


def _named(key: Key) -> str:
    group, name = key
    return {TOWER: f"a tower for {_MEDIA.get(name, name)}", EXPERTS: f"experts ({name})", KIND: f"what is {name}"}.get(
        group, f"{group} ({name})"
    )


def _noted(subject: Subject, text: str, place: Place) -> Evidence:
    return subject.as_note(subject.at_place(text, place))


def _at(subject: Subject) -> int:
    return subject.model.entity.node.lineno
