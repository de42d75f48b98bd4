"""The other things that contracts are about: entries of the registry, model modules, model packages."""

from __future__ import annotations

import ast
import difflib
import os
from functools import cached_property
from typing import Any

from automodel_lint.domain.plan import Registration, Resolution
from automodel_lint.domain.project import Project
from automodel_lint.findings import Finding, Severity, Span
from automodel_lint.inference.bindings import Binding
from automodel_lint.inference.names import ClassEntity, Module, Scope
from automodel_lint.repairs import Repair

CAUSAL = ("ForCausalLM", "ForConditionalGeneration")


class _Entry:
    """A registration as a thing of its own."""

    def __init__(self, project: Project, registration: Registration):
        self.project, self.registration = project, registration

    @property
    def key(self) -> str:
        """The architecture name, or the ``model_type``."""
        return self.registration.key

    @property
    def resolution(self) -> Resolution:
        """Where the entry leads."""
        return self.project.resolve(self.registration.module, self.registration.cls)

    def nearest(self) -> str | None:
        """Return the name in the module that is closest to the class which is not there; classes of our own first."""
        module = self.project.names.module(self.registration.module)
        names = [n for n, b in module.bindings.names.items() if b[-1].kind in ("class", "from")] if module else []
        near = difflib.get_close_matches(self.registration.cls, names, 5)
        ours = [n for n in near if self.project.resolve(self.registration.module, n).status == "class"]
        return next(iter([*ours, *near]), None)

    def is_like(self, name: str) -> bool:
        """Tell whether a name differs from the class of the entry as by a slip, or by one word of many."""
        return difflib.SequenceMatcher(None, name, self.registration.cls).ratio() >= 0.75

    def finding(self, severity: Severity | None = None, repair: Repair | None = None, **fields: Any) -> Finding:
        """Return a finding that points at the entry, and what mends it."""
        known = {"key": self.key, "module": self.registration.module, "cls": self.registration.cls}
        return Finding(
            self.registration.path,
            self.registration.span,
            symbol=self.registration.cls or None,
            architectures=(self.key,) if isinstance(self, ArchitectureEntry) else (),
            fields=tuple({**known, **fields}.items()),
            severity=severity,
            related=(self._file(),),
            repair=repair,
        )

    def _file(self) -> str:
        """The file that the entry leads to, or would if it were there."""
        module = self.registration.module
        path = self.project.names.path_of(module)
        guess = os.path.join(self.project.checkout.source_root, *module.split(".")) + ".py"
        return self.project.tree.relative(path or guess)


class ArchitectureEntry(_Entry):
    """One registration of an architecture name."""


class ConfigEntry(_Entry):
    """One registration of a config class by its ``model_type``."""


class Registry:
    """All registrations of the checkout."""

    def __init__(self, project: Project):
        self.project = project
        project.names.module(f"{project.checkout.package}._transformers.registry")  # read, so that damage is reported
        self.architectures = [ArchitectureEntry(project, r) for r in project.architectures]


class ModelModule:
    """A source file that defines registered classes or exports a ``ModelClass``.

    ``registered`` maps the qualified names of the registered classes in it to their architecture names.
    """

    def __init__(self, project: Project, path: str, registered: dict[str, tuple[str, ...]]):
        self.project, self.path, self.registered = project, path, registered

    @cached_property
    def module(self) -> Module | None:
        """The parsed file."""
        name = self.project.names.module_name(self.path)
        return self.project.names.module(name) if name else None

    @cached_property
    def exports(self) -> list[Binding]:
        """The module-level bindings of ``ModelClass`` that can be in force."""
        return self.module.bindings.real("ModelClass") if self.module else []

    def exported(self, binding: Binding) -> list[Any] | None:
        """Return the classes that one binding names; ``None`` if that cannot be told."""
        assert self.module is not None
        if binding.kind == "from":
            return self.project.by_fqn(f"{binding.target}.{binding.name}")
        if binding.kind == "class":
            return self.project.by_fqn(f"{self.module.name}.ModelClass")
        mutated = any(f"ModelClass.{m}" in line for m in ("append", "extend") for line in self._lines())
        if mutated or not isinstance(binding.node, ast.expr):
            return None
        return self.project.class_entities(binding.node, Scope(self.module))

    def _lines(self) -> list[str]:
        return self.project.tree.lines(self.path)

    def registered_entities(self) -> list[ClassEntity]:
        """Return the definitions of the registered classes in this file, in source order."""
        assert self.module is not None
        found = []
        for qualname in self.registered:
            for entity in self.project.definitions(self.module.name, qualname) or ():
                if isinstance(entity, ClassEntity) and not self.project.classes.is_stand_in(entity):
                    found.append(entity)
        return sorted(found, key=lambda e: e.node.lineno)

    def unexported(self) -> list[ClassEntity]:
        """Return the causal models of a checkout that finds its models by ``ModelClass`` alone, if this has none.

        They are never seen there.
        """
        if self.project.has_static_mapping or self.module is None or self.exports:
            return []
        if os.path.basename(self.path) != "model.py":
            return []
        found: list[ClassEntity] = []
        for name in self.module.bindings.names:
            for binding in self.module.bindings.live(name):
                if isinstance(binding.node, ast.ClassDef) and name.endswith(CAUSAL):
                    entity = self.project.names.class_entity(binding.node, Scope(self.module))
                    found += self.project.classes.real([entity])
        return found

    def finding(
        self,
        node: ast.AST,
        symbol: str | None,
        architectures: tuple[str, ...],
        repair: Repair | None = None,
        **fields: Any,
    ) -> Finding:
        """Return a finding at ``node`` of this file, and what mends it."""
        tree = self.project.tree
        named = isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        span = tree.name_span(self.path, node) if named else tree.span(self.path, node)  # type: ignore[arg-type]
        related = (tree.relative(self.project.checkout.registry),) if not architectures else ()
        named = tuple(fields.items())
        return Finding(tree.relative(self.path), span, symbol, architectures, named, related=related, repair=repair)


class ModelPackage:
    """A folder ``components/models/<name>`` with registered classes in it; ``architectures`` are theirs."""

    def __init__(self, project: Project, folder: str, architectures: tuple[str, ...]):
        self.project, self.folder, self.architectures = project, folder, architectures

    @property
    def name(self) -> str:
        return os.path.basename(self.folder)

    def classes(self) -> list[ClassEntity]:
        """Return the registered classes that are defined in the package, in the order of files and lines."""
        tree, found = self.project.tree, {}
        for module, cls in self.project.registered:
            for name, qualname, path, line in self.project.resolve(module, cls).classes:
                if self.project.model_package(tree.absolute(path)) == self.folder:
                    found[path, line] = self.project.class_at(name, qualname, line)
        return [entity for _, entity in sorted(found.items(), key=lambda item: item[0]) if entity is not None]

    def modules(self, mentioning: bytes) -> list[Module]:
        """Return the parsed files of the package that contain a text, in path order."""
        found = []
        for path in self.project.tree.python_files(self.folder):
            if self.project.tree.holds(path, mentioning):
                name = self.project.names.module_name(path)
                module = self.project.names.module(name) if name else None
                if module is not None:
                    found.append(module)
        return found

    def finding(self, path: str, node: ast.AST | None, **fields: Any) -> Finding:
        """Return a finding at ``node`` of a file, or at its first line."""
        tree = self.project.tree
        span = tree.span(path, node) if node is not None else Span()
        return Finding(tree.relative(path), span, None, self.architectures, (("package", self.name), *fields.items()))

    def finding_at_class(self, entity: ClassEntity, **fields: Any) -> Finding:
        """Return a finding at the name of one of the package's classes."""
        tree, path = self.project.tree, entity.module.path
        named = (("package", self.name), ("cls", entity.name), *fields.items())
        return Finding(tree.relative(path), tree.name_span(path, entity.node), entity.name, self.architectures, named)
