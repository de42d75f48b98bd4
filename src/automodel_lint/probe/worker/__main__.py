"""Started as a script by the interpreter of the project: ``EXE worker/__main__.py JOB.json``.

The linter need not be installed there: its package is found from this file, and nothing else of its environment is.
Events go to what was standard output, a JSON object a line; whatever is printed goes to standard error.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path


def adopt() -> None:
    """Make ``automodel_lint`` importable without putting its folder on the module search path."""
    package = Path(__file__).resolve().parents[2]
    spec = importlib.util.spec_from_file_location(
        "automodel_lint", package / "__init__.py", submodule_search_locations=[str(package)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["automodel_lint"] = module
    spec.loader.exec_module(module)


def main() -> None:
    """Run the job of the file that is named on the command line."""
    sys.path.pop(0)  # the folder of this script
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    adopt()
    from automodel_lint.probe.worker.supervisor import supervise

    supervise(Path(sys.argv[1]), events)


if __name__ == "__main__":
    main()
