"""The registry's lines: the architecture, and the config class."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.model_config import config_classes, constructed_with, literal_model_type, registers_itself
from automodel_lint.domain.plan import Registration
from automodel_lint.inference.names import ClassEntity
from automodel_lint.onboarding.checklist import box
from automodel_lint.onboarding.checklist.answers import Evidence, NotApplicable, NotDecidable
from automodel_lint.onboarding.checklist.subject import Subject
from automodel_lint.onboarding.surroundings import NEEDED, UNKNOWN


@box(
    "registered",
    270,
    "Its architecture is registered in `MODEL_ARCH_MAPPING`",
    "2.7",
    ("NAM101", "NAM102", "NAM103", "NAM107"),
)
def registered(subject: Subject) -> Iterator[Evidence]:
    for entry in subject.registrations:
        yield subject.done(f"registers `{entry.key}`", *_place(subject, entry))
    if not subject.registrations:
        module, name = subject.model.entity.module.name, subject.model.name
        key = subject.config.found.architecture if subject.config is not None else None
        yield subject.missing(
            f'no entry leads to it: write `"{key or name}": ("{module}", "{name}")` into the registry'
        )


def _place(subject: Subject, entry: Registration) -> tuple[str, int]:
    return subject.model.project.tree.absolute(entry.path), entry.span.line


@box("config-class", 220, "A config class is written where transformers has none", "2.2", ("NAM215",))
def config_class(subject: Subject) -> Iterator[Evidence]:
    own = own_configs(subject)
    for cls in own:
        yield subject.at_class(f"defines `{cls.name}`", cls)
    if own:
        return
    if subject.config is not None:
        asked = subject.config.around.config_class
        if asked.status == NEEDED:
            yield subject.missing(f"no config class is there: {asked.reason}")
            return
        if asked.status != UNKNOWN:
            raise NotApplicable(asked.reason)
    config, guessed = constructed_with(subject.model)
    if config is None:
        raise NotDecidable("the source does not tell which config class the constructor gets")
    if guessed:
        raise NotApplicable(f"transformers has one for the architecture: `{config.fqn}`")
    raise NotApplicable(f"it takes `{config.fqn}`")


def own_configs(subject: Subject) -> list[ClassEntity]:
    """Return the config classes of the checkout that the model takes at its top level."""
    found = config_classes(subject.model)
    config, guessed = constructed_with(subject.model)
    if config is not None and not guessed:
        found = [*found, config]
    return [cls for cls in dict.fromkeys(found) if subject.model.classes.in_checkout(cls)]


@box(
    "config-registered",
    271,
    "The config class is registered in `_CUSTOM_CONFIG_REGISTRATIONS`",
    "2.7",
    ("NAM104", "NAM108"),
)
def config_registered(subject: Subject) -> Iterator[Evidence]:
    model, open_questions = subject.model, []
    project, own = subject.model.project, own_configs(subject)
    if not own:
        config, _ = constructed_with(model)
        if config is None:
            raise NotDecidable("the source does not tell which config class the constructor gets")
        raise NotApplicable(f"`{config.fqn}` is none of the checkout's own")
    builtin = project.builtin_model_types()
    for cls in own:
        entry = next((e for e in project.configs if cls in project.by_fqn(f"{e.module}.{e.cls}")), None)
        own_type = literal_model_type(project, cls)
        if entry is not None:
            yield subject.done(f"registers `{cls.name}` for `{entry.key}`", *_place(subject, entry))
        elif own_type is None:
            open_questions.append(f"`{cls.name}` has no literal `model_type`")
        elif own_type in (builtin or ()):
            open_questions.append(f"transformers itself knows the `model_type` `{own_type}` of `{cls.name}`")
        elif builtin is None and not registers_itself(model, cls):
            raise NotDecidable("no transformers is at hand that says which `model_type` it knows; `--python` names one")
    if open_questions:
        raise NotApplicable("; ".join(open_questions))
