"""Registrations: which class answers to which architecture name, in every form that the framework reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.domain.checkout import Checkout, registered_entry_points
from automodel_lint.domain.mapping import MappingReader
from automodel_lint.domain.plan import Registration
from automodel_lint.findings import Span
from automodel_lint.inference.bindings import FUNCTIONS, branches, dotted
from automodel_lint.inference.names import ClassEntity, Module, Names, Scope
from automodel_lint.inference.values import Values

MAPPING = "MODEL_ARCH_MAPPING"
CONFIGS = "_CUSTOM_CONFIG_REGISTRATIONS"
_REGISTRARS = ("register_architecture", "ModelRegistry")


class RegistryReader:
    """Reads the registrations of a checkout from its source."""

    def __init__(self, checkout: Checkout, names: Names, values: Values):
        self.checkout, self.names, self.values = checkout, names, values
        self.tree = names.tree
        self.complete: dict[str, bool] = {}  # whether every entry of a mapping could be read

    def has_static_mapping(self) -> bool:
        """Tell whether the registry module binds a mapping at all (old checkouts do not)."""
        module = self._module()
        return module is not None and bool(module.bindings.live(MAPPING))

    def is_unreadable(self) -> bool:
        """Tell whether there is a registry module that nothing can be read from."""
        path = self.names.path_of(f"{self.checkout.package}._transformers.registry")
        return path is not None and self._module() is None

    def bound(self) -> dict[str, str]:
        """Return the mappings that the registry module binds, each with the relative path of the module's file."""
        module = self._module()
        names = [n for n in (MAPPING, CONFIGS) if module is not None and module.bindings.live(n)]
        return {name: self.tree.relative(module.path) for name in names if module is not None}

    def architectures(self) -> list[Registration]:
        """Return the registrations of architectures from the mapping, from calls and from entry points."""
        found = self._mapping(MAPPING)
        found += self._entry_points()
        found += self._calls()
        return found

    def configs(self) -> list[Registration]:
        """Return the registrations of config classes by ``model_type``."""
        return self._mapping(CONFIGS)

    def _mapping(self, name: str) -> list[Registration]:
        module = self._module()
        if module is None:
            return []
        reader = MappingReader(self.names, self.values, name)
        found = reader.read(module)
        self.complete[name] = reader.complete
        return found

    def _module(self) -> Module | None:
        return self.names.module(f"{self.checkout.package}._transformers.registry")

    # -- calls --------------------------------------------------------------------------------------------------

    def _calls(self) -> Iterator[Registration]:
        for path in self.tree.python_files(self.checkout.package_dir):
            if not any(self.tree.holds(path, name.encode()) for name in _REGISTRARS):
                continue
            name = self.names.module_name(path)
            module = self.names.module(name) if name else None
            if module is not None:
                aliases = [n for n, bound in module.bindings.names.items() for b in bound if b.name in _REGISTRARS]
                lines = {line for word in ("register", *aliases) for line in self.tree.lines_with(path, word)}
                for call, scope, sure in _calls_in(module.syntax.body, Scope(module), True, lines):
                    yield from self._registered_by(call, scope, module, sure)

    def _registered_by(self, call: ast.Call, scope: Scope, module: Module, sure: bool) -> Iterator[Registration]:
        if dotted(call.func).rpartition(".")[2] != "register" and not isinstance(call.func, (ast.Name, ast.Attribute)):
            return
        fqns = self.names.fqns(call.func, scope) | {dotted(call.func)}
        if not any(f.endswith((".register_architecture", "ModelRegistry.register")) for f in fqns):
            return
        arguments = dict(zip(("arch_name", "model_cls"), call.args, strict=False))
        arguments |= {k.arg: k.value for k in call.keywords if k.arg}
        arch = self.values.text(arguments.get("arch_name"), scope)
        if arch is None or "model_cls" not in arguments:
            return
        for entity in self.names.resolve(arguments["model_cls"], scope):
            if isinstance(entity, ClassEntity):
                span = self.tree.span(module.path, call)
                path = self.tree.relative(module.path)
                yield Registration(arch, entity.module.name, entity.qualname, (), "call", path, span, sure)

    def _entry_points(self) -> Iterator[Registration]:
        path = self.checkout.plugin
        for arch, target, line in registered_entry_points(self.tree, path) if path else ():
            module, _, cls = target.partition(":")
            length = len(self.tree.lines(path)[line - 1]) if path else 0
            place = Span(line, 1, line, length + 1)
            relative = self.tree.relative(path) if path else ""
            yield Registration(arch, module.strip(), cls.split("[")[0].strip(), (), "entry-point", relative, place)


def _calls_in(
    body: list[ast.stmt], scope: Scope, sure: bool, lines: set[int]
) -> Iterator[tuple[ast.Call, Scope, bool]]:
    """Yield the calls on ``lines`` with their scope and whether they run when the module is imported."""
    for statement in body:
        if not any(statement.lineno <= line <= (statement.end_lineno or 0) for line in lines):
            continue
        if isinstance(statement, FUNCTIONS):
            yield from _calls_in(statement.body, scope.entered(statement.body, statement.args), False, lines)
        elif isinstance(statement, ast.ClassDef):
            yield from _calls_in(statement.body, scope.entered(statement.body), sure, lines)
        else:
            inner = list(branches(statement))
            if not inner:
                yield from ((n, scope, sure) for n in ast.walk(statement) if isinstance(n, ast.Call))
            for branch, always in inner:
                yield from _calls_in(branch, scope, sure and always, lines)
