"""``automodel-lint check``."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import click

from automodel_lint.commands.output import FORMATS, refuse, show, write
from automodel_lint.findings import Severity
from automodel_lint.pages import pages
from automodel_lint.report import Report, together
from automodel_lint.request import Request, UsageError
from automodel_lint.session import Session, sessions

_FORMAT = "How the report is shown.  [default: text; in GitHub Actions concise, with annotations and the job summary]"


def codes(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> list[str]:
    """Split ``--select A,B --select C``."""
    return [code.strip().upper() for value in values for code in value.split(",") if code.strip()]


def report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say how a report is shown and what exit code it gives, for each command that makes one."""
    severities = [str(s) for s in reversed(Severity)]
    for option in (
        click.option("--statistics", is_flag=True, help="Count the findings by rule instead of listing them."),
        click.option("--exit-zero", is_flag=True, help="Exit 0 even if there are findings."),
        click.option("--fail-on", type=click.Choice(severities), help="Exit 1 from this severity on."),
        click.option("--output-file", type=click.Path(dir_okay=False), help="Write the report there."),
        click.option("--output-format", type=click.Choice(FORMATS), help=_FORMAT),
    ):
        command = option(command)
    return command


@click.command("check")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--installed", metavar="PACKAGE", help="Lint an installed package, such as nemo_automodel.")
@click.option("--python", metavar="EXE", help="Interpreter whose packages are followed (transformers) and linted.")
@click.option("--select", multiple=True, callback=codes, metavar="CODE", help="Only these rules (prefixes count).")
@click.option("--extend-select", multiple=True, callback=codes, metavar="CODE", help="These rules as well.")
@click.option("--ignore", multiple=True, callback=codes, metavar="CODE", help="Not these rules.")
@report_options
@click.option("--show-files", is_flag=True, help="List the files that would be linted.")
@click.option("--stdin-filename", metavar="PATH", help="Lint standard input as the content of PATH.")
@click.option("--base-revision", metavar="REV", help="Recipes are new that this revision of git does not have.")
@click.option("--force-exclude", is_flag=True, help="Leave excluded files out even if they are named.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the verdict cache.")
@click.option("--fix", is_flag=True, help="Repair what can be repaired without changing what the code does.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: also repairs that want a human look.")
@click.option("--diff", is_flag=True, help="Show what would be changed as a diff; change nothing.")
@click.option("--add-noqa", metavar="REASON", help="Silence what remains with comments that give REASON.")
@click.option("-v", "--verbose", is_flag=True, help="Code frames for warnings too.")
@click.option("-q", "--quiet", is_flag=True, help="No summary line.")
def command(paths: tuple[str, ...], **options: Any) -> None:
    """Lint a checkout, a folder or files in one (default: the current folder).

    Exit codes: 0 nothing at or above --fail-on, 1 findings (with --diff: changes), 2 wrong use, broken settings, or no
    registry found. What is repaired is linted before it is written; standard input is repaired to standard output.
    """
    refuse(options)
    changes = options["fix"] or options["diff"] or options["add_noqa"] is not None
    if changes:
        from automodel_lint.commands import repair

        repair.refuse(options)
    request = _request(paths, options)
    found = sessions(request)
    if not found:  # a hook that handed over nothing of ours
        return
    if changes:
        reports = repair.run([session.request for session in found], options)
    else:
        reports = [_run(session) for session in found]
    if options["fail_on"]:
        for report in reports:
            report.config = replace(report.config, fail_on=Severity.parse(options["fail_on"]))
    if not options["diff"]:
        report = reports[0] if len(reports) == 1 else together(reports)
        aside = bool(changes and request.overlay)
        if options["show_files"]:
            write("".join(f"{path}\n" for path in report.files), options["output_file"], aside)
        else:
            show(report, options, aside=aside)
    failed = any(r.fails(r.config.fail_on) for r in reports)
    if options["diff"]:
        failed = any(r.changes for r in reports)
    _leave(1 if failed and not options["exit_zero"] and not options["show_files"] else 0)


def _leave(code: int) -> None:
    """Exit without tearing down what the process built: the syntax trees of a package take a while to free."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    if "pytest" in sys.modules:
        sys.exit(code)
    os._exit(code)


def _request(paths: tuple[str, ...], options: dict[str, Any]) -> Request:
    _refuse_probed([*options["select"], *options["extend_select"]])
    request = Request(
        paths=list(paths) or ["."],
        installed=options["installed"],
        python=options["python"],
        select=options["select"] or None,
        extend_select=options["extend_select"],
        ignore=options["ignore"],
        force_exclude=options["force_exclude"],
        cache=not options["no_cache"],
        apart=True,
        base_revision=options["base_revision"],
    )
    name = options["stdin_filename"]
    if paths and options["installed"]:
        raise UsageError("give either paths or --installed")
    if name or paths == ("-",):
        if not name:
            raise UsageError("standard input needs --stdin-filename, so that its place in the checkout is known")
        path = os.path.abspath(name)
        request.paths = [os.path.dirname(path)]
        request.overlay = {path: sys.stdin.buffer.read()}
        request.only = frozenset((path,))
    return request


def _refuse_probed(selected: list[str]) -> None:
    """Whoever asks for what only the probe looks at must not take silence for an answer."""
    for code in selected:
        meant = [page for page in pages().values() if page.code.startswith(code)]
        if meant and all(page.is_probed for page in meant):
            raise UsageError(f"{code} is looked at by `automodel-lint probe`, which runs the code; check only reads it")


def _run(session: Session) -> Report:
    """Run with a progress bar, once it takes longer than a second and somebody watches."""
    if not sys.stderr.isatty():
        return session.run()
    started = time.monotonic()
    bar: Any = None

    def progress(done: int, total: int) -> None:
        nonlocal bar
        if bar is None and time.monotonic() - started > 1:
            from rich.console import Console
            from rich.progress import Progress

            bar = Progress(console=Console(stderr=True), transient=True)
            bar.start()
            bar.add_task("linting", total=total)
        elif bar is not None:
            bar.update(0, completed=done)

    try:
        return session.run(progress)
    finally:
        if bar is not None:
            bar.stop()
