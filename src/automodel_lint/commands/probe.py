"""``automodel-lint probe``."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import click

from automodel_lint.commands.check import codes, report_options
from automodel_lint.commands.output import refuse, show, write
from automodel_lint.findings import Severity
from automodel_lint.report import Report
from automodel_lint.request import Request, UsageError
from automodel_lint.session import Session


@click.command("probe")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--installed", metavar="PACKAGE", help="Probe an installed package, such as nemo_automodel.")
@click.option("--arch", multiple=True, metavar="A", help="Only this architecture or class (repeatable).")
@click.option("--python", metavar="EXE", help="Interpreter that has torch and the project's dependencies.")
@click.option("--checks", multiple=True, callback=codes, metavar="CODE", help="Only these checks (prefixes count).")
@click.option("--timeout", type=click.FloatRange(min=1), default=120, show_default=True, help="Seconds for one class.")
@click.option("--memory", type=click.FloatRange(min=0.25), default=8, show_default=True, help="GB for one process.")
@click.option("--jobs", type=click.IntRange(min=1), help="Classes at a time.  [default: one a processor, at most 4]")
@click.option("--seed", type=int, default=0, show_default=True, help="Of all random values.")
@click.option("--show-config", metavar="ARCH", help="Print the tiny configuration derived for ARCH, and stop.")
@click.option("--select", multiple=True, callback=codes, metavar="CODE", help="Show only these findings.")
@click.option("--extend-select", multiple=True, callback=codes, metavar="CODE", help="Show these findings as well.")
@click.option("--ignore", multiple=True, callback=codes, metavar="CODE", help="Do not show these findings.")
@report_options
@click.option("-v", "--verbose", is_flag=True, help="Code frames for warnings too; every reason in full.")
@click.option("-q", "--quiet", is_flag=True, help="No table and no summary line.")
def command(paths: tuple[str, ...], **options: Any) -> None:
    """Construct and run each registered class, tiny and on the CPU, and report what only shows then.

    The code that is probed is imported and run, in child processes of the interpreter given by --python (by default the
    settings' `python`, else this one). Exit codes are those of `check`.
    """
    refuse(options)
    if os.name != "posix":
        raise UsageError("the probe needs a system that can fork (Linux, macOS)")
    if paths and options["installed"]:
        raise UsageError("give either paths or --installed")
    session = Session(_request(paths, options))
    if options["show_config"]:
        _show_config(session, options)
        return
    from automodel_lint.probe.session import ProbeSession

    with ExitStack() as stack:
        report = ProbeSession(session, options).run(progress(stack))
    if options["fail_on"]:
        report.config = replace(report.config, fail_on=Severity.parse(options["fail_on"]))
    show(report, options, table=_table)
    sys.exit(1 if report.fails(report.config.fail_on) and not options["exit_zero"] else 0)


def _table(report: Report, verbose: bool) -> str:
    from automodel_lint.reporters import probe_table

    return probe_table.render(report, verbose=verbose)


def _request(paths: tuple[str, ...], options: dict[str, Any]) -> Request:
    return Request(
        paths=list(paths) or ["."],
        installed=options["installed"],
        python=options["python"],
        select=options["select"] or None,
        extend_select=options["extend_select"],
        ignore=options["ignore"],
        cache=False,
    )


def _show_config(session: Session, options: dict[str, Any]) -> None:
    from automodel_lint.probe.session import ProbeSession

    shown = ProbeSession(session, {**options, "arch": (options["show_config"],), "checks": ["NAM902"]}).config()
    write(json.dumps(shown, indent=2) + "\n", options["output_file"])


def progress(stack: ExitStack) -> Any:
    """Return what shows a bar with the class under way, where somebody watches; else ``None``."""
    if not sys.stderr.isatty():
        return None
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    bar = stack.enter_context(Progress(*columns, console=Console(stderr=True), transient=True))
    task = bar.add_task("importing the registry", total=None)
    shown = time.monotonic()

    def advance(name: str, code: str | None, done: int, total: int) -> None:
        nonlocal shown
        if time.monotonic() - shown > 0.05:
            bar.update(task, description=f"{name} {code or ''}", completed=done, total=total)
            shown = time.monotonic()

    return advance
