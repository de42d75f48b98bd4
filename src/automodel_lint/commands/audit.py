"""``automodel-lint audit``."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from automodel_lint.commands.output import say, write
from automodel_lint.commands.tree import find, nearest, width
from automodel_lint.request import Request, UsageError
from automodel_lint.session import Session

if TYPE_CHECKING:
    from automodel_lint.onboarding.checklist.answers import Audit
    from automodel_lint.onboarding.checklist.session import Audited, AuditSession
    from automodel_lint.report import Report


@click.command("audit")
@click.argument("name")
@click.argument("path", default=".")
@click.option("--installed", metavar="PACKAGE", help="Of an installed package, such as nemo_automodel.")
@click.option("--config", metavar="FILE", help="The checkpoint's config.json, or a folder that holds one.")
@click.option("--probe", is_flag=True, help="Run the model, tiny and on the CPU, for the boxes that only this decides.")
@click.option("--python", metavar="EXE", help="Interpreter whose packages are followed, and that --probe runs.")
@click.option("--timeout", type=click.FloatRange(min=1), default=120, show_default=True, help="Seconds for --probe.")
@click.option(
    "--output-format",
    "--format",
    "output_format",
    type=click.Choice(("text", "markdown", "json")),
    default="text",
    show_default=True,
)
@click.option("--output-file", type=click.Path(dir_okay=False), help="Write the checklist there.")
@click.option("-v", "--verbose", is_flag=True, help="Every place that speaks for a box.")
def command(name: str, path: str, **options: Any) -> None:
    """Go through the onboarding checklist for one model: what is done, what is missing, and where.

    NAME is a model package (a folder in components/models), an architecture, or a class; PATH is a checkout, or lies in
    one. Exit codes: 0 nothing is missing, 1 a box that applies is, 2 wrong use.
    """
    if options["installed"] and path != ".":
        raise UsageError("give either a path or --installed")
    if options["probe"] and os.name != "posix":
        raise UsageError("the probe needs a system that can fork (Linux, macOS)")
    from automodel_lint.onboarding.checklist.session import AuditSession
    from automodel_lint.onboarding.config_file import read_config

    config = read_config(options["config"]) if options["config"] else None
    request = Request(paths=[path], installed=options["installed"], python=options["python"])
    session = AuditSession(Session(request))
    audited, problems = _named(session, name)
    with ExitStack() as stack:
        audits = session.audits(audited, config, _prober(stack, options) if options["probe"] else None)
    _show(session, audits, options)
    for problem in problems:
        say(f"{problem}; it is not audited")
    sys.exit(1 if problems or any(audit.fails for audit in audits) else 0)


def _named(session: AuditSession, word: str) -> tuple[list[Audited], list[str]]:
    """The classes of a model package, or the one of an architecture or class name; and what leads to no class."""
    packages = session.packages()
    if word in packages:
        found, problems = session.in_package(word), []
        for entry in session.broken_entries(word):
            try:
                find(session.project, entry.key)
            except UsageError as error:
                problems.append(str(error))
        if not found:
            nothing = (
                f"{word}: the package has no class that is registered, exported as `ModelClass` or named as a model"
            )
            raise UsageError(problems[0] if problems else nothing)
        return found, problems
    entries = session.project.architectures
    known = {entry.key for entry in entries} | {entry.cls.rpartition(".")[2] for entry in entries} - {""}
    if entries and word not in known:
        hint = nearest(word, sorted({*known, *packages}))
        raise UsageError(f"no model package, architecture or class {word!r}{hint}")
    _, model = find(session.project, word)
    return session.of_class(model.entity), []


def _prober(stack: ExitStack, options: dict[str, Any]) -> Any:
    """What runs the audited classes, as `probe` does, and returns its report."""
    from automodel_lint.commands.probe import progress
    from automodel_lint.probe.session import ProbeSession

    def probed(session: AuditSession, audited: list[Audited]) -> Report:
        names = tuple(entry.key for each in audited for entry in each.registrations)
        if not names:
            raise UsageError("--probe: only what is registered can be run")
        asked = {"arch": names, "checks": [], "timeout": options["timeout"], "memory": 8, "jobs": 1, "seed": 0}
        return ProbeSession(session.session, asked).run(progress(stack))

    return probed


def _show(session: AuditSession, audits: list[Audit], options: dict[str, Any]) -> None:
    file = options["output_file"]
    if options["output_format"] == "json":
        from automodel_lint.reporters import audit_json

        text = audit_json.render(audits, session.tree.root)
    elif options["output_format"] == "markdown":
        from automodel_lint.reporters import audit_markdown

        text = audit_markdown.render(audits)
    else:
        from automodel_lint.reporters import audit_text
        from automodel_lint.reporters.text import shown_root

        text = audit_text.render(audits, shown_root(session.tree.root), options["verbose"], None if file else width())
    write(text, file, plain=_plain)


def _plain(text: str) -> str:
    from automodel_lint.reporters.audit_text import plain

    return plain(text)
