"""The small models of ``tree_models``: which there are, and what was constructed of them."""

from __future__ import annotations

import ast
import json
import subprocess
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

TRUTH = Path(__file__).with_name("tree_truth.py")
MODELS = Path(__file__).with_name("tree_models")
# Files whose models are made of libraries: without their source the tree says that it does not know.
OF_LIBRARIES = ("hugging_face", "torch_sources")
# What the tree is known to get wrong, by the name of the test case. An entry goes with its cause: a case that passes
# although it stands here fails.
PENDING = {
    "22": "an alternative is lost behind two ways out of a base constructor",
}


@cache
def table(path: Path, name: str) -> Any:
    """Return a literal table of a module; empty if there is none."""
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name:
            return ast.literal_eval(statement.value)
    return {}


def cases(folder: Path = MODELS) -> list[tuple[str, str]]:
    """Return the module and the class of every model that is compared."""
    found = []
    for path in sorted(folder.glob("*.py")):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "CASES":
                assert isinstance(statement.value, ast.Dict)
                found += [(path.stem, ast.unparse(key)) for key in statement.value.keys if key is not None]
    return found


def marked(values: Iterable[Any]) -> list[Any]:
    """Return test cases as parameters, the pending ones marked."""
    found = []
    for value in values:
        row = value if isinstance(value, tuple) else (value,)
        name = "-".join(map(str, row))
        marks = [pytest.mark.xfail(strict=True, reason=PENDING[name])] if name in PENDING else []
        found.append(pytest.param(*row, id=name, marks=marks))
    return found


def opaque(module: str, cls: str) -> list[str]:
    """Return the nodes of a class that a tree must not claim to know."""
    return table(MODELS / f"{module}.py", "OPAQUE").get(cls, [])


def constructed(python: str, *folders: Path) -> dict[str, Any]:
    """Construct the models of the folders in another interpreter; return what ``tree_truth.py`` wrote."""
    with tempfile.TemporaryDirectory() as work:
        out = Path(work, "constructed.json")
        done = subprocess.run(
            [python, str(TRUTH), str(out), *map(str, folders)], capture_output=True, text=True, timeout=600, check=False
        )
        if done.returncode != 0:
            raise AssertionError(f"the models could not be constructed:\n{done.stderr[-3000:]}")
        return json.loads(out.read_text(encoding="utf-8"))
