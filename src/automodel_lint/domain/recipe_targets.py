"""Where the names in recipes lead, as the framework's loader imports them: the longest module, then attributes."""

from __future__ import annotations

import ast
import difflib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from automodel_lint.domain.library_api import torch_methods
from automodel_lint.domain.project import Project
from automodel_lint.inference.bindings import FUNCTIONS, collect, dotted, walk_here
from automodel_lint.inference.classes import Classes
from automodel_lint.inference.names import (
    ClassEntity,
    Entity,
    External,
    Module,
    ModuleEntity,
    Names,
)
from automodel_lint.inference.signatures import Signature, Signatures
from automodel_lint.source import SourceTree, remembered

FRAMEWORK = "nemo_automodel"


@dataclass(frozen=True)
class Leads:
    """Where a name leads.

    ``status`` is ``found``, ``missing`` or ``unknown`` (source that is not at hand, or that decides at run time). Where
    it is missing, ``owner`` is what has no name ``missing``, ``near`` the full name that may be meant (or empty).
    ``entities`` are all definitions it may stand for, each with the class it was read from, if it was.
    """

    status: str
    entities: tuple[tuple[Entity, ClassEntity | None], ...] = ()
    owner: str = ""
    missing: str = ""
    near: str = ""


@dataclass
class _Library:
    """A package that can be read: names, classes and signatures over it."""

    names: Names
    classes: Classes
    signatures: Signatures = field(init=False)

    def __post_init__(self) -> None:
        self.signatures = Signatures(self.classes)


UNKNOWN = Leads("unknown")


class RecipeTargets:
    """Follows names of recipes in one project; each is followed once."""

    def __init__(self, project: Project):
        self.project = project
        self.tree: SourceTree = project.tree
        self._own = _Library(project.names, project.classes)
        self._libraries: dict[str, _Library] = {}

    @remembered
    def leads(self, text: str) -> Leads:
        """Return where a name leads: dotted, or ``path/to/file.py:name`` below the checkout."""
        if ":" in text:
            return self._in_file(text)
        parts = text.split(".")
        if not all(part.isidentifier() for part in parts):
            return UNKNOWN
        return self._dotted(parts)

    @remembered
    def signatures(self, text: str) -> tuple[Signature, ...] | None:
        """Return what a call of the name takes, one for each definition it may stand for; ``None`` if any is open."""
        leads = self.leads(text)
        if leads.status != "found":
            return None
        library = self._library(text.partition(".")[0]) if ":" not in text else self._own
        real = [(e, o) for e, o in leads.entities if not self._is_stand_in(library, e)]
        found = [library.signatures.of(entity, owner) for entity, owner in real]
        return tuple(s for s in found if s is not None) if found and None not in found else None

    def is_own(self, text: str) -> bool:
        """Tell whether a name lies in the checkout's own package."""
        return text.partition(".")[0] == self.project.checkout.package or ":" in text

    def _is_stand_in(self, library: _Library, entity: Entity) -> bool:
        return isinstance(entity, ClassEntity) and library.classes.is_stand_in(entity)

    def _library(self, top: str) -> _Library:
        if self._own.names.path_of(top) is not None or self.project.names.at_hand(top):
            return self._own
        if top not in self._libraries:
            names = Names(self.tree, (), self.project.names.outside, (top,))
            self._libraries[top] = _Library(names, Classes(names))
        return self._libraries[top]

    # -- dotted names -------------------------------------------------------------------------------------------------

    def _dotted(self, parts: list[str]) -> Leads:
        library = self._library(parts[0])
        names = library.names
        length = next((n for n in range(len(parts), 0, -1) if self._is_module(names, ".".join(parts[:n]))), 0)
        if not length:
            return UNKNOWN
        prefix, rest = ".".join(parts[:length]), parts[length:]
        if not rest:
            return Leads("found", ((ModuleEntity(prefix), None),))
        if names.path_of(prefix) is None:  # a folder without __init__.py: modules are all it has
            return self._missing(names, prefix, rest, self._inside(names, prefix))
        module = names.module(prefix)
        if module is None:
            return UNKNOWN
        found = self._in_module(names, module, rest[0])
        if found is None:
            known = [*module.bindings.names, *_on_demand(module), *self._inside(names, prefix)]
            return self._missing(names, prefix, rest, known)
        return self._attributes(library, prefix, found, rest)

    def _is_module(self, names: Names, name: str) -> bool:
        return names.path_of(name) is not None or any(self.tree.entries(f) is not None for f in _folders(names, name))

    def _inside(self, names: Names, package: str) -> list[str]:
        """The modules in a package."""
        folders = [f for f in _folders(names, package) if self.tree.entries(f) is not None]
        found = [name for folder in folders for name in self.tree.entries(folder) or ()]
        return [n.removesuffix(".py").rstrip("/") for n in found if n.endswith((".py", "/")) and n[0] not in "._"]

    def _in_module(self, names: Names, module: Module, name: str) -> list[Entity] | None:
        """What a name in a module stands for; empty if only the run knows, ``None`` if it is surely not there."""
        if module.bindings.real(name):
            return names.in_module(module, name) or []
        found = names.in_module(module, name) if not module.bindings.live(name) else None
        if found:
            return found
        served = self._served(names, module, name)
        if served is not None:
            return served
        if any(names.module(star) is None for star in module.bindings.stars) or _binds_by_hand(module):
            return []
        return None

    def _served(self, names: Names, module: Module, name: str) -> list[Entity] | None:
        """What a module-level ``__getattr__`` makes of a name; ``None`` if it surely makes nothing of it."""
        functions = [b.node for b in module.bindings.live("__getattr__")]
        if not functions:
            return None
        words = {n.value for n in ast.walk(module.syntax) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        if name not in words:
            return None if all(isinstance(f, FUNCTIONS) and _looks_names_up(f) for f in functions) else []
        for target, attribute in _table(module, name):
            for full in (target, f"{module.package}.{target.lstrip('.')}"):
                if names.path_of(full) is not None:
                    return names.from_module(full, attribute) if attribute else [ModuleEntity(full)]
        submodule = f"{module.name}.{name}"
        return [ModuleEntity(submodule)] if names.path_of(submodule) else []

    def _attributes(self, library: _Library, prefix: str, entities: list[Entity], rest: list[str]) -> Leads:
        """Follow attributes from what the first name stands for."""
        names, owners = library.names, tuple((entity, None) for entity in entities)
        for number, name in enumerate(rest[1:], 1):
            found: list[tuple[Entity, ClassEntity | None]] = []
            is_open = not owners
            for owner, _ in owners:
                if isinstance(owner, ClassEntity):
                    members = names.attribute(owner, name)
                    found += [(m, owner) for m in members]
                    is_open = is_open or (not members and not self._lacks(library, owner, name))
                elif isinstance(owner, ModuleEntity):
                    module = names.module(owner.fqn)
                    inner = self._in_module(names, module, name) if module else []
                    found += [(m, None) for m in inner or ()]
                    is_open = is_open or inner == []
                else:
                    is_open = True
            if not found:
                if is_open:
                    return UNKNOWN
                near = [n for owner, _ in owners if isinstance(owner, ClassEntity) for n in _members(library, owner)]
                return self._missing(names, ".".join((prefix, *rest[:number])), rest[number:], near)
            owners = tuple(found)
        if not owners or any(isinstance(e, External) for e, _ in owners):
            return UNKNOWN
        return Leads("found", owners)

    def _lacks(self, library: _Library, cls: ClassEntity, name: str) -> bool:
        """Whether a class surely has no attribute of a name that is not in its source."""
        order = library.classes.mro(cls)
        for ancestor in order:
            if isinstance(ancestor, ClassEntity) or ancestor.fqn == "builtins.object":
                continue
            known = torch_methods(ancestor.fqn)
            if known is None or name in known:
                return False
        return "metaclass" not in {k.arg for a in order if isinstance(a, ClassEntity) for k in a.node.keywords}

    # -- what is meant ------------------------------------------------------------------------------------------------

    def _missing(self, names: Names, prefix: str, rest: list[str], known: Iterable[str]) -> Leads:
        if names.path_of(prefix) is not None and self._redirects(names, prefix, rest[0]):
            return UNKNOWN
        candidates = [n for n in dict.fromkeys(known) if not n.startswith("_")]
        close = difflib.get_close_matches(rest[0], candidates, 1, cutoff=0.8)
        near = [prefix, *close, *rest[1:]] if close else []
        if near and len(rest) > 1 and self.leads(".".join(near)).status == "missing":
            near = []
        if not near:
            near = self._elsewhere(rest)
        if not near:
            close = difflib.get_close_matches(rest[0], candidates, 1, cutoff=0.6)
            near = [prefix, *close, *rest[1:]] if close else []
        return Leads("missing", owner=prefix, missing=rest[0], near=".".join(near))

    def _redirects(self, names: Names, prefix: str, name: str) -> bool:
        """Whether importing a package changes how modules are found, and a module of this name may be among them."""
        path = names.path_of(prefix)
        hooks = path is not None and self.tree.holds(path, b"sys.meta_path")
        return hooks and self.tree.matches(path, rf"\b{re.escape(name)}\b")  # type: ignore[arg-type]

    def _elsewhere(self, rest: list[str]) -> list[str]:
        """The one place in the package that defines what the end of a missing name is called."""
        wanted = next((part for part in rest if part[:1].isupper()), rest[-1])
        pattern = rf"(?m)^(?:class|def) {re.escape(wanted)}\b"
        paths = [p for p in self.project.package_files() if self.tree.matches(p, pattern)]
        name = self.project.names.module_name(paths[0]) if len(paths) == 1 else None
        return [name, *rest[rest.index(wanted) :]] if name else []

    # -- files --------------------------------------------------------------------------------------------------------

    def _in_file(self, text: str) -> Leads:
        """``path/to/file.py:name``: the file is looked for below the checkout, where recipes are run from."""
        file, _, name = text.partition(":")
        path = self.tree.absolute(file)
        inside = path.startswith(self.tree.root + os.sep) and not os.path.isabs(file)
        if not file.endswith(".py") or not inside or not name.isidentifier():
            return UNKNOWN
        if not self.tree.exists(path):
            folder = os.path.dirname(path)
            names = self.tree.entries(folder)
            if names is None:  # run from somewhere else, perhaps
                return UNKNOWN
            close = difflib.get_close_matches(os.path.basename(file), [n for n in names if n.endswith(".py")], 1)
            near = f"{os.path.join(os.path.dirname(file), close[0])}:{name}" if close else ""
            return Leads("missing", owner=os.path.dirname(file) or ".", missing=os.path.basename(file), near=near)
        syntax = self.tree.syntax(path)
        if not isinstance(syntax, ast.Module):
            return UNKNOWN
        module = Module(os.path.basename(path)[:-3], path, syntax, collect(syntax.body))
        found = self._in_module(self._own.names, module, name)
        if found is None:
            close = difflib.get_close_matches(name, list(module.bindings.names), 1)
            return Leads("missing", owner=file, missing=name, near=f"{file}:{close[0]}" if close else "")
        if not found or any(isinstance(e, External) for e in found):
            return UNKNOWN
        return Leads("found", tuple((entity, None) for entity in found))


def _folders(names: Names, name: str) -> list[str]:
    top = name.partition(".")[0]
    roots = [*(names.roots if names.own in (None, top) else ()), *(names.outside if top in names.followed else ())]
    return [os.path.join(root, *name.split(".")) for root in roots]


def _members(library: _Library, cls: ClassEntity) -> list[str]:
    order = [a for a in library.classes.mro(cls) if isinstance(a, ClassEntity)]
    return [name for ancestor in order for name in library.names.body(ancestor).names]


def _table(module: Module, name: str) -> list[tuple[str, str]]:
    """What tables at module level say of a name: a module, and an attribute of it (empty: the module itself)."""
    found = []
    for bound in module.bindings.names.values():
        for binding in bound:
            table = binding.node
            for key, value in zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ():
                if isinstance(key, ast.Constant) and key.value == name:
                    parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]
                    texts = [p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)]
                    if len(texts) == len(parts) and 1 <= len(texts) <= 2:
                        found.append((texts[0], texts[1] if len(texts) == 2 else name))
    return found


def _on_demand(module: Module) -> list[str]:
    """The keys of tables in a module that serves names on demand."""
    if not module.bindings.live("__getattr__"):
        return []
    tables = [b.node for bound in module.bindings.names.values() for b in bound if isinstance(b.node, ast.Dict)]
    keys = (key.value for table in tables for key in table.keys if isinstance(key, ast.Constant))
    return [key for key in keys if isinstance(key, str) and key.isidentifier()]


def _looks_names_up(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a ``__getattr__`` knows its names: it ends in an error, and compares or looks up what it is asked."""
    asked = function.args.args[0].arg if function.args.args else ""
    last = function.body[-1]
    if not isinstance(last, ast.Raise):
        return False
    for node in walk_here(function):
        is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if is_method and dotted(node.func.value) == asked:  # ``name.startswith(…)``: any number of names
            return False
    return True


def _binds_by_hand(module: Module) -> bool:
    """Whether a module binds names by other means than statements, outside of its ``__getattr__``."""
    own = {id(n) for b in module.bindings.live("__getattr__") for n in ast.walk(b.node)}
    for node in ast.walk(module.syntax):
        if id(node) in own:
            continue
        if isinstance(node, ast.Call) and dotted(node.func) in ("globals", "exec", "setattr", "vars"):
            return True
        named = [node.slice] if isinstance(node, ast.Subscript) else node.args if isinstance(node, ast.Call) else []
        owner = node.value if isinstance(node, ast.Subscript) else getattr(node, "func", node)
        if dotted(owner).startswith("sys.modules") and any(dotted(part) == "__name__" for part in named):
            return True  # itself, to be changed or replaced
    return False
