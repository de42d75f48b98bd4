"""The checkpoint's ``config.json`` that an audit was given, beside the class that is audited."""

from __future__ import annotations

from dataclasses import dataclass

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.onboarding.built import Key
from automodel_lint.onboarding.classification import Classification, classify
from automodel_lint.onboarding.config_file import ConfigFile
from automodel_lint.onboarding.nearest import not_built
from automodel_lint.onboarding.parts import Field
from automodel_lint.onboarding.registered import Registered
from automodel_lint.onboarding.surroundings import Surroundings, surroundings_of
from automodel_lint.request import UsageError


@dataclass(frozen=True)
class Given:
    """A config and what it means for one class.

    Attributes:
        found: what it says.
        around: what checkout and transformers know of it.
        lacking: what it asks for and the class seems not to have.
    """

    found: Classification
    around: Surroundings
    lacking: tuple[Key, ...]

    def line(self, fields: tuple[Field, ...]) -> int:
        """Return the line of the first of some fields that stands in the file."""
        lines = (self.found.file.line(field.path) for field in fields)
        return next((line for line in lines if line is not None), 1)


def given_to(file: ConfigFile, models: list[ModelClass], unregistered: set[str]) -> list[Given | None]:
    """Return what a config says of each class; ``None`` for those that it is not about.

    It may be about a class of ``unregistered`` (their names), whatever it calls its architecture.

    Raises:
        UsageError: if it is about none of them.
        ConfigProblem: if a field that is needed has a value of a wrong type.
    """
    found = classify(file)
    named = set(found.architectures)
    meant = [not named or bool(named & {model.name, *model.architectures}) for model in models]
    if not any(meant):
        meant = [model.name in unregistered for model in models]
    if not any(meant):
        known = sorted({name for model in models for name in model.architectures})
        raise UsageError(f"{file.path}: it is of {', '.join(found.architectures)}, not of {' or '.join(known)}")
    return [_given(found, model) if is_meant else None for is_meant, model in zip(meant, models, strict=True)]


def _given(found: Classification, model: ModelClass) -> Given:
    around = surroundings_of(found, model.project, model.project.names)
    return Given(found, around, not_built(found, Registered(model)))
