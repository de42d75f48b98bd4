"""``automodel-lint report``."""

from __future__ import annotations

import os
from typing import Any

import click

from automodel_lint.commands.check import codes
from automodel_lint.commands.output import write
from automodel_lint.request import Request, UsageError
from automodel_lint.session import Session


@click.command("report")
@click.argument("path", default=".")
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="Write the report as one page there.")
@click.option("--json", type=click.Path(dir_okay=False), metavar="FILE", help="Write it as data there, for a history.")
@click.option("--probe-result", metavar="FILE", help="Show what `probe --output-format json` has written, too.")
@click.option("--installed", metavar="PACKAGE", help="On an installed package, such as nemo_automodel.")
@click.option("--python", metavar="EXE", help="Interpreter whose packages are followed (transformers).")
@click.option("--select", multiple=True, callback=codes, metavar="CODE", help="Only these rules (prefixes count).")
@click.option("--extend-select", multiple=True, callback=codes, metavar="CODE", help="These rules as well.")
@click.option("--ignore", multiple=True, callback=codes, metavar="CODE", help="Not these rules.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the verdict cache.")
def command(path: str, html: str | None, json: str | None, probe_result: str | None, **options: Any) -> None:
    """Show how every registered class of a checkout stands to every contract, as a page or as data.

    PATH is a checkout, or a folder or file in one. Exit code 0 whatever is found; 2 wrong use, broken settings, or no
    registry found.
    """
    if html is None and json is None:
        raise UsageError("say where the report is written: --html FILE, --json FILE, or both")
    if html and json and os.path.realpath(html) == os.path.realpath(json):
        raise UsageError(f"{html}: --html and --json name one file")
    if options["installed"] and path != ".":
        raise UsageError("give either a path or --installed")
    for file in filter(None, (html, json)):
        if not os.path.isdir(os.path.dirname(os.path.abspath(file))):
            raise UsageError(f"{file}: cannot be written: no such folder")
    from automodel_lint.overview import probed
    from automodel_lint.overview.making import overview

    probe = probed.read(probe_result) if probe_result else None
    session = Session(_request(path, options))
    made = overview(session, probe)
    pages: dict[str, str] = {}
    if html:
        from automodel_lint.reporters import overview_html

        pages[html] = overview_html.render(made)
    if json:
        from automodel_lint.reporters import overview_json

        pages[json] = overview_json.render(made)
    for file, text in pages.items():  # all are made before any is written
        write(text, file)
    counts = ", ".join(f"{n} {severity}{'s' * (n != 1 and severity != 'info')}" for severity, n in made.counts.items())
    write(f"{len(made.models)} registered classes, {len(made.contracts)} contracts: {counts}\n")


def _request(path: str, options: dict[str, Any]) -> Request:
    return Request(
        paths=[path],
        installed=options["installed"],
        python=options["python"],
        select=options["select"] or None,
        extend_select=options["extend_select"],
        ignore=options["ignore"],
        cache=not options["no_cache"],
        apart=True,
    )
