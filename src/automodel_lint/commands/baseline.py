"""``automodel-lint baseline``."""

from __future__ import annotations

import os

import click

from automodel_lint import baseline as baselines
from automodel_lint.commands.output import write
from automodel_lint.request import Request
from automodel_lint.session import Session

NAME = "automodel-lint-baseline.json"


@click.command("baseline")
@click.argument("path", default=".")
@click.option("--installed", metavar="PACKAGE", help="Of an installed package.")
@click.option("--python", metavar="EXE", help="Interpreter whose packages are followed.")
@click.option("--output-file", type=click.Path(dir_okay=False), help=f"Default: the settings' baseline, or {NAME}.")
@click.option("--grow", is_flag=True, help="Take in new findings too; without it an existing baseline only shrinks.")
def command(path: str, installed: str | None, python: str | None, output_file: str | None, grow: bool) -> None:
    """Keep today's findings, so that check shows only new ones."""
    session = Session(Request(paths=[path], installed=installed, python=python, baseline=False))
    session.request.paths = [session.checkout.root]  # a baseline is the whole checkout's, wherever one stands
    report = session.run()
    config = session.config
    base = config.base if config.path else report.root
    target = output_file or (config.absolute(config.baseline) if config.baseline else os.path.join(base, NAME))
    kept = [f for f in report.findings if f.code != "NAM003"]
    refused = 0
    if os.path.exists(target) and not grow:
        known = baselines.load(target)
        refused = sum(f.fingerprint not in known for f in kept)
        kept = [f for f in kept if f.fingerprint in known]
    baselines.write(target, kept)
    shown = os.path.relpath(target)
    aside = f", {refused} new left out (--grow takes them in)" if refused else ""
    write(f"{shown}: {len(kept)} findings kept{aside}\n")
    if not config.baseline:
        name = os.path.relpath(target, base).replace(os.sep, "/")
        write(f'to use it, write `baseline = "{name}"` into [tool.automodel-lint]\n')
