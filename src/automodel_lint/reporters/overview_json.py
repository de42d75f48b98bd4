"""An overview as one JSON object, for a history of them; its schema is ``docs/report.schema.json``."""

from __future__ import annotations

from collections import Counter
from typing import Any

from automodel_lint.findings import Severity
from automodel_lint.overview.model import STATES, Coverage, Evidence, Model, Overview, Told
from automodel_lint.reporters.json import as_text

VERSION = 1


def render(overview: Overview) -> str:
    """Return the overview as JSON text."""
    return as_text(as_data(overview))


def as_data(overview: Overview) -> dict[str, Any]:
    """Return the overview as plain data."""
    commit = overview.commit
    return {
        "version": VERSION,
        "tool": {"name": "automodel-lint", "version": overview.version},
        "made": overview.made,
        "package": overview.package,
        "repository": commit and {"commit": commit, "committed": overview.committed, "prefix": overview.prefix},
        "summary": {
            **{f"{severity}s" if severity != "info" else severity: n for severity, n in overview.counts.items()},
            "suppressed": overview.suppressed,
            "baselined": overview.baselined,
            "classes": len(overview.models),
            "files": overview.files,
        },
        "states": _states(overview),
        "codes": _codes(overview),
        "classes": [_model(overview, model) for model in overview.models],
        "findings": [_finding(overview, told) for told in overview.findings],
        "probe": _probe(overview),
    }


def _states(overview: Overview) -> dict[str, int]:
    """How often a class stands so to a contract."""
    counts: Counter[str] = Counter()
    for model in overview.models:
        counts += model.states(overview.contracts)
    return {state: counts[state] for state in STATES}


def _codes(overview: Overview) -> dict[str, dict[str, int]]:
    """The findings by code: by severity those that are shown, and how many are silenced."""
    counts = Counter((told.finding.code, told.state) for told in overview.findings)
    codes = sorted({*(c.code for c in overview.contracts), *(told.finding.code for told in overview.findings)})
    kinds = (*(str(s) for s in reversed(Severity)), "silenced")
    return {code: {kind: counts[code, kind] for kind in kinds} for code in codes}


def _model(overview: Overview, model: Model) -> dict[str, Any]:
    return {
        "class": model.name,
        "module": model.module,
        "path": model.path,
        "line": model.line,
        "package": model.package,
        "family": model.family,
        "architectures": list(model.architectures),
        "contracts": {code: cell.state for code, cell in model.cells.items()},
        "families": {
            family.prefix: {
                "state": model.state(family.contracts),
                **{s: n for s, n in sorted(model.states(family.contracts).items(), key=lambda i: STATES.index(i[0]))},
            }
            for family in overview.families
        },
        "capabilities": {"declared": model.declared, "flags": model.flags},
        "coverage": _coverage(model.coverage),
        "tree_complete": not model.untraced,
    }


def _coverage(coverage: Coverage) -> dict[str, Any]:
    def paths(found: tuple[Evidence, ...] | None) -> list[str] | None:
        return None if found is None else sorted({evidence.path for evidence in found})

    axes = {axis: {"largest": use.largest, "recipes": paths(use.recipes)} for axis, use in coverage.axes.items()}
    return {
        "tests": paths(coverage.tests),
        "docs": paths(coverage.docs),
        "recipes": paths(coverage.recipes),
        "possible_recipes": paths(coverage.possible),
        "axes": axes,
    }


def _finding(overview: Overview, told: Told) -> dict[str, Any]:
    finding = told.finding
    return {
        "code": finding.code,
        "severity": told.severity,
        "message": finding.message,
        "path": finding.path,
        "line": finding.span.line,
        "symbol": finding.symbol,
        "classes": [f"{overview.models[number].module}:{overview.models[number].name}" for number in told.models],
        "fingerprint": finding.fingerprint,
        "silenced": told.silenced and {"by": told.silenced.by, "reason": told.silenced.reason},
        "probed": told.probed,
    }


def _probe(overview: Overview) -> dict[str, Any] | None:
    run = overview.probe
    if run is None:
        return None
    probed = [told for told in overview.findings if told.probed]
    return {
        "commit": run.commit,
        "classes": run.classes,
        "unknown": list(run.unknown),
        "findings": {str(s): sum(told.severity == str(s) for told in probed) for s in reversed(Severity)},
    }
