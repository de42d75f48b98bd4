"""NAM105-NAM107, NAM109, NAM110: what a model module and its package must export, and from what it must derive."""

from __future__ import annotations

import os
from collections.abc import Iterator

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.reexports import all_statement, binds_class, misses, serves_lazily
from automodel_lint.domain.registry import MAPPING
from automodel_lint.domain.things import CAUSAL, ModelModule
from automodel_lint.findings import Finding, Span
from automodel_lint.inference.classes import Ancestor, is_hf_model
from automodel_lint.inference.names import ClassEntity, External
from automodel_lint.remedies import bases
from automodel_lint.remedies import exports as remedies
from automodel_lint.rules import rule

MIXIN = "HFCheckpointingMixin"


@rule("NAM105")
def model_class_export(module: ModelModule) -> Iterator[Finding]:
    if module.module is None:
        return
    registered = module.registered_entities() or module.unexported()
    if not registered:
        return
    names = [e.qualname for e in registered]
    architectures = tuple(a for n in names for a in module.registered.get(n, (n,)))
    if not module.exports and module.project.tree.holds(module.path, b'globals()["ModelClass"]'):
        return
    if not module.exports:
        yield module.finding(
            registered[0].node,
            names[0],
            architectures,
            repair=remedies.exported(module, registered),
            cls=names[0],
            problem="binds no module-level `ModelClass`",
        )
        return
    exported = [module.exported(binding) for binding in module.exports]
    if None in exported or any(e in registered for classes in exported for e in classes or ()):
        return
    found = ", ".join(f"`{c.fqn.rpartition('.')[2]}`" for c in exported[-1] or ())
    problem = (
        f"exports {found} as `ModelClass`, which is not registered" if found else "exports no class as `ModelClass`"
    )
    repair = remedies.exported(module, registered)
    node = module.exports[-1].node
    yield module.finding(node, names[0], architectures, repair=repair, cls=names[0], problem=problem)


@rule("NAM106")
def package_reexport(model: ModelClass) -> Iterator[Finding]:
    project = model.project
    folder = project.model_package(model.path)
    if folder is None:
        return
    path = os.path.join(folder, "__init__.py")
    place = (project.tree.relative(path), Span(), model.name, model.architectures)
    name = project.names.module_name(path)
    package = project.names.module(name) if name else None
    source = model.entity.module.name
    if package is None:
        if project.tree.read(path) is None:
            yield Finding(*place, (("cls", model.name), ("module", source), ("problem", "does not exist")))
        return
    if not serves_lazily(package, model.name) and not binds_class(model, package):
        node = all_statement(package)
        span = project.tree.span(path, node) if node is not None else Span()
        fields = (("cls", model.name), ("module", source), ("problem", f"does not import `{model.name}`"))
        repair = remedies.reexported(model, package)
        yield Finding(place[0], span, model.name, model.architectures, fields, repair=repair)
        return
    node = all_statement(package)
    if node is not None and misses(model, package):
        fields = (
            ("cls", model.name),
            ("module", source),
            ("problem", f"leaves `{model.name}` out of `__all__`"),
        )
        span, repair = project.tree.span(path, node), remedies.listed(model, package)
        yield Finding(place[0], span, model.name, model.architectures, fields, repair=repair)


@rule("NAM107")
def unregistered_model_class(module: ModelModule) -> Iterator[Finding]:
    project = module.project
    if module.module is None or not project.has_static_mapping or not project.tree.holds(module.path, MIXIN.encode()):
        return
    if not project.reads_all_of(MAPPING):
        return
    registered = {cls for name, cls in project.registered if name == module.module.name} | set(module.registered)
    for binding in module.exports:
        for entity in module.exported(binding) or ():
            if not isinstance(entity, ClassEntity) or entity.module is not module.module:
                continue
            if project.classes.is_stand_in(entity):
                continue
            mixed_in = any(b.fqn.rpartition(".")[2] == MIXIN for b in project.classes.bases(entity))
            if mixed_in and entity.name.endswith(CAUSAL) and entity.qualname not in registered:
                entry = f'"{entity.name}": ("{module.module.name}", "{entity.name}")'
                yield module.finding(entity.node, entity.name, (), cls=entity.name, entry=entry)


@rule("NAM109")
def model_class_foreign(module: ModelModule) -> Iterator[Finding]:
    for binding in module.exports:
        for entity in module.exported(binding) or ():
            outside = isinstance(entity, External) and not module.project.names.at_hand(entity.fqn)
            followed = isinstance(entity, ClassEntity) and not module.project.classes.in_checkout(entity)
            if outside or followed:
                foreign = entity.fqn.rpartition(".")[2]
                origin = entity.fqn.partition(".")[0]
                yield module.finding(binding.node, None, (), cls=foreign, origin=origin)


@rule("NAM110")
def checkpointing_mixin_order(model: ModelClass) -> Iterator[Finding]:
    if not model.owns_causal_head:
        return
    if not model.has_ancestor(MIXIN):
        if not model.has_opaque_base and model.project.knows(MIXIN):
            replaces = any(_shadows(model, ancestor) for ancestor in model.mro[1:])
            repair = bases.with_base(model, MIXIN, first=True, unsafe=replaces)
            yield model.finding(repair=repair, problem=f"does not derive from `{MIXIN}`")
        return
    for owner in reversed([a for a in model.mro if isinstance(a, ClassEntity) and model.classes.in_checkout(a)]):
        shadow = _shadowing(model, owner)
        if shadow is not None:  # the deepest class whose own bases stand in the wrong order
            problem = f"lists `{MIXIN}` after `{shadow}`, whose `save_pretrained`/`from_pretrained` then win"
            repair = bases.moved_to_front(model, owner, MIXIN)
            yield model.finding(owner=owner, repair=repair, problem=problem)
            return


def _shadowing(model: ModelClass, owner: ClassEntity) -> str | None:
    """Return the ancestor ahead of the mixin that brings its own loading and saving, if there is one."""
    order = model.classes.mro(owner)
    names = [a.fqn.rpartition(".")[2] for a in order]
    if MIXIN not in names:
        return None
    ahead = order[1 : names.index(MIXIN)]
    return next((a.fqn.rpartition(".")[2] for a in ahead if _shadows(model, a)), None)


def _shadows(model: ModelClass, ancestor: Ancestor) -> bool:
    """Whether an ancestor ahead of the mixin, and not built on it, brings its own loading and saving."""
    if not isinstance(ancestor, ClassEntity):
        return is_hf_model(ancestor)
    if any(a.fqn.rpartition(".")[2] == MIXIN for a in model.classes.mro(ancestor)):
        return False
    return any(model.classes.local(ancestor, name) for name in ("save_pretrained", "from_pretrained"))
