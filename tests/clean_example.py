"""The example checkout without its faulty models: a copy that gives no finding, to be edited and linted.

Files are kept as texts by path; a copy is laid on disk only when it is linted.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from pathlib import Path

from automodel_lint.session import Report, Request, Session

from .mutations import PACKAGE, REGISTRY, SETTINGS, Edit
from .page_framework import LIBRARY

CLEAN = ("fir", "spruce", "cedar", "willow", "larch", "juniper", "hawthorn", "hornbeam")
EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "acme_automodel"
MODELS = f"{PACKAGE}/components/models/"
RECIPES = "examples/lm_train/"
TESTS = "tests/unit_tests/models/"
COVERAGE = "docs/model-coverage/index.md"


@cache
def whole() -> dict[str, str]:
    """Return the texts of the whole example, clean and faulty models, by path."""
    files = [EXAMPLE / SETTINGS, *sorted((EXAMPLE / PACKAGE).rglob("*.py")), *sorted(EXAMPLE.rglob("*.yaml"))]
    return {path.relative_to(EXAMPLE).as_posix(): path.read_text(encoding="utf-8") for path in files}


@cache
def clean() -> dict[str, str]:
    """Return the texts of the clean models, of what they share, and of a registry that names only them."""
    kept = {path: text for path, text in whole().items() if not _is_faulty(path.removeprefix(MODELS), path)}
    kept[REGISTRY] = _without_faulty(kept[REGISTRY])
    return kept


@cache
def complete() -> dict[str, str]:
    """Return :func:`clean` with the tests of its models and the coverage page."""
    files = [*sorted((EXAMPLE / "tests").rglob("*.py")), EXAMPLE / COVERAGE]
    texts = {path.relative_to(EXAMPLE).as_posix(): path.read_text(encoding="utf-8") for path in files}
    return {**clean(), **{p: t for p, t in texts.items() if not p.startswith(TESTS) or _tested(p) in CLEAN}}


def _tested(path: str) -> str:
    return path.removeprefix(TESTS).partition("/")[0]


def _is_faulty(below: str, path: str) -> bool:
    if path.startswith(RECIPES):
        return path.removeprefix(RECIPES).partition("/")[0] not in CLEAN
    name, slash, _ = below.partition("/")
    return path.startswith(MODELS) and bool(slash) and name not in (*CLEAN, "common")


def _without_faulty(registry: str) -> str:
    faulty = tuple(f".models.{name}." for name in _faulty_names())
    return without_entries(registry, lambda module: any(part in module for part in faulty))


def without_entries(registry: str, unwanted: Callable[[str], bool]) -> str:
    """Take the lines of those entries out of a registry's tables whose module is ``unwanted``."""
    lines = registry.splitlines(keepends=True)
    for node in ast.walk(ast.parse(registry)):
        if isinstance(node, ast.List):
            entries = [(e, e) for e in node.elts]
        elif isinstance(node, ast.Dict):
            entries = [(k, v) for k, v in zip(node.keys, node.values, strict=True) if k is not None]
        else:
            continue
        for first, last in entries:
            texts = [n.value for n in ast.walk(last) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
            if any(unwanted(text) for text in texts):
                for number in range(first.lineno, (last.end_lineno or last.lineno) + 1):
                    lines[number - 1] = ""
    return "".join(lines)


def _faulty_names() -> set[str]:
    names = {path.removeprefix(MODELS).partition("/")[0] for path in whole() if path.startswith(MODELS)}
    return {*names, "hazel"} - {*CLEAN, "common", "__init__.py"}


def edited(files: dict[str, str], edits: tuple[Edit, ...]) -> dict[str, str]:
    """Return the files after the edits; fails if the text to replace is not there exactly once."""
    result = dict(files)
    for edit in edits:
        if edit.old is None and edit.new is None:
            del result[edit.path]
        elif edit.old is None:
            assert result.get(edit.path) != edit.new, f"{edit.path}: nothing changes"
            result[edit.path] = edit.new or ""
        else:
            count = result[edit.path].count(edit.old)
            assert count == 1, f"{edit.path}: this stands there {count} times:\n{edit.old}"
            result[edit.path] = result[edit.path].replace(edit.old, edit.new or "")
    return result


def lay(folder: Path, files: dict[str, str]) -> Path:
    """Write files below ``folder`` and return it; a lone surrogate stands for a byte that is no UTF-8."""
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8", "surrogateescape"))
    return folder


def lint(root: Path, library: Path | None = None, ignore: tuple[str, ...] = ("NAM803",)) -> Report:
    """Lint a checkout with no library at hand, or with the one that :func:`lay_library` has written.

    What happens to be installed here plays no part. Most of the models have no recipe, of which nobody wants to hear.
    """
    codes = {"select": ["NAM"], "extend_select": ["NAM804"], "ignore": list(ignore)}
    session = Session(Request(paths=[str(root)], cache=False, **codes))
    session.search_path = [str(library)] if library else []
    return session.run()


def lay_library(folder: Path) -> Path:
    """Write the few modules of transformers that the rule pages use, and return the folder that holds them."""
    return lay(folder, LIBRARY)
