"""The outcome of a run, ready to be shown."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from automodel_lint.config import Config
from automodel_lint.findings import Finding, Severity, Silenced
from automodel_lint.source import SourceTree


@dataclass
class Report:
    """The outcome of a run: the findings to show, in order, and what the summary needs.

    ``probe`` is what the runtime probe tells of each class beside its findings, ``None`` if it did not run; ``fixed``
    counts the findings that were repaired before, ``changes`` the files that this changed. ``silenced`` are the
    findings that are left out by name, ``asked`` the codes of the rules that were selected.
    """

    root: str
    findings: list[Finding]
    classes: int
    files: list[str]
    seconds: float
    config: Config
    tree: SourceTree
    suppressed: int = 0
    baselined: int = 0
    probe: list[dict[str, Any]] | None = None
    fixed: int = 0
    changes: int = 0
    silenced: list[Silenced] = field(default_factory=list)
    asked: frozenset[str] = frozenset()

    def counts(self) -> dict[str, int]:
        """Return the number of findings by severity, most severe first."""
        found = Counter(str(f.severity) for f in self.findings)
        return {str(s): found.get(str(s), 0) for s in sorted(Severity, reverse=True)}

    def fails(self, threshold: Severity) -> bool:
        """Tell whether some finding is at or above ``threshold``."""
        return any((f.severity or Severity.ERROR) >= threshold for f in self.findings)

    def edited(self) -> list[Finding]:
        """Return the findings with the edits that mend them, for who shows or applies them elsewhere."""
        if not any(finding.repair for finding in self.findings):
            return self.findings
        from automodel_lint.fixes.edits import with_edits

        return with_edits(self.findings, lambda path: self.tree.read(self.tree.absolute(path)))


def together(reports: list[Report]) -> Report:
    """Fold the reports on several checkouts into one; paths are then relative to the folder that holds them all."""
    root = os.path.commonpath([report.root for report in reports])

    def moved(report: Report, path: str) -> str:
        return os.path.relpath(report.tree.absolute(path), root).replace(os.sep, "/")

    return Report(
        root,
        [replace(f, path=moved(report, f.path)) for report in reports for f in report.findings],
        sum(report.classes for report in reports),
        [moved(report, path) for report in reports for path in report.files],
        sum(report.seconds for report in reports),
        reports[0].config,
        SourceTree(root),
        sum(report.suppressed for report in reports),
        sum(report.baselined for report in reports),
        fixed=sum(report.fixed for report in reports),
        changes=sum(report.changes for report in reports),
    )
