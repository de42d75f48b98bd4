"""What ``classify`` found, for a person at a terminal: what the model is, what is near it, what there is to do."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby

import click

from automodel_lint.onboarding.component import GROUPS
from automodel_lint.onboarding.nearest import Near
from automodel_lint.onboarding.onboarding import Onboarding
from automodel_lint.onboarding.parts import Field
from automodel_lint.onboarding.step import DONE, IF, Step
from automodel_lint.onboarding.surroundings import NEEDED
from automodel_lint.reporters.classify_words import (
    component,
    in_words,
    parameters,
    reason_of,
    remote_code,
    sizes,
    tie_of,
)

_LABEL = 14
_MARKS = {"to-do": ("☐", "yellow"), IF: ("?", "cyan"), DONE: ("☑", "green")}


def render(shown: Onboarding, verbose: bool = False) -> str:
    """Return it with colours; whoever writes it to something other than a terminal strips them.

    ``verbose`` names the fields behind each answer.
    """
    text = _Text(verbose)
    text.add(click.style(" ".join(_title(shown)), bold=True), plain=True)
    _what(shown, text)
    _components(shown, text)
    _there(shown, text)
    for note in shown.found.notes:
        text.labelled("note", note)
    if shown.near:
        text.heading("nearest in the checkout")
        for number, near in enumerate(shown.near, 1):
            _nearest(number, near, text)
    if shown.plan:
        text.heading("to do")
    for section, steps in groupby(shown.plan, key=lambda step: step.section):
        members = list(steps)
        paths = {step.path for step in members}
        common = paths.pop() if len(paths) == 1 else None
        text.add(click.style(f"  {section}", bold=True) + (f"  {common}" if common else ""), plain=True)
        for step in members:
            _step(step, text, named=common is None)
    return "".join(f"{line}\n" for line in text.lines)


class _Text:
    def __init__(self, verbose: bool):
        self.verbose, self.lines = verbose, list[str]()
        wide = shutil.get_terminal_size().columns if sys.stdout.isatty() or os.environ.get("COLUMNS") else 110
        self.width = max(min(wide, 120), 50)

    def add(self, line: str, plain: bool = False) -> None:
        self.lines.append(line if plain else line.rstrip())

    def heading(self, title: str) -> None:
        self.lines += ["", click.style(title, bold=True)]

    def labelled(self, label: str, text: str, fields: Iterable[Field] = (), colour: str | None = None) -> None:
        """Write a line with a label; what is too long goes on below, and the fields where they are asked for."""
        room = self.width - _LABEL
        for number, line in enumerate(textwrap.wrap(text, room) or [""]):
            head = click.style(f"{label if number == 0 else '':{_LABEL}}", dim=True)
            self.add(head + (click.style(line, fg=colour, bold=True) if colour else line))
        shown = in_words(fields) if self.verbose else ""
        for line in textwrap.wrap(shown, room, break_on_hyphens=False):
            self.add(" " * _LABEL + click.style(line, dim=True))

    def hanging(self, mark: str, text: str, indent: int, dim: bool = False) -> None:
        """Write a text whose further lines stand below its first word."""
        lines = textwrap.wrap(text, self.width - indent - 2, break_on_hyphens=False)
        for number, line in enumerate(lines):
            head = f"{' ' * indent}{mark if number == 0 else ' '} "
            self.add(head + (click.style(line, dim=True) if dim else line))


def _title(shown: Onboarding) -> Iterator[str]:
    found = shown.found
    yield found.architecture or "no architecture"
    if found.model_type:
        yield f"({found.model_type})"
    yield f" {found.file.path}"


def _what(shown: Onboarding, text: _Text) -> None:
    found = shown.found
    first = found.kinds[0]
    text.labelled("kind", f"{first.name}: {first.reason}", first.fields, "cyan")
    if not text.verbose and first.fields:
        text.labelled("", in_words(first.fields))
    for kind in found.kinds[1:]:
        fields = f" ({in_words(kind.fields)})" if kind.fields and not text.verbose else ""
        text.labelled("and", f"{kind.name}: {kind.reason}{fields}", kind.fields)
    media = [f"takes {', '.join(['text', *found.modalities.inputs])}"] if found.modalities.inputs else []
    media += [f"makes {', '.join(['text', *found.modalities.outputs])}"] if found.modalities.outputs else []
    if media:
        text.labelled(
            "media", "; ".join(media), (*found.modalities.inputs.values(), *found.modalities.outputs.values())
        )
    inside = found.parts.backbone.path
    text.labelled("sizes", sizes(found) + (f" (of `{inside}`)" if inside else ""))
    text.labelled("parameters", parameters(found))


def _components(shown: Onboarding, text: _Text) -> None:
    for group in GROUPS:
        members = [c for c in shown.found.components if c.group == group]
        for number, member in enumerate(members):
            detail = f" ({member.detail})" if member.detail else ""
            label = group if number == 0 else ""
            text.labelled(label, f"{member.name}{detail}", member.fields)


def _there(shown: Onboarding, text: _Text) -> None:
    found, around = shown.found, shown.around
    text.labelled("tied head", tie_of(found), found.tie.fields)
    if found.dtype is not None:
        text.labelled("dtype", str(found.dtype.value), (found.dtype,))
    if found.quantization is not None:
        text.labelled("quantised", str(found.quantization.value), (found.quantization,))
    own = around.config_class
    text.labelled("config class", f"{own.status}: {own.reason}", own.fields, "yellow" if own.status == NEEDED else None)
    if found.auto_map:
        text.labelled("remote code", remote_code(shown), found.auto_map)
    entry = around.registration
    if entry is not None:
        text.labelled(
            "registered", f"already, as {entry.module}:{entry.cls} ({entry.path}:{entry.span.line})", (), "green"
        )
        if shown.lacking:
            text.labelled(
                "", f"not seen in that class: {', '.join(component(key) for key in shown.lacking)}", (), "yellow"
            )


def _nearest(number: int, near: Near, text: _Text) -> None:
    path, line = near.registered.place
    name = click.style(near.registered.model.name, fg="cyan")
    text.add(f"  {number}  {name}  {click.style(f'{near.score:.2f}  {path}:{line}', dim=True)}", plain=True)
    for reason in reason_of(near):
        text.hanging(" ", reason, 4)


def _step(step: Step, text: _Text, named: bool) -> None:
    mark, colour = _MARKS[step.state]
    where = f"{step.path}: " if step.path and named else ""
    text.hanging(click.style(mark, fg=colour), f"{where}{step.what}".replace("`", ""), 2)
    rule = f" [{step.rule}]" if step.rule else ""
    text.hanging(" ", f"{step.why}{rule}".replace("`", ""), 4, dim=True)
