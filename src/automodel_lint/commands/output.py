"""What a command shows: in which form, where, and such that a GitHub workflow takes no text of it for a command."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

import click

from automodel_lint.report import Report
from automodel_lint.request import UsageError
from automodel_lint.writing import write_whole

FORMATS = ("text", "concise", "json", "github", "sarif", "gitlab", "junit", "rdjson")
COUNTED = ("text", "concise", "json")  # what --statistics knows


def refuse(options: dict[str, Any]) -> None:
    """Refuse, before anything is linted, a form that there is not.

    Raises:
        UsageError: for counts in a form that only lists findings.
    """
    chosen = options["output_format"]
    if options["statistics"] and chosen not in (None, *COUNTED):
        raise UsageError(f"--statistics gives counts as {' or '.join(COUNTED)}; {chosen} lists findings")


def show(report: Report, options: dict[str, Any], table: Callable[..., str] | None = None, aside: bool = False) -> None:
    """Print a report as it is asked for, or write it to the file that is asked for.

    Where no format is chosen it is text; in a step of a GitHub workflow one line a finding, annotations and the job
    summary. ``table`` goes below a report for people. ``aside`` where standard output is taken by a repaired text.

    Raises:
        UsageError: if the file cannot be written.
    """
    chosen, file = options["output_format"], options["output_file"]
    if options["statistics"]:
        from automodel_lint.reporters import statistics

        write(statistics.render(report, chosen or "text"), file, aside)
        return
    announced = chosen is None and _in_actions()
    name = chosen or ("concise" if announced else "text")
    with_table = table is not None and not options["quiet"] and (announced or name == "text")
    reporter = importlib.import_module(f"automodel_lint.reporters.{name}")
    text = reporter.render(report, verbose=options["verbose"], quiet=options["quiet"] or with_table)
    if with_table and table is not None:
        text += table(report, verbose=options["verbose"])
    if name == "github" and file is None:
        _print_commands(text, aside)
    else:
        write(text, file, aside)
    if announced:
        from automodel_lint.reporters import github

        _print_commands(github.render(report), aside)
    if announced or name == "github":
        _summarize(report)


def _in_actions() -> bool:
    return os.environ.get("GITHUB_ACTIONS", "").lower() == "true"


def _print_commands(text: str, aside: bool) -> None:
    click.echo(_encodable(text), nl=False, err=aside)


def _summarize(report: Report) -> None:
    """Write the job summary of the step, where there is one; that it fails is no reason to fail the step."""
    from automodel_lint.reporters import job_summary

    path = os.environ.get(job_summary.VARIABLE)
    if not path:
        return
    try:
        left_out = job_summary.publish(report, path)
        if left_out:
            say(f"{path}: the job summary has no room for {left_out} of {len(report.findings)} findings")
    except OSError as error:
        say(f"{path}: the job summary cannot be written: {error.strerror}")


def write(text: str, path: str | None = None, aside: bool = False, plain: Callable[[str], str] | None = None) -> None:
    """Print what a command shows, with colours where they are wanted, or write it to a file without.

    ``plain`` draws it with less where standard output cannot take all of its characters.

    Raises:
        UsageError: if the file cannot be written.
    """
    if path is None:
        colourless = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        colour = True if os.environ.get("FORCE_COLOR") else False if colourless else None
        click.echo(_harmless(_encodable(text, plain)), nl=False, color=colour, err=aside)
        return
    try:
        write_whole(path, click.unstyle(text).encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error


def say(text: str, by: str = "automodel-lint") -> None:
    """Tell something in one line on standard error."""
    click.echo(_harmless(_encodable(f"{by}: {' '.join(text.split())}")), err=True)


def _encodable(text: str, plain: Callable[[str], str] | None = None) -> str:
    """A text with escapes for what standard output cannot take, such as the name of a file that is no text."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
        return text
    except UnicodeEncodeError:
        text = plain(text) if plain is not None else text
        return text.encode(encoding, "backslashreplace").decode(encoding)


def _harmless(text: str) -> str:
    """A text as it is printed: in a step of a workflow, the runner reads along."""
    if not _in_actions():
        return text
    from automodel_lint.reporters.workflow import harmless

    return harmless(text)
