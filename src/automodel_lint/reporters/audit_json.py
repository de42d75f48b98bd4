"""Audits as one JSON object; its schema is ``docs/audit.schema.json``."""

from __future__ import annotations

from typing import Any

from automodel_lint import __version__
from automodel_lint.onboarding.checklist import PHASES
from automodel_lint.onboarding.checklist.answers import Answer, Audit
from automodel_lint.reporters.json import as_text

VERSION = 1


def render(audits: list[Audit], root: str) -> str:
    """Return the checklists as JSON text; ``root`` is the checkout that paths are relative to."""
    data = {
        "version": VERSION,
        "tool": {"name": "automodel-lint", "version": __version__},
        "root": root.replace("\\", "/"),
        "audits": [_audit(audit) for audit in audits],
    }
    return as_text(data)


def _audit(audit: Audit) -> dict[str, Any]:
    return {
        "class": audit.name,
        "architectures": list(audit.architectures),
        "package": audit.package,
        "path": audit.path,
        "line": audit.line,
        "counts": {status.value: count for status, count in audit.counts().items()},
        "boxes": [_box(answer) for answer in audit.answers],
        "other_findings": [
            {"code": f.code, "message": f.message, "path": f.path, "line": f.span.line} for f in audit.others
        ],
        "probe": audit.probe,
    }


def _box(answer: Answer) -> dict[str, Any]:
    return {
        "name": answer.box.name,
        "text": answer.box.text,
        "phase": PHASES[answer.box.phase],
        "section": answer.box.section,
        "status": answer.status.value,
        "reason": answer.reason or None,
        "rules": list(answer.box.rules),
        "evidence": [
            {"kind": e.kind.value, "text": e.text, "path": e.path, "line": e.line, "code": e.code}
            for e in answer.evidence
        ],
    }
