"""What the checkout and the transformers at hand already know of a config: its config class, its architecture."""

from __future__ import annotations

from dataclasses import dataclass

from automodel_lint.domain.builtin import builtin_model_types, config_of_architecture
from automodel_lint.domain.plan import Registration
from automodel_lint.domain.project import Project
from automodel_lint.inference.names import Names
from automodel_lint.onboarding.classification import Classification
from automodel_lint.onboarding.config_file import clean
from automodel_lint.onboarding.parts import Field

REGISTERED, BUILT_IN, NEEDED, NOT_NEEDED, UNKNOWN = "registered", "built-in", "needed", "not-needed", "unknown"


@dataclass(frozen=True)
class ConfigClass:
    """Whether somebody has to write a config class.

    Attributes:
        status: ``registered`` (the checkout has one for the ``model_type``), ``built-in`` (transformers has),
            ``needed``, ``not-needed`` (a model of diffusers) or ``unknown`` (no transformers at hand to ask).
        reason: why, in a sentence.
        fields: the fields that say so.
        name: the class, where it is registered or where ``auto_map`` names one.
        nested: fields of nested configs whose ``model_type`` is neither registered nor built in.
    """

    status: str
    reason: str
    fields: tuple[Field, ...]
    name: str | None
    nested: tuple[Field, ...]


@dataclass(frozen=True)
class Surroundings:
    """What is already there.

    Attributes:
        config_class: whether a config class has to be written.
        registration: the entry that registers the first architecture in the checkout, if one does.
        in_transformers: whether transformers has a model of the first architecture; ``None`` if it is not at hand.
        remote_only: whether only code in the checkpoint's own repository has the model; ``None`` if that is unknown.
    """

    config_class: ConfigClass
    registration: Registration | None
    in_transformers: bool | None
    remote_only: bool | None


def surroundings_of(found: Classification, project: Project | None, names: Names) -> Surroundings:
    """Return what a checkout, if there is one, and the transformers that ``names`` leads to know of a config."""
    builtin = builtin_model_types(names)
    registration = _registration(found, project)
    has_model = None
    if builtin is not None and found.architecture is not None:
        has_model = config_of_architecture(names, (found.architecture,)) is not None
    remote: bool | None = None
    if not found.auto_map or has_model or registration is not None:
        remote = False
    elif has_model is False:
        remote = True
    return Surroundings(_config_class(found, project, builtin), registration, has_model, remote)


def _registration(found: Classification, project: Project | None) -> Registration | None:
    entries = project.architectures if project is not None else []
    return next((entry for entry in entries if entry.key == found.architecture), None)


def _config_class(found: Classification, project: Project | None, builtin: set[str] | None) -> ConfigClass:
    registered = {entry.key: entry for entry in project.configs} if project is not None else {}
    mapped = next((field for field in found.auto_map if field.path == "auto_map.AutoConfig"), None)
    name = str(mapped.value).rpartition(".")[2] if mapped is not None else None
    nested = tuple(
        Field(part.at("model_type"), clean(value))
        for part in found.parts.nested
        if isinstance(value := part.data.get("model_type"), str)
        and builtin is not None
        and value not in builtin
        and value not in registered
        and value != found.model_type
    )
    if found.model_type is None:
        if found.parts.outer.get("_diffusers_version") is not None:
            return ConfigClass(NOT_NEEDED, "diffusers reads its own configs", (), None, ())
        reason = "`model_type` is not stated, so that AutoConfig cannot choose a class"
        return ConfigClass(NEEDED, reason, (mapped,) if mapped is not None else (), name, nested)
    field = Field("model_type", found.model_type)
    fields = (field, mapped) if mapped is not None else (field,)
    entry = registered.get(found.model_type)
    if entry is not None:
        reason = f"the checkout registers `{entry.cls}` for it ({entry.path}:{entry.span.line})"
        return ConfigClass(REGISTERED, reason, fields, entry.cls, nested)
    if builtin is None:
        more = ": `auto_map` names a class of the checkpoint's own" if mapped is not None else ""
        return ConfigClass(UNKNOWN, f"no source of transformers is at hand to ask{more}", fields, name, nested)
    if found.model_type in builtin:
        return ConfigClass(BUILT_IN, "the transformers at hand has a config class for it", (field,), None, nested)
    more = ", and `auto_map` names one in the checkpoint's own code" if mapped is not None else ""
    return ConfigClass(NEEDED, f"the transformers at hand has no config class for it{more}", fields, name, nested)
