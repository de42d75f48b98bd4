"""Reports made by hand, for tests of what shows them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from automodel_lint.baseline import fingerprinted
from automodel_lint.config import Config
from automodel_lint.findings import Finding, Severity, Span
from automodel_lint.report import Report
from automodel_lint.source import SourceTree


def finding(path: str = "acme/model.py", message: str = "`Acme` is wrong: write it right", **others: Any) -> Finding:
    """Return a finding of an error in the second line, unless told otherwise."""
    known: dict[str, Any] = {
        "span": Span(2, 7, 2, 11),
        "symbol": "Acme",
        "architectures": ("Acme",),
        "code": "NAM206",
        "severity": Severity.ERROR,
    }
    return Finding(path=path, message=message, **{**known, **others})


def report(root: Path, *findings: Finding, files: Mapping[str, bytes] | None = None, **others: Any) -> Report:
    """Return a report on a folder; ``files`` are sources that need not be on disk."""
    overlay = {str(root / path): data for path, data in (files or {}).items()}
    known: dict[str, Any] = {"classes": 1, "files": [], "seconds": 0.25, "config": Config()}
    tree = SourceTree(str(root), overlay)
    return Report(root=str(root), findings=fingerprinted(list(findings)), tree=tree, **{**known, **others})
