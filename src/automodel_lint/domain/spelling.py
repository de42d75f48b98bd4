"""How a file writes a name of the framework: as it is bound there already, or with the import that it needs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.domain.project import FRAMEWORK, Project
from automodel_lint.inference.names import Module, ModuleEntity, Scope
from automodel_lint.repairs import Step, import_name

# Where the framework has what repairs write, below its package.
_HOMES = {
    "HFCheckpointingMixin": "components.models.common.hf_checkpointing_mixin",
    "MoEFSDPSyncMixin": "components.moe.fsdp_mixin",
    "TieSupport": "components.models.common.tie_word_embeddings",
    "cast_model_to_dtype": "components.models.common.utils",
    "reject_unsupported_tie_word_embeddings": "components.models.common.tie_word_embeddings",
    "ModelCapabilities": "_transformers.model_capabilities",
}

Spelling = tuple[str, "Step | None"]


def spelled(project: Project, module: Module, name: str) -> Spelling | None:
    """Return how a module writes ``name`` of the framework, and the import that this needs (``None`` if none).

    ``None`` if it cannot be told where the name comes from, or the module uses it for something else.
    """
    bound = _bound(project, module, name)
    if bound is not None:
        return bound, None
    home = _home(project, module, name)
    if home is None or name in module.bindings.names:
        return None
    return name, import_name(home, name, module.package)


def home_of(project: Project, name: str) -> str | None:
    """Return the module that a file of the checkout imports ``name`` of the framework from; ``None`` if there is none.

    What has a place by convention is taken from there, even where another module defines it.
    """
    if name in _HOMES:
        home = f"{project.checkout.package}.{_HOMES[name]}"
        found = project.names.module(home)
        if found is not None and found.bindings.real(name):
            return home
    return _defined_in(project, name)


def spelled_from(module: Module, home: str, name: str = "") -> Spelling | None:
    """Return how a module writes ``name`` of a library module ``home`` (the module itself, without a name)."""
    for bound, bindings in module.bindings.names.items():
        live = module.bindings.real(bound)
        if bindings and len(live) == 1 and not live[0].conditional:
            binding = live[0]
            if name and binding.kind == "from" and (binding.target, binding.name) == (home, name):
                return bound, None
            if binding.kind == "import" and binding.target == home:
                return f"{bound}.{name}" if name else bound, None
    if (name or home) in module.bindings.names:
        return None
    return name or home, import_name(home, name, module.package)


def _bound(project: Project, module: Module, name: str) -> str | None:
    """The name, or ``module.name``, under which a module has it whatever branch has run."""
    scope = Scope(module)
    through = None
    for bound in module.bindings.names:
        live = module.bindings.real(bound)
        if len(live) != 1 or live[0].conditional or live[0].kind not in ("from", "import"):
            continue
        if live[0].kind == "from" and live[0].name == name:
            return bound
        if live[0].target.partition(".")[0] not in (project.checkout.package, FRAMEWORK):
            continue
        for entity in project.names.resolve(ast.Name(bound, ast.Load()), scope):
            if entity.fqn.endswith(f".{name}") and not isinstance(entity, ModuleEntity):
                return bound
            if isinstance(entity, ModuleEntity) and "." in entity.fqn:
                inner = project.names.module(entity.fqn)
                if inner is not None and inner.bindings.real(name):
                    through = through or f"{bound}.{name}"
    return through


def _home(project: Project, module: Module, name: str) -> str | None:
    """The module to import from: one that the file imports from already, else where the framework has it."""
    for target in _imported_from(module):
        if project.names.at_hand(target) or target.startswith(f"{FRAMEWORK}."):
            found = project.names.module(target)
            if found is not None and _offers(found, name):
                return target
    package = project.checkout.package
    for top in dict.fromkeys((package, FRAMEWORK)):
        home = f"{top}.{_HOMES[name]}"
        found = project.names.module(home)
        if found is not None and found.bindings.real(name):
            return home
    return _defining(project, name)


def _offers(module: Module, name: str) -> bool:
    """Whether a module has a name for others to import: defined there, or re-exported on purpose."""
    bound = module.bindings.real(name)
    if not bound or any(b.kind in ("class", "def") for b in bound):
        return bool(bound)
    exported = module.bindings.names.get("__all__", [])
    texts = {n.value for b in exported for n in ast.walk(b.node) if isinstance(n, ast.Constant)}
    return name in texts or module.path.endswith("__init__.py") or module.name.endswith(f".{_HOMES[name]}")


def _imported_from(module: Module) -> Iterator[str]:
    for bindings in module.bindings.names.values():
        for binding in bindings:
            if binding.kind == "from" and not binding.conditional and not binding.unreal:
                yield binding.target


def _defining(project: Project, name: str) -> str | None:
    """Where an older or rearranged framework defines the name; a plug-in without its source takes today's place."""
    found = _defined_in(project, name)
    if found is None and project.names.module(FRAMEWORK) is None:
        return f"{FRAMEWORK}.{_HOMES[name]}"
    return found


def _defined_in(project: Project, name: str) -> str | None:
    for path in project.package_files():
        if any(project.tree.holds(path, f"{word} {name}".encode()) for word in ("class", "def")):
            found = project.names.module_name(path)
            module = project.names.module(found) if found else None
            if module is not None and any(b.kind in ("class", "def") for b in module.bindings.real(name)):
                return found
    return None
