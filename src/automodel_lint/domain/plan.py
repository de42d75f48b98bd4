"""What is registered and where it leads, as plain data: what a warm run gets by with."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from automodel_lint.findings import Span
from automodel_lint.source import SourceTree


@dataclass(frozen=True)
class Registration:
    """One entry: ``key`` (an architecture or a ``model_type``) is bound to a class of a module.

    ``form`` is ``mapping``, ``call``, ``entry-point`` or ``export`` (a checkout that has only ``ModelClass``).
    ``sure`` is false for an entry that stands in a branch, ``group`` numbers the statement that holds it. ``module``
    and ``cls`` are empty where the source does not say. ``path`` is relative to the checkout's root.
    """

    key: str
    module: str
    cls: str
    tags: tuple[str, ...]
    form: str
    path: str
    span: Span
    sure: bool = True
    group: int = 0

    def to_json(self) -> list[Any]:
        """Return what :meth:`from_json` takes."""
        place = [self.span.line, self.span.column, self.span.end_line, self.span.end_column]
        return [self.key, self.module, self.cls, list(self.tags), self.form, self.path, place, self.sure, self.group]

    @classmethod
    def from_json(cls, data: list[Any]) -> Registration:
        """Inverse of :meth:`to_json`."""
        key, module, name, tags, form, path, place, sure, group = data
        return cls(key, module, name, tuple(tags), form, path, Span(*place), sure, group)


@dataclass
class Plan:
    """Everything registered.

    ``known`` says which of the framework's newer names the checkout has, ``complete`` which mappings could be read
    to the last entry, ``bound`` which mappings the registry module binds at all, with the path of its file.
    """

    static: bool
    architectures: list[Registration] = field(default_factory=list)
    configs: list[Registration] = field(default_factory=list)
    known: dict[str, bool] = field(default_factory=dict)
    complete: dict[str, bool] = field(default_factory=dict)
    bound: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return what :meth:`from_json` takes."""
        return {
            "static": self.static,
            "architectures": [r.to_json() for r in self.architectures],
            "configs": [r.to_json() for r in self.configs],
            "known": self.known,
            "complete": self.complete,
            "bound": self.bound,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], tree: SourceTree) -> Plan:
        """Inverse of :meth:`to_json`; makes the parts known to ``tree`` as facts that verdicts may depend on."""
        for name in ("architectures", "configs", "known", "complete", "bound"):
            tree.publish(name, json.dumps(data[name]))
        plan = cls(
            data["static"],
            [Registration.from_json(r) for r in data["architectures"]],
            [Registration.from_json(r) for r in data["configs"]],
            data["known"],
            data["complete"],
            data["bound"],
        )
        tree.publish("registered", json.dumps(plan.registered))
        tree.publish("configured", json.dumps(plan.configured))
        return plan

    @cached_property
    def registered(self) -> list[tuple[str, str]]:
        """The module and class of each architecture: what most verdicts need, and no edit of another line changes."""
        return [(r.module, r.cls) for r in self.architectures]

    @cached_property
    def configured(self) -> list[tuple[str, str, str]]:
        """The ``model_type``, module and class of each config."""
        return [(r.key, r.module, r.cls) for r in self.configs]


@dataclass(frozen=True)
class Resolution:
    """Where a registration leads.

    ``status`` is ``class``, ``no-module``, ``unparsable``, ``no-class``, ``stand-in``, ``outside`` or ``undecided``;
    ``classes`` are ``(module, qualified name, relative path, line)`` of the definitions, stand-ins left out.
    """

    status: str
    classes: tuple[tuple[str, str, str, int], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return what :meth:`from_json` takes."""
        return {"status": self.status, "classes": [list(c) for c in self.classes]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Resolution:
        """Inverse of :meth:`to_json`."""
        return cls(data["status"], tuple((m, q, p, n) for m, q, p, n in data["classes"]))
