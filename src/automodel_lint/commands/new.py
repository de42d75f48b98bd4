"""``automodel-lint new``."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import click

from automodel_lint.commands.output import say, write
from automodel_lint.request import Request, UsageError
from automodel_lint.session import Session

if TYPE_CHECKING:
    from automodel_lint.skeleton.design import Design
    from automodel_lint.skeleton.writing import Planned


@click.command("new")
@click.argument("name")
@click.option(
    "--from", "config", required=True, metavar="CONFIG.json", help="The config of a checkpoint, or its folder."
)
@click.option("--checkout", default=".", show_default=True, metavar="DIR", help="Where the package is written.")
@click.option("--hf-id", metavar="ORG/NAME", help="The checkpoint that the example recipe loads.")
@click.option("--python", metavar="EXE", help="Interpreter whose packages are followed (transformers).")
@click.option("--dry-run", is_flag=True, help="Show what would be written as a diff, and write nothing.")
def command(name: str, config: str, checkout: str, hf_id: str | None, python: str | None, dry_run: bool) -> None:
    """Write the skeleton of a model package NAME for the model that a config.json describes.

    Model, tests, registry entries and, in a repository, a page of documentation and an example recipe; what the config
    asks for beyond that raises NotImplementedError with a sentence of what to think about.
    """
    from automodel_lint.onboarding.classification import classify
    from automodel_lint.onboarding.config_file import read_config
    from automodel_lint.skeleton.package import files_of
    from automodel_lint.skeleton.planning import design_of
    from automodel_lint.skeleton.writing import refuse_to_overwrite, write_all

    if hf_id is not None and not re.fullmatch(r"[\w.-]+/[\w.-]+", hf_id):
        raise UsageError(f"--hf-id {hf_id!r} is not of the form ORG/NAME")
    found = classify(read_config(config))
    project = Session(Request(paths=[checkout], python=python)).project()
    design = design_of(name, found, project)
    files = files_of(design, hf_id or f"your-org/{name}")
    if dry_run:
        refuse_to_overwrite(files)
        _show_diff(files)
        return
    write_all(files)
    write(_told(design, files))


def _show_diff(files: list[Planned]) -> None:
    from automodel_lint.fixes.shapes import unified
    from automodel_lint.source import decoded

    shown = (unified(_shown(f.path), decoded(f.old or b""), decoded(f.new)) for f in files)
    write("".join(shown))
    new = sum(file.old is None for file in files)
    say(f"would write {new} files and change {len(files) - new}")


def _told(design: Design, files: list[Planned]) -> str:
    """What was written, what is left to write, and how to go on."""
    from automodel_lint.skeleton.package import left_open, unread_fields

    lines = [f"{'changed' if file.old is not None else 'written'}  {_shown(file.path)}" for file in files]
    places = left_open(files)
    if places:
        lines += ["", "To be written by hand (each raises NotImplementedError until then):"]
        lines += [f"  {_shown(place.path)}:{place.line}  {place.sentence}" for place in places]
    unread = unread_fields(design, files)
    remarks = [*design.remarks, *([f"not read by the skeleton: {', '.join(unread)}"] if unread else [])]
    if remarks:
        lines += ["", "To be thought about:", *(f"  {remark}" for remark in remarks)]
    package = next(_shown(os.path.dirname(file.path)) for file in files if file.path.endswith("model.py"))
    tests = [_shown(os.path.dirname(file.path)) for file in files if os.path.basename(file.path).startswith("test_")]
    lines += ["", "Next:", f"  automodel-lint check {package}", *(f"  pytest {folder}" for folder in tests[:1])]
    return "\n".join(lines) + "\n"


def _shown(path: str) -> str:
    return os.path.relpath(path).replace(os.sep, "/")
