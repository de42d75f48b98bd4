"""Where in the source of an adapter its author has to edit."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


def place_of(adapter: Any, method: str, names: Iterable[str] = (), instead: Iterable[str] = ()) -> dict[str, Any]:
    """Return ``file`` (absolute) and ``line`` of what makes ``instead`` of ``names``.

    That is the one literal in the classes of the adapter, and of adapters inside it, that has a part of a name by which
    the two differ; else the ``def`` of ``method`` in the class that has it. Empty if no source is found.
    """
    literals = set(_literals_about(adapter, _parts_by_which_they_differ(names, instead)))
    if len(literals) == 1:
        file, line = literals.pop()
        return {"file": file, "line": line}
    return _definition(adapter, method) or _definition(adapter, "to_hf")


def _parts_by_which_they_differ(names: Iterable[str], instead: Iterable[str]) -> set[str]:
    """Parts between dots that all of ``instead`` have and none of ``names``; indices and whole prefixes are none."""
    before = {part for name in names for part in name.split(".")}
    after = [set(name.split(".")) for name in instead]
    shared = set.intersection(*after) if after else set()
    return {part for part in shared - before if not part.isdigit()}


def _literals_about(adapter: Any, parts: set[str]) -> Iterator[tuple[str, int]]:
    if not parts:
        return
    for file in _files(adapter):
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
        texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts
            if is_text and parts & set(node.value.replace("\\", "").split(".")):
                yield file, node.lineno


def _files(adapter: Any) -> list[str]:
    """Source files of the adapter's classes, its own first, without the library's and the abstract base's."""
    package = type(adapter).__module__.partition(".")[0]
    inner = [v for v in vars(adapter).values() if hasattr(v, "to_hf") and hasattr(v, "from_hf")]
    found: dict[str, None] = {}
    for cls in (c for one in (adapter, *inner) for c in type(one).__mro__):
        if cls.__module__.partition(".")[0] == package and not inspect.isabstract(cls):
            found[inspect.getsourcefile(cls) or ""] = None
    return [file for file in found if file]


def _definition(adapter: Any, method: str) -> dict[str, Any]:
    owner = next((cls for cls in type(adapter).__mro__ if method in vars(cls)), None)
    function = getattr(owner, method, None)
    if owner is None or not inspect.isfunction(function) or inspect.isabstract(owner):
        return {}
    lines, first = inspect.getsourcelines(function)
    ahead = next((i for i, line in enumerate(lines) if line.lstrip().startswith(("def ", "async def "))), 0)
    return {"file": inspect.getsourcefile(function), "line": first + ahead}
