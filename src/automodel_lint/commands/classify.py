"""``automodel-lint classify``."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

import click

from automodel_lint.commands.output import say, write
from automodel_lint.domain.checkout import CheckoutNotFound
from automodel_lint.request import Request, UsageError
from automodel_lint.session import Session, libraries

if TYPE_CHECKING:
    from automodel_lint.domain.project import Project

FORMATS = ("text", "markdown", "json")


@click.command("classify")
@click.argument("config", metavar="CONFIG")
@click.option("--checkout", metavar="DIR", help="Compare with this checkout.  [default: the one around this folder]")
@click.option("--installed", metavar="PACKAGE", help="Compare with an installed package, such as nemo_automodel.")
@click.option("--python", metavar="EXE", help="Interpreter whose transformers is asked, and where PACKAGE lies.")
@click.option("--nearest", type=click.IntRange(min=0), default=3, show_default=True, metavar="N", help="Name so many.")
@click.option("--output-format", "--format", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--output-file", type=click.Path(dir_okay=False), help="Write it there.")
@click.option("-v", "--verbose", is_flag=True, help="The fields behind each answer, in text.")
def command(config: str, **options: Any) -> None:
    """Say what a model is by its config.json, what is like it in a checkout, and what there is to write.

    CONFIG is the file, or a folder that holds one. Nothing is downloaded, and no code that it names is run.
    """
    from automodel_lint.onboarding.config_file import read_config
    from automodel_lint.onboarding.onboarding import onboard

    if options["checkout"] and options["installed"]:
        raise UsageError("give either --checkout or --installed")
    file = read_config(config)
    project = _project(options)
    folders = libraries(options["python"]) if project is None else []
    shown = onboard(file, project, folders, options["nearest"])
    reporter = importlib.import_module(f"automodel_lint.reporters.classify_{options['output_format']}")
    more = {"verbose": options["verbose"]} if options["output_format"] == "text" else {}
    text = reporter.render(shown, **more)
    write(text, options["output_file"], plain=_plain)


def _plain(text: str) -> str:
    """A text with letters for the boxes, which not every output can take."""
    return text.replace("☐", "[ ]").replace("☑", "[x]").replace("–", "-")


def _project(options: dict[str, Any]) -> Project | None:
    """The checkout that was asked for, or the one around this folder, if there is one."""
    request = Request(
        paths=[options["checkout"] or os.curdir], installed=options["installed"], python=options["python"]
    )
    try:
        return Session(request).project()
    except CheckoutNotFound:
        if options["checkout"] or options["installed"]:
            raise
        say("no checkout around this folder: give --checkout DIR to see what is near in one")
        return None
