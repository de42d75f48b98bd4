"""The registered classes of a checkout as something to compare a config with."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from automodel_lint.domain.config_fields import ConfigFields, config_fields
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.model_config import constructed_with
from automodel_lint.domain.project import Project
from automodel_lint.inference.module_tree import Place
from automodel_lint.inference.names import ClassEntity
from automodel_lint.onboarding.built import Key, built_components
from automodel_lint.onboarding.classification import Classification, classify
from automodel_lint.onboarding.config_file import ConfigProblem, config_of
from automodel_lint.onboarding.parts import TEXT, role_of


class Registered:
    """One registered class.

    Attributes:
        model: the class.
    """

    def __init__(self, model: ModelClass):
        self.model = model

    @cached_property
    def config(self) -> ClassEntity | None:
        """The class of its config, if that can be told."""
        return constructed_with(self.model)[0]

    @property
    def package(self) -> str:
        """The name of its model package, or of its module where it has none."""
        folder = self.model.project.model_package(self.model.path)
        if folder is not None:
            return folder.replace("\\", "/").rpartition("/")[2]
        return self.model.entity.module.name.rpartition(".")[2]

    @cached_property
    def _all_fields(self) -> ConfigFields:
        return config_fields(self.model.project, self.config) if self.config is not None else ConfigFields()

    @cached_property
    def fields(self) -> frozenset[str]:
        """The fields of the language model's config."""
        for name, nested in self._all_fields.nested.items():
            if role_of(name) == TEXT and nested.own:
                return frozenset(nested.own)
            for inner, deeper in nested.nested.items():
                if role_of(inner) == TEXT and deeper.own:
                    return frozenset(deeper.own)
        return frozenset(self._all_fields.own)

    @cached_property
    def said(self) -> Classification | None:
        """What its config says by default; ``None`` where the source does not give one that can be used."""
        if not self._all_fields.defaults:
            return None
        data = {**self._all_fields.defaults, "architectures": list(self.model.architectures)}
        try:
            return classify(config_of(data))
        except ConfigProblem:
            return None

    @cached_property
    def built(self) -> dict[Key, Place]:
        """What it can construct, each with the place where it is written."""
        return built_components(self.model)

    @property
    def place(self) -> tuple[str, int]:
        """Where the class is written."""
        return self.model.project.tree.relative(self.model.path), self.model.entity.node.lineno


def registered_classes(project: Project) -> Iterator[Registered]:
    """Yield the registered classes that have a definition, each once under all its names."""
    by_target: dict[tuple[str, str], list[str]] = {}
    tags: dict[tuple[str, str], list[str]] = {}
    for entry in project.architectures:
        by_target.setdefault((entry.module, entry.cls), []).append(entry.key)
        tags.setdefault((entry.module, entry.cls), []).extend(entry.tags)
    for target, keys in by_target.items():
        resolution = project.resolve(*target)
        if not resolution.classes:
            continue
        module, qualname, _, line = resolution.classes[0]
        entity = project.class_at(module, qualname, line)
        if entity is not None:
            names = tuple(dict.fromkeys(keys))
            yield Registered(ModelClass(project, entity, names, tuple(dict.fromkeys(tags[target]))))
