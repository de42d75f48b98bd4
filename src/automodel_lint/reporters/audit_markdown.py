"""An audit as a checklist for the description of a pull request."""

from __future__ import annotations

import os
from collections.abc import Iterator

from automodel_lint.onboarding.checklist import PHASES
from automodel_lint.onboarding.checklist.answers import Answer, Audit, Evidence, Kind, Status

_MOST = 3  # places that speak for a box


def render(audits: list[Audit]) -> str:
    """Return the checklists as Markdown: a task for each box that applies, ticked where it is done."""
    return "\n\n".join("\n".join(_lines(audit)) for audit in audits) + "\n"


def _lines(audit: Audit) -> Iterator[str]:
    yield f"## Onboarding checklist: `{audit.name}`"
    counts = audit.counts()
    told = ", ".join(f"{count} {status.value}" for status, count in counts.items() if count)
    yield ""
    yield f"`{audit.path}:{audit.line}`: {told}."
    for phase, answers in audit.by_phase():
        yield ""
        yield f"### {PHASES[phase]}"
        yield ""
        for answer in answers:
            yield from _box(answer)
    if audit.others:
        yield ""
        yield "### Findings of `automodel-lint check` that no box is about"
        yield ""
        for finding in audit.others:
            yield f"- {finding.code}: {finding.message} (`{finding.path}:{finding.span.line}`)"


def _box(answer: Answer) -> Iterator[str]:
    text = answer.box.text
    if answer.status is Status.NOT_APPLICABLE:
        yield f"- ~~{text}~~ (not applicable: {answer.reason})"  # no task: there is nothing to tick
    elif answer.status is Status.DONE:
        yield f"- [x] {text}{_places(answer)}"
    elif answer.status is Status.MISSING:
        yield f"- [ ] {text}"
    else:
        yield f"- [ ] {text} (not decidable here: {answer.reason})"
    for evidence in answer.evidence:
        if evidence.kind is Kind.MISSING:
            yield f"  - **missing**: {_told(evidence)}"
        elif evidence.kind is Kind.SILENCED:
            yield f"  - silenced: {_told(evidence)}"


def _places(answer: Answer) -> str:
    done = [e for e in answer.evidence if e.kind is Kind.DONE]
    places = list(dict.fromkeys(f"{e.code} {e.text}" if e.code else _place(e) for e in done))
    more = f" and {len(places) - _MOST} more" if len(places) > _MOST else ""
    rules = f"; {answer.box.decided_by}" if answer.box.rules else ""
    return f" ({', '.join(places[:_MOST])}{more}{rules})" if places else ""


def _place(evidence: Evidence) -> str:
    """A place that a reader elsewhere can make sense of: of a file outside of the checkout only its name."""
    path = evidence.path or ""
    return f"`{os.path.basename(path) if os.path.isabs(path) else path}:{evidence.line}`"


def _told(evidence: Evidence) -> str:
    where = [_place(evidence)] if evidence.path else []
    where += [evidence.code] if evidence.code else []
    return f"{evidence.text} ({', '.join(where)})" if where else evidence.text
