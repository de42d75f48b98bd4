"""What ``classify`` found, as JSON for a program; ``docs/classify.schema.json`` describes it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from automodel_lint.onboarding.classification import Classification
from automodel_lint.onboarding.nearest import Near
from automodel_lint.onboarding.onboarding import Onboarding
from automodel_lint.onboarding.parts import Field, brief
from automodel_lint.onboarding.sizes import Sizes

VERSION = 1


def render(shown: Onboarding) -> str:
    """Return the object, indented, with a line end."""
    return json.dumps(payload(shown), indent=2) + "\n"


def payload(shown: Onboarding) -> dict[str, Any]:
    """Return the object as plain data."""
    around, entry = shown.around, shown.around.registration
    own = around.config_class
    return {
        "version": VERSION,
        **classification(shown.found),
        "config_class": {
            "status": own.status,
            "reason": own.reason,
            "class": own.name,
            "fields": _fields(own.fields),
            "nested": _fields(own.nested),
        },
        "remote_code": {"auto_map": _fields(shown.found.auto_map), "only": around.remote_only},
        "registered": None
        if entry is None
        else {
            "class": entry.cls,
            "module": entry.module,
            "path": entry.path,
            "line": entry.span.line,
            "lacking": [{"group": group, "name": name} for group, name in shown.lacking],
        },
        "checkout": shown.root,
        "nearest": [_near(near) for near in shown.near],
        "names": {field.name: getattr(shown.names, field.name) for field in fields(shown.names)},
        "plan": [{field.name: getattr(step, field.name) for field in fields(step)} for step in shown.plan],
    }


def classification(found: Classification) -> dict[str, Any]:
    """Return what a config says by itself, as plain data."""
    return {
        "config": found.file.path,
        "architectures": list(found.architectures),
        "model_type": found.model_type,
        "kind": found.kind,
        "traits": list(found.traits),
        "kinds": [{"name": k.name, "reason": k.reason, "fields": _fields(k.fields)} for k in found.kinds],
        "inputs": sorted(found.modalities.inputs),
        "outputs": sorted(found.modalities.outputs),
        "language_model": found.parts.backbone.path or None,
        "sizes": {f.name: _field(getattr(found.sizes, f.name)) for f in fields(Sizes)},
        "parameters": {
            "total": found.parameters.total,
            "active": found.parameters.active,
            "reason": found.parameters.reason,
        },
        "components": [
            {"group": c.group, "name": c.name, "detail": c.detail, "standard": c.standard, "fields": _fields(c.fields)}
            for c in found.components
        ],
        "tie": {
            "value": found.tie.value,
            "place": found.tie.place,
            "contradicts": found.tie.contradicts,
            "fields": _fields(found.tie.fields),
        },
        "quantization": _field(found.quantization),
        "dtype": _field(found.dtype),
        "notes": list(found.notes),
    }


def _near(near: Near) -> dict[str, Any]:
    registered = near.registered
    path, line = registered.place
    return {
        "class": registered.model.name,
        "architectures": list(registered.model.architectures),
        "package": registered.package,
        "path": path,
        "line": line,
        "score": near.score,
        "shared": [_key(near, key) for key in near.shared],
        "missing": [{"group": group, "name": name} for group, name in near.missing],
        "fields": list(near.fields),
    }


def _key(near: Near, key: tuple[str, str]) -> dict[str, Any]:
    place = near.registered.built.get(key)
    tree = near.registered.model.project.tree
    where = (
        {"path": tree.relative(place.path), "line": place.line} if place is not None else {"path": None, "line": None}
    )
    return {"group": key[0], "name": key[1], **where}


def _fields(found: Iterable[Field]) -> list[dict[str, Any]]:
    return [{"field": field.path, "value": brief(field.value)} for field in found]


def _field(found: Field | None) -> dict[str, Any] | None:
    return None if found is None else {"field": found.path, "value": brief(found.value)}
