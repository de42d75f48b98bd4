"""Which classes are probed, and where each stands in the source."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from automodel_lint.config import closest
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.plan import Registration
from automodel_lint.domain.project import Project
from automodel_lint.probe.protocol import Target
from automodel_lint.request import UsageError


@dataclass
class Probed:
    """A registered class to probe: what the worker is told, the registration, and the class as the linter sees it."""

    target: Target
    entry: Registration
    project: Project

    @cached_property
    def model(self) -> ModelClass | None:
        """The class in the source; ``None`` where the source does not lead to one."""
        places = self.project.resolve(self.entry.module, self.entry.cls).classes
        if not places:
            return None
        module, qualname, _, line = places[0]
        entity = self.project.class_at(module, qualname, line)
        return ModelClass(self.project, entity, self.target.architectures, self.target.tags) if entity else None

    @property
    def path(self) -> str:
        """The file of the class (absolute), or of its registration where the class is nowhere."""
        places = self.project.resolve(self.entry.module, self.entry.cls).classes
        return self.project.tree.absolute(places[0][2] if places else self.entry.path)


def probed_classes(project: Project, only: Iterable[str], scopes: list[str] | None) -> list[Probed]:
    """Return the registered classes in the order of their registration.

    ``only`` restricts to those with one of these architecture or class names, ``scopes`` (absolute paths) to those
    whose file lies in one.

    Raises:
        UsageError: if a name of ``only`` is not registered, or if nothing is left.
    """
    entries: dict[tuple[str, str], list[Registration]] = {}
    for entry in project.architectures:
        if entry.module and entry.cls:
            entries.setdefault((entry.module, entry.cls), []).append(entry)
    found = []
    for (module, cls), same in entries.items():
        names = tuple(dict.fromkeys(e.key for e in same))
        tags = tuple(dict.fromkeys(t for e in same for t in e.tags))
        found.append(Probed(Target(module, cls, names, tags), same[0], project))
    wanted = set(only)
    known = {name for p in found for name in (*p.target.architectures, p.target.name)}
    for name in sorted(wanted - known):
        raise UsageError(f"no architecture or class {name!r} is registered{closest(name, sorted(known))}")
    if wanted:
        found = [p for p in found if wanted & {p.target.name, *p.target.architectures}]
    if scopes is not None:
        found = [p for p in found if any(p.path == s or p.path.startswith(s + os.sep) for s in scopes)]
    if not found:
        raise UsageError("no registered class lies there: nothing to probe")
    return found
