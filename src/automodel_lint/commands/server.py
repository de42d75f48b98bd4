"""``automodel-lint server``."""

from __future__ import annotations

import gc
import os

import click

from automodel_lint.request import UsageError


@click.command("server")
@click.option("--stdio", is_flag=True, help="Speak on standard input and output (always; some editors say so).")
def command(stdio: bool) -> None:
    """Run the language server, as an editor starts it.

    It speaks the Language Server Protocol on standard input and output, and ends with the editor.
    """
    try:
        import pygls.lsp.server  # noqa: F401
    except ImportError as error:
        raise UsageError("the language server needs pygls: pip install 'automodel-lint[lsp]'") from error
    from automodel_lint.integrations.language_server.server import make

    gc.enable()
    server = make()
    server.start_io()
    server.stop()
    os._exit(0 if server.was_shut_down else 1)  # a run that is under way would hold the process up
