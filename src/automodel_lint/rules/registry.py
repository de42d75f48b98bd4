"""NAM101-NAM104, NAM108: what the registry says must be there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.model_config import config_classes, literal_model_type, registers_itself
from automodel_lint.domain.registry import CONFIGS
from automodel_lint.domain.things import ArchitectureEntry, ConfigEntry, Registry
from automodel_lint.findings import Finding, Severity
from automodel_lint.inference.names import ClassEntity
from automodel_lint.remedies import registry as remedies
from automodel_lint.rules import rule


@rule("NAM101")
def registry_module_missing(entry: ArchitectureEntry) -> Iterator[Finding]:
    if entry.resolution.status == "no-module":
        yield entry.finding(file=entry.registration.module.replace(".", "/") + ".py")


@rule("NAM102")
def registry_class_missing(entry: ArchitectureEntry) -> Iterator[Finding]:
    if entry.resolution.status == "no-class":
        yield entry.finding(repair=remedies.with_nearest(entry), hint=_hint(entry))


def _hint(entry: ArchitectureEntry | ConfigEntry) -> str:
    near = entry.nearest()
    return f"did you mean `{near}`?" if near else "define it there, or correct the entry"


@rule("NAM103")
def duplicate_architecture(registry: Registry) -> Iterator[Finding]:
    first: dict[tuple[str, int], int] = {}
    for entry in registry.architectures:
        if entry.registration.form != "mapping":
            continue
        # an entry in a branch is compared with those beside it only: that another one is there too is not sure
        key = (entry.key, -1 if entry.registration.sure else entry.registration.group)
        if key in first:
            yield entry.finding(first=first[key])
        else:
            first[key] = entry.registration.span.line


@rule("NAM104")
def config_registration_broken(entry: ConfigEntry) -> Iterator[Finding]:
    status = entry.resolution.status
    if status == "no-module":
        path = entry.registration.module.replace(".", "/") + ".py"
        yield entry.finding(problem=f"names the module `{entry.registration.module}`, but there is no {path}")
    elif status == "no-class":
        problem = f"names `{entry.registration.cls}`, which `{entry.registration.module}` does not bind"
        yield entry.finding(problem=f"{problem}: {_hint(entry)}")
    elif status == "class":
        yield from _model_type_differs(entry)


def _model_type_differs(entry: ConfigEntry) -> Iterator[Finding]:
    for module, qualname, _, line in entry.resolution.classes:
        entity = entry.project.class_at(module, qualname, line)
        own = literal_model_type(entry.project, entity, local=True) if entity else None
        if own and own != entry.key:
            problem = f"registers `{entry.registration.cls}`, whose own `model_type` is {own!r}"
            yield entry.finding(problem=f"{problem}: use one spelling for both")
            return


@rule("NAM104")
def config_registered_for_another(model: ModelClass) -> Iterator[Finding]:
    for config in config_classes(model):
        own = literal_model_type(model.project, config)
        if not own or not any(_is_foreign(model, config, own, entry) for entry in model.project.configured):
            continue
        for registration in model.project.configs:  # where they stand is asked only by who has something to say
            resolution = model.project.resolve(registration.module, registration.cls)
            if registration.key != own or resolution.status != "class":
                continue
            names = {f"{module}.{qualname}" for module, qualname, _, _ in resolution.classes}
            if not _related(model, config, names):
                other = f"`{model.name}` is built from `{config.name}` of `{config.module.name}`"
                problem = f"registers `{registration.cls}` of `{registration.module}`, but {other}"
                yield Finding(
                    registration.path,
                    registration.span,
                    symbol=registration.cls,
                    architectures=model.architectures,
                    fields=(("key", own), ("problem", f"{problem}, which has the same `model_type`")),
                    severity=Severity.WARNING,
                )


def _is_foreign(model: ModelClass, config: ClassEntity, own: str, entry: tuple[str, str, str]) -> bool:
    """Whether a registration of the same ``model_type`` leads to a class that has nothing to do with the config."""
    key, module, name = entry
    resolution = model.project.resolve(module, name) if key == own else None
    if resolution is None or resolution.status != "class":
        return False
    return not _related(model, config, {f"{module}.{qualname}" for module, qualname, _, _ in resolution.classes})


def _related(model: ModelClass, config: ClassEntity, names: set[str]) -> bool:
    """The registered class is the config itself, or one derives from the other."""
    if {a.fqn for a in model.classes.mro(config)} & names:
        return True
    registered = [e for fqn in names for e in model.project.by_fqn(fqn) if isinstance(e, ClassEntity)]
    return any(config in model.classes.mro(entity) for entity in registered)


@rule("NAM108")
def unregistered_config_class(model: ModelClass) -> Iterator[Finding]:
    registry = model.project.file_of(CONFIGS)
    builtin = model.project.builtin_model_types()
    if registry is None or not model.project.reads_all_of(CONFIGS):
        return
    registered = {key for key, _, _ in model.project.configured}
    for config in config_classes(model):
        own = literal_model_type(model.project, config)
        if not own or own in registered or not model.classes.in_checkout(config):
            continue
        if own not in builtin if builtin is not None else registers_itself(model, config):
            module, name = config.module.name, config.qualname
            entry = f'"{own}": ("{module}", "{name}")'
            found = model.finding(owner=config, model_type=own, entry=entry)
            yield replace(found, related=(*found.related, registry))
