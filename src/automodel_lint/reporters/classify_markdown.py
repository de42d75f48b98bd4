"""What ``classify`` found, as a checklist for an issue or a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from automodel_lint.onboarding.component import GROUPS
from automodel_lint.onboarding.nearest import Near
from automodel_lint.onboarding.onboarding import Onboarding
from automodel_lint.onboarding.parts import Field, brief
from automodel_lint.onboarding.step import DONE, IF, Step
from automodel_lint.pages import pages
from automodel_lint.reporters.classify_words import component, parameters, reason_of, remote_code, sizes, tie_of

_TITLES = {
    "files": "Files",
    "registration": "Registration",
    "declarations": "Declarations",
    "precision": "What stays in fp32",
    "tests": "Tests",
    "docs": "Docs",
    "recipe": "Example recipe",
}
_GROUPS = {"rope": "RoPE", "mlp": "MLP"}


def render(shown: Onboarding) -> str:
    """Return Markdown as GitHub reads it; each answer names the fields that it rests on."""
    lines = [f"## Add {_code(shown.found.architecture or 'a model')}", ""]
    if shown.around.registration is not None:
        lines[0] = f"## {_code(shown.found.architecture or '')} is registered"
    lines += [*_what(shown), ""]
    if shown.near:
        lines += ["### Nearest in the checkout", "", *_nearest(shown.near), ""]
    for section, steps in groupby(shown.plan, key=lambda step: step.section):
        lines += [f"### {_TITLES[section]}", "", *(_step(step) for step in steps), ""]
    return "\n".join(lines).rstrip() + "\n"


def _what(shown: Onboarding) -> Iterator[str]:
    found, around = shown.found, shown.around
    for number, kind in enumerate(found.kinds):
        yield f"- **{'Kind' if number == 0 else 'and'}**: {kind.name}: {kind.reason}{_because(kind.fields)}"
    yield f"- **Sizes**: {sizes(found)}"
    yield f"- **Parameters**: {parameters(found)}"
    for group in GROUPS:
        members = [c for c in found.components if c.group == group]
        texts = [f"{c.name}{f' ({c.detail})' if c.detail else ''}{_because(c.fields)}" for c in members]
        if texts:
            yield f"- **{_GROUPS.get(group, group.capitalize())}**: {'; '.join(texts)}"
    yield f"- **Tied head**: {tie_of(found)}"
    if found.quantization is not None:
        yield f"- **Quantised**: {found.quantization.value}{_because((found.quantization,))}"
    yield f"- **Config class**: {around.config_class.status}: {around.config_class.reason}"
    if found.auto_map:
        yield f"- **Remote code**: {remote_code(shown)}"
    entry = around.registration
    if entry is not None:
        yield f"- **Registered**: already, as `{entry.module}:{entry.cls}` (`{entry.path}:{entry.span.line}`)"
    if shown.lacking:
        yield f"- **Not seen in that class**: {', '.join(component(key) for key in shown.lacking)}"
    yield from (f"- **Note**: {note}" for note in found.notes)


def _because(fields: Iterable[Field]) -> str:
    texts = [_code(f"{field.path}: {_value(field.value)}") for field in fields]
    return f" ({', '.join(texts)})" if texts else ""


def _code(text: str) -> str:
    """A text that was cleaned as code: nothing in it ends the code."""
    return f"`{text}`"


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(brief(value))


def _nearest(near: Iterable[Near]) -> Iterator[str]:
    for number, one in enumerate(near, 1):
        path, line = one.registered.place
        yield f"{number}. `{one.registered.model.name}` (`{path}:{line}`, {one.score:.2f})"
        yield from (f"   - {reason}" for reason in reason_of(one))


def _step(step: Step) -> str:
    box = "- [x]" if step.state == DONE else "- [ ]"
    condition = "*if it applies:* " if step.state == IF else ""
    where = f"`{step.path}`: " if step.path else ""
    page = pages().get(step.rule) if step.rule else None
    rule = f" ([{step.rule}]({page.url}))" if page is not None else f" ({step.rule})" if step.rule else ""
    return f"{box} {condition}{where}{step.what} – {step.why}{rule}"
