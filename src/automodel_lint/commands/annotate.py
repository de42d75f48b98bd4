"""``automodel-lint annotate``."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import click

from automodel_lint.commands.output import say, write
from automodel_lint.findings import Severity
from automodel_lint.reporters.json import as_text
from automodel_lint.request import UsageError


@click.command("annotate")
@click.argument("result", metavar="RESULT.json")
@click.option("--repo", envvar="GITHUB_REPOSITORY", metavar="OWNER/NAME", help="Default: GITHUB_REPOSITORY.")
@click.option("--pr", type=click.IntRange(min=1), metavar="NUMBER", help="The pull request, by its number.")
@click.option("--event", metavar="FILE", help="The pull request, by the event that GitHub Actions ran for.")
@click.option("--checkout", metavar="DIR", help="A checkout of its head, for suggestions; nothing of it is run.")
@click.option(
    "--fail-on",
    type=click.Choice([str(s) for s in reversed(Severity)]),
    default="warning",
    show_default=True,
    help="The check run fails from this severity on.",
)
@click.option("--login", metavar="NAME", help="Whose comments are ours. Default: the token's owner.")
@click.option("--dry-run", is_flag=True, help="Print what would be sent; write nothing.")
@click.option(
    "--timeout",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    metavar="SECONDS",
    help="For one request.",
)
@click.option(
    "--patience",
    type=click.FloatRange(min=0),
    default=120,
    show_default=True,
    metavar="SECONDS",
    help="For all waiting: limits of GitHub, and requests that fail.",
)
def command(result: str, **options: Any) -> None:
    """Show the findings of `check --output-format json` on a pull request of GitHub.

    One review per push with comments on the changed lines, and a check run with all findings. The same result posts
    nothing twice; comments of ours whose finding is gone are taken away. The token is GITHUB_TOKEN or GH_TOKEN.

    Exit codes: 0 done, or nothing to do since the pull request has moved on; 2 wrong use, or GitHub does not let us.
    """
    if importlib.util.find_spec("github") is None:
        raise UsageError("annotate needs PyGithub: pip install 'automodel-lint[github]'")
    _quiet()
    token = os.environ.get("GITHUB_TOKEN") or os.environ.get("GH_TOKEN")
    if not token and not options["dry_run"]:
        raise UsageError("no token: set GITHUB_TOKEN (--dry-run does without, on public repositories)")
    from automodel_lint.pull_request import annotating
    from automodel_lint.pull_request import result as results
    from automodel_lint.pull_request.event import NotOurs
    from automodel_lint.pull_request.github import GitHub
    from automodel_lint.pull_request.posting import Done

    server = os.environ.get("GITHUB_SERVER_URL") or "https://github.com"
    severity = Severity.parse(options["fail_on"])
    wishes = annotating.Options(server, options["checkout"], options["login"], severity)
    try:
        target = _target(options)
    except NotOurs as reason:
        say(f"{reason}: nothing is posted")
        return
    found = results.read(result)
    api = GitHub(
        os.environ.get("GITHUB_API_URL") or "https://api.github.com",
        token,
        timeout=options["timeout"],
        patience=options["patience"],
        dry_run=options["dry_run"],
    )
    done = Done()
    try:
        annotating.annotate(found, target, api, wishes, done)
    finally:  # what was done before is told whatever stops us
        _tell(done, api.writes if options["dry_run"] else None)


def _tell(done: Any, writes: list[Any] | None) -> None:
    """Print what was done; in a dry run what would have been written."""
    if writes is not None:
        write(as_text(writes))
    for line in done.lines:
        write(f"{line}\n" if writes is None else f"dry run: {line}\n", aside=writes is not None)
    for note in done.notes:
        say(note)


def _target(options: dict[str, Any]) -> Any:
    """Return which pull request is meant."""
    from automodel_lint.pull_request import event, shapes

    if not options["repo"]:
        raise UsageError("give --repo OWNER/NAME, or set GITHUB_REPOSITORY")
    repository = shapes.repository_name(options["repo"], "--repo")
    if (options["pr"] is None) == (options["event"] is None):
        raise UsageError("give either --pr NUMBER or --event FILE")
    if options["event"] is not None:
        return event.from_event(options["event"], repository)
    return event.Target(repository, options["pr"])


def _quiet() -> None:
    """PyGithub tells of requests in its log, which is not asked for."""
    import logging

    logging.getLogger("github").setLevel(logging.CRITICAL)
