"""What is audited: one registered class, what the rules say of it, and what the probe has seen of it."""

from __future__ import annotations

import ast
import os
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.plan import Registration
from automodel_lint.findings import Finding
from automodel_lint.inference.bindings import dotted
from automodel_lint.inference.classes import Member
from automodel_lint.inference.module_tree import Place
from automodel_lint.inference.names import ClassEntity, Module
from automodel_lint.onboarding.checklist import Box
from automodel_lint.onboarding.checklist.answers import (
    Answer,
    Evidence,
    Kind,
    NotApplicable,
    NotDecidable,
    Status,
    sorted_evidence,
)
from automodel_lint.onboarding.checklist.given import Given
from automodel_lint.selection import UNASKED

_FAILED = "NAM000"


@dataclass
class Heard:
    """What rules say: the findings that ``check`` shows, and those that it leaves out, each with the reason."""

    findings: list[Finding] = field(default_factory=list)
    silenced: list[tuple[Finding, str]] = field(default_factory=list)


@dataclass
class Subject:
    """One class under audit.

    Attributes:
        model: the class, registered or on its way there.
        registrations: the entries that lead to it.
        heard: what the rules say of it.
        checks: how each check of the probe ended (``status``, ``reason``, ``figure``), ``None`` if it did not run.
        config: what the checkpoint's ``config.json`` says of it, ``None`` if none was given.
    """

    model: ModelClass
    registrations: list[Registration]
    heard: Heard
    checks: dict[str, dict[str, Any]] | None = None
    config: Given | None = None

    @cached_property
    def folder(self) -> str | None:
        """The model package that the class lies in (absolute)."""
        return self.model.project.model_package(self.model.path)

    @cached_property
    def package(self) -> Module | None:
        """The ``__init__`` of the model package, if it can be read."""
        names = self.model.project.names
        name = names.module_name(os.path.join(self.folder, "__init__.py")) if self.folder else None
        return names.module(name) if name else None

    def is_own(self, path: str) -> bool:
        """Tell whether a file (absolute) lies in the model package, or is the file of a class that lies in none."""
        return path == self.model.path or (self.folder is not None and path.startswith(self.folder + os.sep))

    # -- evidence -------------------------------------------------------------------------------------------------

    def done(self, text: str, path: str, node: ast.AST | int = 1) -> Evidence:
        """Return evidence that a place (an absolute path, a node or a line) fulfils a box."""
        return self._evidence(Kind.DONE, text, path, node)

    def missing(self, text: str, path: str | None = None, node: ast.AST | int | None = None) -> Evidence:
        """Return evidence that something is missing, by default at the class."""
        if path is None:
            return self._evidence(Kind.MISSING, text, self.model.path, self.model.entity.node)
        return self._evidence(Kind.MISSING, text, path, 1 if node is None else node)

    def note(self, text: str, path: str, node: ast.AST | int = 1) -> Evidence:
        """Return evidence that decides nothing but that whoever does will look at."""
        return self._evidence(Kind.NOTE, text, path, node)

    def named_in(self, path: str, word: str, text: str) -> Evidence:
        """Return evidence at the line of a Python file (absolute) that calls, passes or else uses a name."""
        syntax = self.model.project.tree.syntax(path)
        nodes = list(ast.walk(syntax)) if isinstance(syntax, ast.Module) else []
        called = (n for n in nodes if isinstance(n, ast.Call) and dotted(n.func).rpartition(".")[2] == word)
        passed = (n for n in nodes if isinstance(n, ast.keyword) and n.arg == word)
        used = (n for n in nodes if word in (getattr(n, "id", None), getattr(n, "attr", None)))
        found = (min(those, key=lambda n: n.lineno, default=None) for those in (called, passed, used))
        mentioned = min(self.model.project.tree.lines_with(path, word), default=1)
        return self.done(text, path, next((node for node in found if node is not None), mentioned))

    @staticmethod
    def as_note(evidence: Evidence) -> Evidence:
        """Return evidence as something that decides nothing."""
        return replace(evidence, kind=Kind.NOTE)

    def _evidence(self, kind: Kind, text: str, path: str, node: ast.AST | int) -> Evidence:
        line = node if isinstance(node, int) else getattr(node, "lineno", 1)
        return Evidence(kind, text, self.model.project.tree.relative(path), line)

    def at_member(self, text: str, member: Member) -> Evidence:
        """Return evidence that a definition in a class body fulfils a box."""
        return self.done(text, member.owner.module.path, member.binding.node)

    def at_class(self, text: str, cls: ClassEntity) -> Evidence:
        """Return evidence that a class fulfils a box."""
        return self.done(text, cls.module.path, cls.node)

    def in_config(self, text: str, line: int) -> Evidence:
        """Return evidence that the given config says something."""
        assert self.config is not None
        return self.done(text, os.path.abspath(self.config.found.file.path), line)

    def at_place(self, text: str, place: Place) -> Evidence:
        """Return evidence that something in the module tree fulfils a box; at the class, where a library makes it."""
        if place.path.startswith(self.model.project.checkout.source_root + os.sep):
            return self.done(text, place.path, place.node)
        return self.at_class(text, self.model.entity)

    # -- the probe ------------------------------------------------------------------------------------------------

    def ran(self, *codes: str) -> Iterator[Evidence]:
        """Yield what checks of the probe have measured where they passed; what they found comes with its rule.

        Raises:
            NotDecidable: behind that, if one of them has not looked.
        """
        if self.checks is None:
            raise NotDecidable("only running it shows that; `--probe` does")
        yield from self.also_ran(*codes)
        for code in codes:
            check = self.checks.get(code)
            if check is None or check["status"] == "not-probed":
                raise NotDecidable(f"{code} could not look: {check['reason'] if check else 'no such check'}")

    def also_ran(self, *codes: str) -> Iterator[Evidence]:
        """Yield what checks of the probe have measured where they passed."""
        where = self.model.project.tree.relative(self.model.path)
        for code in codes:
            check = (self.checks or {}).get(code)
            if check is not None and check["status"] == "passed":
                figure = check["figure"] or "passed"
                yield Evidence(Kind.DONE, f"run: {figure}", where, self.model.entity.node.lineno, code)

    # -- answers --------------------------------------------------------------------------------------------------

    def answer(self, box: Box) -> Answer:
        """Return how a box stands. A failure of the linter is an answer, too: nobody can tell."""
        evidence, raised = _asked(lambda: box.question(self))
        found = [*self._found(box.rules), *self._silenced(box.rules)]
        evidence += found
        broken = self._failed(box.rules)
        status, reason = _status(evidence, raised)
        if broken is not None and status is not Status.MISSING:
            status, reason = Status.NOT_DECIDABLE, broken.message
        return Answer(box, status, reason, sorted_evidence(evidence))

    def _found(self, codes: Iterable[str]) -> Iterator[Evidence]:
        for finding in self.heard.findings:
            if finding.code in codes:
                yield Evidence(Kind.MISSING, finding.message, finding.path, finding.span.line, finding.code)

    def _silenced(self, codes: Iterable[str]) -> Iterator[Evidence]:
        for finding, why in self.heard.silenced:
            if finding.code in codes:
                kind = Kind.NOTE if why in UNASKED else Kind.SILENCED
                text = f"{finding.message} ({why})"
                yield Evidence(kind, text, finding.path, finding.span.line, finding.code)

    def _failed(self, codes: Iterable[str]) -> Finding | None:
        """The finding that a rule of a box failed."""
        failed = (finding for finding in self.heard.findings if finding.code == _FAILED)
        return next((f for f in failed if any(code in f.message for code in codes)), None)


def _asked(ask: Callable[[], Iterator[Evidence]]) -> tuple[list[Evidence], Exception | None]:
    """The evidence that a box yields, and what it raised behind that."""
    found: list[Evidence] = []
    try:
        for evidence in ask() or ():  # one that only raises yields nothing
            found.append(evidence)
    except (NotApplicable, NotDecidable) as error:
        return found, error
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(frame.filename)}:{frame.lineno}"
        return found, NotDecidable(f"the linter failed ({type(error).__name__}: {error} at {where}); please report it")
    return found, None


def _status(evidence: list[Evidence], raised: Exception | None) -> tuple[Status, str]:
    kinds = {e.kind for e in evidence}
    if Kind.MISSING in kinds:
        return Status.MISSING, ""
    if isinstance(raised, NotApplicable):
        return Status.NOT_APPLICABLE, str(raised)
    if isinstance(raised, NotDecidable):
        return Status.NOT_DECIDABLE, str(raised)
    if Kind.DONE in kinds:
        return Status.DONE, ""
    if Kind.SILENCED in kinds:
        return Status.NOT_APPLICABLE, "what the rules say of it is silenced"
    return Status.NOT_DECIDABLE, "the source does not show it"
