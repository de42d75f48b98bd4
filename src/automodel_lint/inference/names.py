"""From a name in a file to what it stands for: scopes, imports, aliases, re-exports, across files.

Everything is found from source; modules are located below the given roots and never imported.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from automodel_lint.inference.bindings import FUNCTIONS, Binding, Bindings, collect, dotted
from automodel_lint.source import ParseProblem, SourceTree, remembered


@dataclass(eq=False)
class Module:
    """A parsed source file under its dotted name."""

    name: str
    path: str
    syntax: ast.Module
    bindings: Bindings

    @property
    def package(self) -> str:
        """The name that relative imports in this file start from."""
        return self.name if os.path.basename(self.path) == "__init__.py" else self.name.rpartition(".")[0]


@dataclass(frozen=True, eq=False)
class Scope:
    """Where a name is looked up: the innermost frame first, then the module."""

    module: Module
    frames: tuple[Bindings, ...] = ()

    def entered(self, body: list[ast.stmt], arguments: ast.arguments | None = None) -> Scope:
        """Return the scope inside a function or class body."""
        inner = collect(body, self.module.package)
        for argument in all_arguments(arguments) if arguments else ():
            inner.names.setdefault(argument.arg, []).insert(0, Binding("opaque", argument))
        return Scope(self.module, (inner, *self.frames))


# What a name can stand for. ``fqn`` is the dotted name of the definition, wherever it was imported from.


@dataclass(frozen=True, eq=False)
class ClassEntity:
    """A class definition whose source is at hand."""

    scope: Scope
    node: ast.ClassDef
    qualname: str

    @property
    def module(self) -> Module:
        return self.scope.module

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def fqn(self) -> str:
        return f"{self.module.name}.{self.qualname}"


@dataclass(frozen=True, eq=False)
class FunctionEntity:
    """A function or method definition whose source is at hand; ``scope`` is where its ``def`` stands."""

    scope: Scope
    node: ast.FunctionDef | ast.AsyncFunctionDef
    qualname: str

    @property
    def fqn(self) -> str:
        return f"{self.scope.module.name}.{self.qualname}"


@dataclass(frozen=True)
class ModuleEntity:
    """A module, parsed or not."""

    fqn: str


@dataclass(frozen=True)
class External:
    """A dotted name that leads out of the source at hand."""

    fqn: str


@dataclass(frozen=True, eq=False)
class Value:
    """A name bound to an expression; ``fqn`` is empty for a local variable."""

    expr: ast.expr
    scope: Scope
    fqn: str = ""


Entity = ClassEntity | FunctionEntity | ModuleEntity | External | Value

_DEEPEST = 40


class Names:
    """Resolves names in a source tree. ``roots`` are the folders that hold top-level packages, nearest first.

    Of the packages in ``outside`` (a second list of folders), only those named in ``followed`` are read. Where a
    root is such a folder itself (an installed package), only the package ``own`` of it is.
    """

    def __init__(
        self,
        tree: SourceTree,
        roots: Sequence[str],
        outside: Iterable[str],
        followed: Iterable[str] = (),
        own: str | None = None,
    ):
        self.tree = tree
        self.roots = tuple(roots)
        self.outside = tuple(outside)
        self.own = own if any(root in self.outside for root in self.roots) else None
        self.followed = frozenset(followed)
        self._classes: dict[int, ClassEntity] = {}

    # -- modules --------------------------------------------------------------------------------------------

    @remembered
    def path_of(self, name: str) -> str | None:
        """Return the file of a module, or ``None`` if it has none under the roots."""
        if not name:
            return None
        top = name.partition(".")[0]
        roots = self.roots if self.own in (None, top) else ()
        roots += self.outside if top in self.followed else ()
        for root in roots:
            base = os.path.join(root, *name.split("."))
            for path in (os.path.join(base, "__init__.py"), base + ".py"):
                if self.tree.exists(path):
                    return path
        return None

    @remembered
    def module(self, name: str) -> Module | None:
        """Return a module by its dotted name; ``None`` if there is no file or it does not parse."""
        path = self.path_of(name)
        syntax = self.tree.syntax(path) if path else None
        if path is None or syntax is None or isinstance(syntax, ParseProblem):
            return None
        package = name if path.endswith("__init__.py") else name.rpartition(".")[0]
        try:
            return Module(name, path, syntax, collect(syntax.body, package))
        except RecursionError:  # a chain of thousands of branches: as good as unread
            self.tree.give_up(path, "nested too deeply to be followed")
            return None

    def module_name(self, path: str) -> str | None:
        """Return the dotted name of a file below the roots."""
        for root in self.roots:
            if path.startswith(root + os.sep) and path.endswith(".py"):
                parts = path[len(root) + 1 : -3].split(os.sep)
                return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        return None

    def at_hand(self, fqn: str) -> bool:
        """Tell whether the top-level package of a dotted name is a package of the checkout."""
        top = fqn.partition(".")[0]
        return self.own in (None, top) and any(
            self.tree.entries(os.path.join(root, top)) is not None for root in self.roots
        )

    def in_roots(self, module: Module) -> bool:
        """Tell whether a module belongs to the checkout itself."""
        if self.own is not None and module.name.partition(".")[0] != self.own:
            return False
        return any(module.path.startswith(root + os.sep) for root in self.roots)

    # -- names ----------------------------------------------------------------------------------------------

    def resolve(self, expr: ast.expr, scope: Scope, depth: int = 0) -> list[Entity]:
        """Return everything that an expression may stand for; empty if that cannot be told.

        A conditional expression stands for both sides, a name bound in branches for each of them.
        """
        if depth > _DEEPEST:
            return []
        if isinstance(expr, ast.Name):
            return self._lookup(expr.id, scope, depth)
        if isinstance(expr, ast.Attribute):
            owners = self.resolve(expr.value, scope, depth + 1)
            return [found for owner in owners for found in self.attribute(owner, expr.attr, depth + 1)]
        if isinstance(expr, ast.IfExp):
            return self.resolve(expr.body, scope, depth + 1) + self.resolve(expr.orelse, scope, depth + 1)
        return [Value(expr, scope)]

    def fqns(self, expr: ast.expr, scope: Scope) -> set[str]:
        """Return the dotted names of all that an expression may stand for."""
        return {entity.fqn for entity in self.resolve(expr, scope) if entity.fqn}

    def called(self, call: ast.Call, scope: Scope) -> set[str]:
        """Return the last components of the dotted names that a call may lead to (aliases looked through)."""
        return {fqn.rpartition(".")[2] for fqn in self.fqns(call.func, scope)}

    def leads_to(self, call: ast.Call, scope: Scope, name: str) -> bool:
        """Tell whether a call may lead to a definition called ``name``.

        The same as asking :meth:`called`, but a file that does not even mention the name is not parsed for it.
        """
        root, _, rest = dotted(call.func).partition(".")
        if (rest.rpartition(".")[2] or root) != name:
            frame = next((f for f in (*scope.frames, scope.module.bindings) if root in f.names), None)
            for binding in frame.names[root] if frame else ():
                if binding.kind == "value" or (binding.kind == "from" and (binding.name == name or rest)):
                    break
                path = self.path_of(binding.target) if binding.kind == "from" else None
                if path and self.tree.holds(path, name.encode()):
                    break
            else:
                return False
        return name in self.called(call, scope)

    def _lookup(self, name: str, scope: Scope, depth: int) -> list[Entity]:
        for level, frame in enumerate(scope.frames):
            live = frame.live(name)
            if live:
                outer = Scope(scope.module, scope.frames[level:])
                return [e for b in live for e in self._entities(b, name, outer, "", depth)]
        found = self.in_module(scope.module, name, depth)
        return found if found is not None else [External(f"builtins.{name}")]

    def in_module(self, module: Module, name: str, depth: int = 0) -> list[Entity] | None:
        """Return what ``name`` stands for in a module; ``None`` if the module does not bind it."""
        live = module.bindings.live(name)
        if live:
            scope = Scope(module)
            return [e for b in live for e in self._entities(b, name, scope, f"{module.name}.", depth)]
        if depth > _DEEPEST or name.startswith("__"):
            return None
        for target in _likely(module.bindings.stars, name):
            starred = self.module(target)
            if starred is None or starred is module or not _exports(starred, name):
                continue
            found = self.in_module(starred, name, depth + 1)
            if found:
                return found
        return None

    def from_module(self, target: str, name: str, depth: int = 0) -> list[Entity]:
        """Return what ``from target import name`` binds."""
        if depth > _DEEPEST:
            return []
        module = self.module(target)
        if module is not None:
            found = self.in_module(module, name, depth + 1)
            if found:
                return found
        submodule = f"{target}.{name}"
        return [ModuleEntity(submodule)] if self.path_of(submodule) else [External(submodule)]

    def _entities(self, binding: Binding, name: str, scope: Scope, prefix: str, depth: int) -> list[Entity]:
        node = binding.node
        if binding.kind == "class":
            assert isinstance(node, ast.ClassDef)
            return [self.class_entity(node, scope, prefix[len(scope.module.name) + 1 :])]
        if binding.kind == "def":
            assert isinstance(node, FUNCTIONS)
            return [FunctionEntity(scope, node, name)]
        if binding.kind == "import":
            return [ModuleEntity(binding.target)]
        if binding.kind == "from":
            return self.from_module(binding.target, binding.name, depth + 1)
        if binding.kind == "value":
            assert isinstance(node, ast.expr)
            if isinstance(node, (ast.Name, ast.Attribute, ast.IfExp)):
                followed = self.resolve(node, scope, depth + 1)
                return [Value(e.expr, e.scope, e.fqn or prefix + name) if isinstance(e, Value) else e for e in followed]
            return [Value(node, scope, prefix + name if prefix else "")]
        return []

    # -- attributes -----------------------------------------------------------------------------------------

    def attribute(self, owner: Entity, name: str, depth: int = 0) -> list[Entity]:
        """Return what ``owner.name`` stands for."""
        if isinstance(owner, ModuleEntity):
            return self.from_module(owner.fqn, name, depth)
        if isinstance(owner, External):
            return [External(f"{owner.fqn}.{name}")]
        if isinstance(owner, ClassEntity):
            return self._class_attribute(owner, name, depth)
        return []

    def _class_attribute(self, owner: ClassEntity, name: str, depth: int) -> list[Entity]:
        if depth > _DEEPEST:
            return []
        body = self.body(owner)
        live = body.live(name)
        if live:
            scope = Scope(owner.module, (body, *owner.scope.frames))
            found = [e for b in live for e in self._entities(b, name, scope, f"{owner.fqn}.", depth + 1)]
            return [_member(e, owner, name) for e in found]
        for base in owner.node.bases:
            for entity in self.resolve(base, owner.scope, depth + 1):
                found = self.attribute(entity, name, depth + 1) if isinstance(entity, ClassEntity) else []
                if found:
                    return found
        return []

    def class_entity(self, node: ast.ClassDef, scope: Scope, prefix: str = "") -> ClassEntity:
        """Return the one entity of a class definition."""
        known = self._classes.get(id(node))
        if known is None:
            known = self._classes[id(node)] = ClassEntity(scope, node, prefix + node.name)
        return known

    @remembered
    def body(self, owner: ClassEntity) -> Bindings:
        """Return what a class body binds, and what its module assigns to the class afterwards."""
        found = collect(owner.node.body, owner.module.package)
        prefix = owner.name + "."
        for name, later in owner.module.bindings.names.items():
            if name.startswith(prefix) and "." not in name[len(prefix) :]:
                found.names.setdefault(name[len(prefix) :], []).extend(later)
        for statement in owner.module.syntax.body:
            call = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(call, ast.Call) and dotted(call.func) == "setattr" and len(call.args) == 3:
                target, name, value = call.args
                if dotted(target) == owner.name and isinstance(name, ast.Constant):
                    found.names.setdefault(str(name.value), []).append(Binding("value", value))
        return found


def _member(entity: Entity, owner: ClassEntity, name: str) -> Entity:
    """A definition in a class body is named after its class."""
    if isinstance(entity, FunctionEntity) and entity.node.name == name:
        return FunctionEntity(entity.scope, entity.node, f"{owner.qualname}.{name}")
    if isinstance(entity, Value) and not entity.fqn:
        return Value(entity.expr, entity.scope, f"{owner.fqn}.{name}")
    return entity


def _exports(module: Module, name: str) -> bool:
    """Tell whether ``from module import *`` can bring a name; a computed ``__all__`` may hold anything."""
    bound = module.bindings.names.get("__all__", [])
    if not bound:
        return not name.startswith("_")
    node = bound[0].node
    literal = len(bound) == 1 and isinstance(node, (ast.List, ast.Tuple))
    if not literal or not all(isinstance(e, ast.Constant) for e in node.elts):  # type: ignore[attr-defined]
        return True
    return name in {e.value for e in node.elts}  # type: ignore[attr-defined]


def _likely(stars: list[str], name: str) -> list[str]:
    """Order star imports so that a long list (transformers has hundreds) is not parsed for one name.

    In such lists each package is called after the classes in it; the others are never the answer.
    """
    if len(stars) <= 20:
        return stars
    squashed = name.lower().replace("_", "")
    fitting = [s for s in stars if squashed.startswith(s.rpartition(".")[2].replace("_", ""))]
    return sorted(fitting, key=len, reverse=True)


def all_arguments(arguments: ast.arguments) -> list[ast.arg]:
    """Return every parameter of a signature, in order."""
    starred = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *starred]


def defaults_of(arguments: ast.arguments) -> dict[str, ast.expr]:
    """Return the default of each parameter of a signature that has one."""
    positional = [*arguments.posonlyargs, *arguments.args]
    last = zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return {a.arg: default for a, default in (*last, *named) if default is not None}
