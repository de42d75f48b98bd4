"""An adapter class by itself, whoever uses it: also the one of a model that is not registered, or not yet written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from automodel_lint.domain.class_thing import ClassThing
from automodel_lint.domain.plan import Registration
from automodel_lint.domain.project import Project
from automodel_lint.inference.bindings import dotted
from automodel_lint.inference.names import ClassEntity

if TYPE_CHECKING:
    from automodel_lint.domain.model_class import ModelClass

BASE = "StateDictAdapter"
_ATTRIBUTE = "state_dict_adapter"


class LooseAdapter(ClassThing):
    """An adapter class that a file of models defines.

    It answers what rules about an adapter's own code ask of a registered class: ``adapters`` holds itself. What it says
    of a place is what the registered classes say that use it, so that the two become one finding. Its
    architectures are none: those of its users come from them.
    """

    @property
    def adapters(self) -> tuple[Alone, ...]:
        """The class as an adapter."""
        return (Alone(self.entity),)

    @property
    def users(self) -> Iterator[ModelClass]:
        """The model classes beside it that give themselves this adapter and are not registered."""
        from automodel_lint.domain.model_class import ModelClass

        for cls in _classes_naming(self.project, self.entity, os.path.dirname(self.path)):
            body = self.project.tree.lines(cls.module.path)[cls.node.lineno - 1 : cls.node.end_lineno]
            takes = any(_ATTRIBUTE in line for line in body) and any(self.name in line for line in body)
            if takes and not _is_registered(self.project, cls):
                yield ModelClass(self.project, cls, (), ())

    @cached_property
    def must_be_complete(self) -> bool:
        """Whether it can only be there to be used: derived from the framework's base, and no class from it."""
        if not _is_derived(self.project, self.entity):
            return False
        if any(dotted(base).rpartition(".")[2] == "ABC" for base in self.entity.node.bases):
            return False
        return not any(self.entity in self.classes.mro(cls)[1:] for cls in _classes_naming(self.project, self.entity))


class Alone:
    """An adapter of which nothing but the class is known."""

    def __init__(self, entity: ClassEntity):
        self.entity, self.classes = entity, (entity,)


def adapter_classes(project: Project, path: str) -> list[ClassEntity]:
    """Return the adapter classes that a file defines: derived from the framework's base, or called after it."""
    name = project.names.module_name(path)
    module = project.names.module(name) if name else None
    if module is None:
        return []
    classes = [c for c in _defined(project, module) if c.name.endswith("Adapter") or _is_derived(project, c)]
    return [c for c in classes if any(project.classes.local(c, entry) for entry in ("from_hf", "to_hf"))]


def _is_derived(project: Project, cls: ClassEntity) -> bool:
    return any(ancestor.fqn.rpartition(".")[2] == BASE for ancestor in project.classes.mro(cls)[1:])


def _defined(project: Project, module) -> Iterator[ClassEntity]:  # type: ignore[no-untyped-def]
    for name in list(module.bindings.names):
        for entity in project.names.in_module(module, name) or ():
            if isinstance(entity, ClassEntity) and entity.module is module and not project.classes.is_stand_in(entity):
                yield entity


def _is_registered(project: Project, cls: ClassEntity) -> bool:
    """Whether a registration leads to a class: one that has its name, or comes from its package under another."""
    package = f"{cls.module.name.rpartition('.')[0]}."
    near = [r for r in project.architectures if r.cls.endswith(cls.name) or f"{r.module}.".startswith(package)]
    return any((cls.module.name, cls.qualname) in _places(project, r) for r in near)


def _places(project: Project, registration: Registration) -> Iterator[tuple[str, str]]:
    for module, qualname, _, _ in project.resolve(registration.module, registration.cls).classes:
        yield module, qualname


def _classes_naming(project: Project, cls: ClassEntity, folder: str | None = None) -> Iterator[ClassEntity]:
    """The classes in the files of models (or of one folder) that mention a class."""
    for path in project.model_files() if folder is None else project.tree.python_files(folder):
        if project.tree.holds(path, cls.name.encode()):
            name = project.names.module_name(path)
            module = project.names.module(name) if name else None
            yield from _defined(project, module) if module is not None else ()
