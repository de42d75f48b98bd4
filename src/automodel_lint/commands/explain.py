"""``automodel-lint explain``."""

from __future__ import annotations

import json
import sys

import click

from automodel_lint.config import closest
from automodel_lint.pages import Page, pages
from automodel_lint.request import UsageError


def find(word: str) -> Page:
    """Return the page of a rule by its code or name; raises :class:`UsageError` that names the closest."""
    known = pages()
    for page in known.values():
        if word.upper() == page.code or word == page.name:
            return page
    family = [page.code for page in known.values() if word and page.code.startswith(word.upper())]
    if family:
        raise UsageError(f"{word} stands for {', '.join(family)}: name one")
    raise UsageError(f"no rule {word!r}{closest(word, [*known, *(p.name for p in known.values())])}")


@click.command("explain")
@click.argument("rule")
@click.option("--output-format", type=click.Choice(("text", "json")), default="text", show_default=True)
def command(rule: str, output_format: str) -> None:
    """Show the page of a rule, by its code (NAM206) or name (tie-guard-config)."""
    page = find(rule)
    if output_format == "json":
        data = {
            "code": page.code,
            "name": page.name,
            "severity": str(page.severity),
            "fix": page.fix,
            "since": page.since,
            "source": page.source,
            "message": page.message,
            "url": page.url,
            "text": page.text,
        }
        click.echo(json.dumps(data, indent=2))
    elif sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(page.text))
    else:
        click.echo(page.text, nl=False)
