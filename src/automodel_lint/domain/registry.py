"""Registrations: which class answers to which architecture name, in every form that the framework reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.domain.checkout import Checkout, registered_entry_points
from automodel_lint.domain.plan import Registration
from automodel_lint.findings import Span
from automodel_lint.inference.bindings import FUNCTIONS, branches, dotted
from automodel_lint.inference.names import ClassEntity, Module, Names, Scope, Value
from automodel_lint.inference.values import Undecided, Values

MAPPING = "MODEL_ARCH_MAPPING"
CONFIGS = "_CUSTOM_CONFIG_REGISTRATIONS"
_REGISTRARS = ("register_architecture", "ModelRegistry")


class RegistryReader:
    """Reads the registrations of a checkout from its source."""

    def __init__(self, checkout: Checkout, names: Names, values: Values):
        self.checkout, self.names, self.values = checkout, names, values
        self.tree = names.tree

    def has_static_mapping(self) -> bool:
        """Tell whether the registry module binds a mapping at all (old checkouts do not)."""
        module = self._module()
        return module is not None and bool(module.bindings.live(MAPPING))

    def is_unreadable(self) -> bool:
        """Tell whether there is a registry module that nothing can be read from."""
        path = self.names.path_of(f"{self.checkout.package}._transformers.registry")
        return path is not None and self._module() is None

    def architectures(self) -> list[Registration]:
        """Return the registrations of architectures from the mapping, from calls and from entry points."""
        found = list(self._mapping(MAPPING))
        found += self._entry_points()
        found += self._calls()
        return found

    def configs(self) -> list[Registration]:
        """Return the registrations of config classes by ``model_type``."""
        return list(self._mapping(CONFIGS))

    def _module(self) -> Module | None:
        return self.names.module(f"{self.checkout.package}._transformers.registry")

    # -- the static mappings ----------------------------------------------------------------------------------

    def _mapping(self, name: str) -> Iterator[Registration]:
        module = self._module()
        if module is None:
            return
        scope = Scope(module)
        for statement, sure in _statements(module.syntax.body, True):
            for expr in _additions(statement, name):
                for key, value in self._pairs(expr, scope, 0):
                    yield from self._registration(key, value, scope, module, sure)

    def _registration(
        self, key: ast.expr | str, value: ast.expr, scope: Scope, module: Module, sure: bool
    ) -> Iterator[Registration]:
        text = key if isinstance(key, str) else self.values.text(key, scope)
        if text is None:
            return
        try:
            target = self.values.single(value, scope)
        except Undecided:
            return
        if not isinstance(target, (tuple, list)) or len(target) < 2 or not all(isinstance(t, str) for t in target[:2]):
            return
        tags = target[2] if len(target) > 2 and isinstance(target[2], (set, frozenset, list, tuple)) else ()
        span = self.tree.span(module.path, value if isinstance(key, str) else key)
        relative = self.tree.relative(module.path)
        names = tuple(sorted(t for t in tags if isinstance(t, str)))
        yield Registration(text, target[0], target[1], names, "mapping", relative, span, sure)

    def _pairs(self, expr: ast.expr, scope: Scope, depth: int) -> Iterator[tuple[ast.expr | str, ast.expr]]:
        """Yield the (key, value) expressions of a mapping expression, spreads and merges followed."""
        if depth > 8:
            return
        if isinstance(expr, ast.Dict):
            for key, value in zip(expr.keys, expr.values, strict=True):
                if key is None:
                    yield from self._pairs(value, scope, depth + 1)
                else:
                    yield key, value
        elif isinstance(expr, (ast.List, ast.Tuple)):
            for element in expr.elts:
                if isinstance(element, ast.Starred):
                    yield from self._pairs(element.value, scope, depth + 1)
                elif isinstance(element, (ast.Tuple, ast.List)) and len(element.elts) == 2:
                    yield element.elts[0], element.elts[1]
        elif isinstance(expr, ast.Call):
            for argument in expr.args:
                yield from self._pairs(argument, scope, depth + 1)
            for keyword in expr.keywords:
                if keyword.arg is None:
                    yield from self._pairs(keyword.value, scope, depth + 1)
                else:
                    yield keyword.arg, keyword.value
        elif isinstance(expr, ast.BinOp):
            yield from self._pairs(expr.left, scope, depth + 1)
            yield from self._pairs(expr.right, scope, depth + 1)
        elif isinstance(expr, (ast.Name, ast.Attribute)):
            for entity in self.names.resolve(expr, scope):
                if isinstance(entity, Value) and entity.expr is not expr:
                    yield from self._pairs(entity.expr, entity.scope, depth + 1)

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


def _statements(body: list[ast.stmt], sure: bool) -> Iterator[tuple[ast.stmt, bool]]:
    for statement in body:
        yield statement, sure
        for branch, always in branches(statement):
            yield from _statements(branch, sure and always)


def _additions(statement: ast.stmt, name: str) -> Iterator[ast.expr]:
    """Yield the mapping expressions that a statement puts into the mapping called ``name``."""
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Name) and target.id == name:
                yield statement.value
            elif isinstance(target, ast.Subscript) and dotted(target.value) == name:
                yield ast.Dict([target.slice], [statement.value])
    elif (isinstance(statement, ast.AnnAssign) and dotted(statement.target) == name and statement.value) or (
        isinstance(statement, ast.AugAssign) and dotted(statement.target) == name
    ):
        yield statement.value
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        is_update = dotted(statement.value.func) == f"{name}.update"
        yield from [statement.value] if is_update else []


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
