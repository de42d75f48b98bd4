"""``automodel-lint init``."""

from __future__ import annotations

import os
from typing import Any

import click
import tomlkit
from tomlkit.exceptions import TOMLKitError

from automodel_lint.config import OWN_FILE, ConfigError, find
from automodel_lint.domain.checkout import CheckoutNotFound, locate
from automodel_lint.request import UsageError
from automodel_lint.writing import write_whole

_COMMENT = "docs/configuration.md of automodel-lint describes all keys"


@click.command("init")
@click.argument("path", default=".")
def command(path: str) -> None:
    """Write the settings of a project, and tell ruff to leave our suppressions alone where it is used."""
    if not os.path.isdir(path):
        raise UsageError(f"{path}: no such folder")
    project, own = os.path.join(path, "pyproject.toml"), os.path.join(path, OWN_FILE)
    package = _package(path)
    has_settings = find(path) in (os.path.abspath(project), os.path.abspath(own))
    if has_settings:
        click.echo("has settings already")
    elif not os.path.isfile(project):
        line = f'package = "{package}"\n' if package else ""
        _replace(own, f"# {_COMMENT}\n{line}")
        click.echo(f"{os.path.relpath(own)}: written")
    own_ruff = [os.path.join(path, n) for n in ("ruff.toml", ".ruff.toml") if os.path.isfile(os.path.join(path, n))]
    if os.path.isfile(project):
        _edit(project, lambda document: _settle(document, package, not has_settings, not own_ruff))
    for target in own_ruff[:1]:
        _edit(target, lambda document: _add_external(document))


def _settle(document: tomlkit.TOMLDocument, package: str | None, settings: bool, ruff: bool) -> None:
    tool = document.get("tool", {})
    if ruff and "ruff" in tool:
        _add_external(tool["ruff"])
    if settings:
        _add_settings(document, package)


def _package(path: str) -> str | None:
    """The package with a registry below ``path``; ``None`` in a plug-in, which is found by its entry points."""
    for folder in (path, os.path.join(path, "src")):
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if os.path.isfile(os.path.join(folder, name, "_transformers", "registry.py")):
                return name
    try:
        return None if locate(path, "nemo_automodel").plugin else "nemo_automodel"
    except CheckoutNotFound:
        return "nemo_automodel"


def _read(path: str) -> tomlkit.TOMLDocument:
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            return tomlkit.parse(stream.read())
    except (OSError, UnicodeDecodeError, TOMLKitError) as error:
        raise ConfigError(f"{path}:{getattr(error, 'line', 1)}: {error}") from error


def _edit(path: str, change) -> None:
    document = _read(path)
    before = document.as_string()
    change(document)
    if document.as_string() != before:
        _replace(path, document.as_string())
        click.echo(f"{os.path.relpath(path)}: changed")


def _add_settings(document: tomlkit.TOMLDocument, package: str | None) -> None:
    text = document.as_string()
    table = tomlkit.table()
    table.add(tomlkit.comment(_COMMENT))
    if package:
        table.add("package", package)
    if "tool" not in document:
        document.add("tool", tomlkit.table(is_super_table=True))
    if text.strip():
        table.trivia.indent = "\n"
    document["tool"]["automodel-lint"] = table  # type: ignore[index]


def _add_external(ruff: Any) -> None:
    """Make sure that ``lint.external`` names our codes; what stands there stays."""
    lint = ruff.setdefault("lint", tomlkit.table())
    external = lint.setdefault("external", tomlkit.array())
    if "NAM" not in external:
        external.append("NAM")


def _replace(path: str, text: str) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error
