"""``automodel-lint rules``."""

from __future__ import annotations

import json

import click

from automodel_lint.commands.check import codes
from automodel_lint.config import unknown_code
from automodel_lint.pages import pages
from automodel_lint.request import UsageError


@click.command("rules")
@click.option("--select", multiple=True, callback=codes, metavar="CODE", help="Only these rules (prefixes count).")
@click.option("--output-format", type=click.Choice(("text", "markdown", "json")), default="text", show_default=True)
def command(select: list[str], output_format: str) -> None:
    """List the rules: code, name, severity, repair, and what each checks."""
    for code in select:
        problem = unknown_code(code)
        if problem:
            raise UsageError(problem)
    known = [p for p in pages().values() if not select or p.code.startswith(tuple(select))]
    if output_format == "json":
        rows = [
            {
                "code": p.code,
                "name": p.name,
                "severity": str(p.severity),
                "fix": p.fix,
                "summary": p.summary,
                "url": p.url,
            }
            for p in known
        ]
        click.echo(json.dumps(rows, indent=2))
    elif output_format == "markdown":
        click.echo("| code | name | severity | repair | what it checks |\n|---|---|---|---|---|")
        for p in known:
            link = f"[{p.code}](rules/{p.code}-{p.name}.md)"
            click.echo(f"| {link} | {p.name} | {p.severity} | {p.fix} | {p.summary.replace('|', chr(92) + '|')} |")
    else:
        for p in known:
            click.echo(f"{p.code}  {p.name:28}  {p.severity!s:8}  {p.fix:7}  {p.summary}")
