"""What the things have in common that are classes of the checkout: how findings are made about them."""

from __future__ import annotations

import ast

from automodel_lint.domain.project import Project
from automodel_lint.findings import Finding, Severity
from automodel_lint.inference.names import ClassEntity
from automodel_lint.repairs import Repair


class ClassThing:
    """A class of the checkout that rules are asked about.

    Attributes:
        project: the checkout it lies in.
        entity: its definition.
        architectures: the names it is registered under.
    """

    def __init__(self, project: Project, entity: ClassEntity, architectures: tuple[str, ...] = ()):
        self.project, self.entity, self.architectures = project, entity, architectures
        self.classes, self.names, self.values = project.classes, project.names, project.values

    @property
    def name(self) -> str:
        return self.entity.name

    @property
    def path(self) -> str:
        return self.entity.module.path

    def finding(
        self,
        at: ast.AST | None = None,
        owner: ClassEntity | None = None,
        method: str | None = None,
        severity: Severity | None = None,
        repair: Repair | None = None,
        **fields: object,
    ) -> Finding:
        """Return a finding about this class.

        It points at ``at`` (a definition is pointed at by its name), by default at the class name. ``owner`` is the
        class whose body holds the place, where that is another, such as a base; ``method`` the method the fault is in;
        ``repair`` mends it. ``fields`` fill the message of the rule's page; ``cls`` is always known to it.
        """
        owner = owner or self.entity
        symbol = f"{owner.name}.{method}" if method else owner.name
        node = at if at is not None else owner.node
        return self.finding_in(owner.module.path, node, symbol, severity, repair, **{"cls": owner.name, **fields})

    def finding_in(
        self,
        path: str,
        node: ast.AST,
        symbol: str,
        severity: Severity | None = None,
        repair: Repair | None = None,
        /,
        **fields: object,
    ) -> Finding:
        """Return a finding about this class at a node of any file, filed under ``symbol``."""
        tree = self.project.tree
        is_definition = isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        return Finding(
            path=tree.relative(path),
            span=tree.name_span(path, node) if is_definition else tree.span(path, node),  # type: ignore[arg-type]
            symbol=symbol,
            architectures=self.architectures,
            fields=tuple(fields.items()),
            severity=severity,
            related=(tree.relative(self.path),) if path != self.path else (),
            repair=repair,
        )
