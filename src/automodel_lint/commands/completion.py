"""``automodel-lint completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def command(shell: str) -> None:
    """Print the completion script of a shell: eval "$(automodel-lint completion bash)"."""
    from automodel_lint.commands import command_line

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(command_line, {}, "automodel-lint", "_AUTOMODEL_LINT_COMPLETE")
    click.echo(script.source())
