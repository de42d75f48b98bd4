"""A checkout cut out of the published package: a few model packages, what they lean on, and their registry entries."""

from __future__ import annotations

import ast
from functools import cache

from .clean_example import without_entries
from .real_package import unpacked

VERSION = "0.7.0"
# Chosen for variety: a plain decoder, a module with two registered classes, a package with three layers of
# inheritance, a class derived from transformers, one with loading of its own, one that is deprecated.
CHOSEN = ("llama", "mistral4", "kimi_k3", "qwen3_omni_moe", "bagel", "gemma4_drafter")
PACKAGE = "nemo_automodel"
MODELS = f"{PACKAGE}/components/models/"
REGISTRY = f"{PACKAGE}/_transformers/registry.py"
# What model classes derive from and call; the rest of the framework plays no part in a finding.
_FOLLOWED = (f"{PACKAGE}/components/models/", f"{PACKAGE}/components/moe/", f"{PACKAGE}/shared/")


@cache
def real_models() -> dict[str, str]:
    """Return the files of the cut-out by path; raises ``NotAvailable`` where the package cannot be had."""
    root = unpacked(VERSION)
    start = [REGISTRY, f"{PACKAGE}/_transformers/model_capabilities.py", f"{PACKAGE}/__init__.py"]
    for folder in (*CHOSEN, "common"):
        start += [p.relative_to(root).as_posix() for p in sorted((root / MODELS / folder).rglob("*.py"))]
    files: dict[str, str] = {}
    todo = start
    while todo:
        path = todo.pop()
        if path not in files and (root / path).is_file():
            files[path] = (root / path).read_text(encoding="utf-8")
            todo += _imported(path, files[path])
    files[REGISTRY] = without_entries(files[REGISTRY], lambda text: ".models." in text and not _is_chosen(text))
    return files


def chosen_paths() -> list[str]:
    """Return the files of the chosen packages."""
    return [path for path in real_models() if path.startswith(tuple(f"{MODELS}{name}/" for name in CHOSEN))]


def _is_chosen(module: str) -> bool:
    return module.partition(".models.")[2].partition(".")[0] in CHOSEN


def _imported(path: str, text: str) -> list[str]:
    """The files that a module may import from, package files included."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            base = path.split("/")[: -node.level] if node.level else []
            parts = [*base, *(node.module or "").split(".")] if node.module else base
            names = [parts, *([*parts, a.name] for a in node.names)]
        elif isinstance(node, ast.Import):
            names = [a.name.split(".") for a in node.names]
        else:
            continue
        for parts in names:
            joined = "/".join(parts)
            found += [f"{joined}.py", f"{joined}/__init__.py"]
    return [p for p in found if p.startswith(_FOLLOWED)]
