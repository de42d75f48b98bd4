"""The commands of the command line, one module each; a command is imported when it is called."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

from automodel_lint import __version__

COMMANDS = {
    "annotate": "show findings on a pull request of GitHub",
    "audit": "go through the onboarding checklist for one model",
    "baseline": "keep today's findings, so that only new ones are shown",
    "check": "lint a checkout, a folder or files in one, or an installed package",
    "classify": "say what a model is by its config.json, and what there is to write",
    "completion": "print the shell completion script",
    "explain": "show the page of a rule",
    "init": "write the settings of a project",
    "probe": "construct and run each model, tiny and on the CPU, and report what only shows then",
    "report": "show every registered class against every contract, as a page or as data",
    "rules": "list the rules",
    "server": "run the language server for an editor",
    "tree": "show the modules, parameters and buffers that a model constructs",
}


class _Lazy(click.Group):
    """A group whose commands are imported when they are called, and whose errors are one line with exit code 2."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return importlib.import_module(f"automodel_lint.commands.{cmd_name}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        from automodel_lint.config import closest

        name = args[0] if args else ""
        if name and name not in COMMANDS and not name.startswith("-"):
            ctx.fail(f"no such command {name!r}{closest(name, list(COMMANDS))}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        from automodel_lint.baseline import BaselineError
        from automodel_lint.commands.output import say
        from automodel_lint.config import ConfigError
        from automodel_lint.domain.checkout import CheckoutNotFound
        from automodel_lint.pages import BrokenPage
        from automodel_lint.request import UsageError

        try:
            return super().invoke(ctx)
        except (BaselineError, BrokenPage, CheckoutNotFound, ConfigError, UsageError) as error:
            say(str(error))
            sys.exit(2)


def run() -> None:
    """Run the command line; wrong use is one line on standard error and exit code 2."""
    try:
        code = command_line.main(prog_name="automodel-lint", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(2)
    except click.ClickException as error:
        from automodel_lint.commands.output import say

        place = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "automodel-lint"
        say(f"{error.format_message()} (see {place} --help)", place)
        sys.exit(2)
    except click.Abort:
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="automodel-lint %(version)s")
def command_line() -> None:
    """Lint model implementations in NeMo AutoModel against the framework's contracts."""
