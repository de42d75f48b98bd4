"""The entry point of the command line; answers ``--version`` before anything heavy is imported."""

from __future__ import annotations

import sys

from automodel_lint import __version__


def main() -> None:
    """Run the command line; exits with ruff's codes: 0 clean, 1 findings, 2 wrong use or nothing to lint."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        print(f"automodel-lint {__version__}")
        return
    import gc

    gc.disable()  # a run is short and builds large trees: collecting cycles is a third of its time
    from automodel_lint.commands import run

    run()
