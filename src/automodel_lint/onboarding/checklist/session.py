"""One audit as a person asks for it: the classes that a name stands for, what the rules say of them, the boxes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from automodel_lint.domain.artefacts import recipe_uses
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.plan import Registration
from automodel_lint.domain.things import CAUSAL, ModelModule
from automodel_lint.engine import Engine, Unit
from automodel_lint.findings import Finding, Silenced
from automodel_lint.inference.names import ClassEntity
from automodel_lint.onboarding.checklist import checklist
from automodel_lint.onboarding.checklist.answers import Audit
from automodel_lint.onboarding.checklist.given import Given, given_to
from automodel_lint.onboarding.checklist.subject import Heard, Subject
from automodel_lint.onboarding.config_file import ConfigFile
from automodel_lint.pages import pages
from automodel_lint.report import Report
from automodel_lint.selection import Selection
from automodel_lint.session import Session

_BY_REGISTRATION = ("NAM802", "NAM803")  # pages and recipes are told by registered architectures
Place = tuple[str, str, str, int]  # as in Resolution
Probe = Callable[["AuditSession", "list[Audited]"], Report]


@dataclass
class Audited:
    """A class to audit, and the entries that lead to it (none, if it is still to be registered)."""

    place: Place
    model: ModelClass
    registrations: list[Registration]


class AuditSession:
    """A checkout with its settings, ready to be audited. Kept verdicts of `check` are used; none is written."""

    def __init__(self, session: Session):
        request = session.request
        # The whole checkout is in scope, and what a box needs of the rules that nobody shows unless asked to.
        session.request = replace(
            request,
            paths=[session.checkout.package_dir],
            extend_select=[*request.extend_select, *_asked_for()],
        )
        self.session, self.checkout, self.tree = session, session.checkout, session._tree()
        outside = session._outside()
        kept = session._cache_file(outside)
        self.engine = Engine(self.checkout, self.tree, outside, kept, session.config.fp32_tensors)
        self.units = dict(self.engine.units())
        self.project = self.engine.project

    # -- which classes --------------------------------------------------------------------------------------------

    @cached_property
    def registered(self) -> list[Audited]:
        """Every class that an entry leads to."""
        entries: dict[Place, list[Registration]] = {}
        for entry in self.project.architectures:
            for place in self.project.resolve(entry.module, entry.cls).classes:
                entries.setdefault(place, []).append(entry)
        return [found for place, same in entries.items() if (found := self._audited(place, same)) is not None]

    def _audited(self, place: Place, entries: list[Registration]) -> Audited | None:
        module, qualname, _, line = place
        entity = self.project.class_at(module, qualname, line)
        if entity is None:
            return None
        names = tuple(dict.fromkeys(e.key for e in entries)) or (qualname,)
        tags = tuple(dict.fromkeys(t for e in entries for t in e.tags))
        return Audited(place, ModelClass(self.project, entity, names, tags), entries)

    def of_class(self, entity: ClassEntity) -> list[Audited]:
        """Return a registered class, ready to be audited."""
        return [audited for audited in self.registered if audited.model.entity is entity]

    def packages(self) -> list[str]:
        """Return the names of the model packages, what they share apart."""
        entries = self.tree.entries(self.checkout.models_dir) or []
        return [e[:-1] for e in entries if e.endswith("/") and not e.startswith((".", "_", "common/"))]

    def in_package(self, name: str) -> list[Audited]:
        """Return the registered classes of a model package, then those that are still to be registered."""
        folder = os.path.join(self.checkout.models_dir, name)
        found = [a for a in self.registered if self.checkout.model_package(a.model.path) == folder]
        return [*found, *self._unregistered(folder, {a.model.entity for a in found})]

    def broken_entries(self, name: str) -> list[Registration]:
        """Return the entries that name a module of a model package and lead to no class."""
        package = f"{self.checkout.package}.components.models.{name}"
        within = (e for e in self.project.architectures if f"{e.module}.".startswith(f"{package}."))
        return [e for e in within if not self.project.resolve(e.module, e.cls).classes]

    def _unregistered(self, folder: str, registered: set[ClassEntity]) -> Iterable[Audited]:
        """The other model classes of a package: those that its modules export.

        In a package with no class that is registered or exported, those that are named as one would be.
        """
        modules = [ModelModule(self.project, path, {}) for path in self.tree.python_files(folder)]
        exported = [e for m in modules for binding in m.exports for e in m.exported(binding) or ()]
        models = [e for e in exported if isinstance(e, ClassEntity) and (not registered or e.name.endswith(CAUSAL))]
        if not models and not registered:
            names = ((m.module.name, name) for m in modules if m.module for name in m.module.bindings.names)
            models = [entity for module, name in names for entity in self._named(module, name)]
        ours = (e for e in models if e.module.path.startswith(folder + os.sep) and e not in registered)
        for entity in dict.fromkeys(ours):
            path = self.tree.relative(entity.module.path)
            audited = self._audited((entity.module.name, entity.qualname, path, entity.node.lineno), [])
            if audited is not None:
                yield audited

    def _named(self, module: str, name: str) -> list[ClassEntity]:
        """The class that a module defines under the name of a model."""
        found = self.project.definitions(module, name) if name.endswith(CAUSAL) else []
        return [e for e in self.project.classes.real(found or []) if e.module.name == module]

    # -- audits ---------------------------------------------------------------------------------------------------

    def audits(
        self, audited: list[Audited], config: ConfigFile | None = None, probe: Probe | None = None
    ) -> list[Audit]:
        """Return the checklist of each class. ``config`` is the one of a checkpoint, ``probe`` runs the classes.

        Raises:
            UsageError: if the config is not one of theirs, or cannot be used.
        """
        models = [each.model for each in audited]
        new = {each.model.name for each in audited if not each.registrations}
        given = given_to(config, models, new) if config is not None else [None] * len(models)
        ran = probe(self, audited) if probe is not None else None
        names = {model.name for model in models}
        each_with = zip(audited, given, strict=True)
        return [self._audit(each, names - {each.model.name}, ran, of_it) for each, of_it in each_with]

    def _audit(self, audited: Audited, others: set[str], ran: Report | None, config: Given | None) -> Audit:
        heard = self._heard(audited, others)
        told = next((row for row in ran.probe or () if _is_about(row, audited)), None) if ran is not None else None
        if ran is not None:
            heard.findings += [f for f in ran.findings if _concerns(f, audited.model, others)]
        model = audited.model
        subject = Subject(model, audited.registrations, heard, told["checks"] if told else None, config)
        boxes = checklist()
        about = {code for box in boxes for code in box.rules}
        return Audit(
            model.name,
            tuple(dict.fromkeys(r.key for r in audited.registrations)),
            os.path.basename(subject.folder) if subject.folder else None,
            self.tree.relative(model.path),
            model.entity.node.lineno,
            [subject.answer(box) for box in boxes],
            [f for f in heard.findings if f.code not in about],
            told,
        )

    def _heard(self, audited: Audited, others: set[str]) -> Heard:
        """Ask the rules about a class, its module, its package and the entries that lead there, as `check` does."""
        units = self._units_about(audited)
        verdict = self.engine.verdict([f for key, compute in units for f in self.engine.findings(key, compute)])
        verdict.files = []  # nobody asks for unused comments
        if not audited.registrations:
            verdict.findings = [f for f in verdict.findings if f.code not in _BY_REGISTRATION]
        verdict.findings = [f for f in verdict.findings if _concerns(f, audited.model, others)]
        selection = Selection(self.session.request, self.session.config, self.checkout, self.tree, verdict)
        told = {f.code for f in verdict.findings}  # not what selection adds about comments and exemptions
        report = selection.report()
        silenced = [(s.finding, _said(s)) for s in report.silenced]
        return Heard([f for f in report.findings if f.code in told], [*silenced, *selection.unasked()])

    def _units_about(self, audited: Audited) -> list[Unit]:
        path, folder = audited.model.path, self.checkout.model_package(audited.model.path)
        package = audited.model.entity.module.package
        beginnings = ("registry", f"class:{audited.place}:", f"module:{path}:", f"package:{folder}:")
        ends = tuple(f":{e.key}:{e.module}:{e.cls}" for e in audited.registrations)
        ends += tuple(f":{e.module}:{e.cls}" for e in self.project.configs if e.module.startswith(f"{package}."))
        below = f"adapters:{folder}{os.sep}"
        used = recipe_uses(self.project, audited.model.architectures)
        recipes = tuple(f"recipe:{self.tree.absolute(use.place.path)}:" for use in used)
        units = [
            (key, compute)
            for key, compute in self.units.items()
            if key.startswith((*beginnings, *recipes)) or key.startswith(below) or (ends and key.endswith(ends))
        ]
        if not audited.registrations:
            known = {key.partition(":")[0] for key, _ in units}
            missing = self.engine.as_if_registered(audited.place, audited.model.name)
            units += [unit for unit in missing if unit[0].partition(":")[0] not in known]
        return units


def _asked_for() -> list[str]:
    """The rules that boxes stand on and that say nothing unless they are asked."""
    from automodel_lint.findings import Severity

    known = pages()
    codes = dict.fromkeys(code for box in checklist() for code in box.rules)
    return [code for code in codes if code in known and known[code].severity is Severity.INFO]


def _said(silenced: Silenced) -> str:
    """Who silences a finding, and why."""
    reason = silenced.reason
    return {
        "exemption": f"exempt: {reason}",
        "comment": f"a comment silences it: {reason or 'no reason given'}",
        "baseline": "known to the baseline",
        "path": f"the settings ignore it in {reason}",
    }[silenced.by]


def _concerns(finding: Finding, model: ModelClass, others: set[str]) -> bool:
    """Whether a finding about a module, a package or the registry is about this one of its classes, too."""
    if finding.architectures:
        return bool({*finding.architectures} & {*model.architectures, model.name})
    return finding.symbol not in others


def _is_about(row: dict[str, Any], audited: Audited) -> bool:
    return any(row["class"] == f"{e.module}:{e.cls}" for e in audited.registrations)
