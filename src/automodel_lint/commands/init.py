"""``automodel-lint init``."""

from __future__ import annotations

import os
import tempfile

import click
import tomlkit
from tomlkit.exceptions import TOMLKitError

from automodel_lint.config import OWN_FILE, ConfigError, find
from automodel_lint.session import UsageError

_COMMENT = "which package to lint; see docs/configuration.md for all keys"


@click.command("init")
@click.argument("path", default=".")
def command(path: str) -> None:
    """Write the settings of a project, and tell ruff to leave our suppressions alone where it is used."""
    if not os.path.isdir(path):
        raise UsageError(f"{path}: no such folder")
    project = os.path.join(path, "pyproject.toml")
    own = os.path.join(path, OWN_FILE)
    known = find(path)
    if known in (os.path.abspath(project), os.path.abspath(own)):
        click.echo(f"{os.path.relpath(known)}: has settings already")
    elif os.path.isfile(project):
        _edit(project, lambda document: _add_settings(document, _package(path)))
    else:
        _replace(own, f"# {_COMMENT}\npackage = {_package(path)!r}\n".replace("'", '"'))
        click.echo(f"{os.path.relpath(own)}: written")
    for name, nested in (("ruff.toml", False), (".ruff.toml", False), ("pyproject.toml", True)):
        target = os.path.join(path, name)
        if os.path.isfile(target) and (not nested or _uses_ruff(target)):
            _edit(target, lambda document, n=nested: _add_external(document, n))
            break


def _package(path: str) -> str:
    """The package with a registry below ``path``; the framework's own where there is none."""
    for folder in (path, os.path.join(path, "src")):
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if os.path.isfile(os.path.join(folder, name, "_transformers", "registry.py")):
                return name
    return "nemo_automodel"


def _uses_ruff(path: str) -> bool:
    return "ruff" in _read(path).get("tool", {})


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


def _add_settings(document: tomlkit.TOMLDocument, package: str) -> None:
    table = tomlkit.table()
    table.add(tomlkit.comment(_COMMENT))
    table.add("package", package)
    if "tool" not in document:
        document.add("tool", tomlkit.table(is_super_table=True))
    document["tool"]["automodel-lint"] = table  # type: ignore[index]


def _add_external(document: tomlkit.TOMLDocument, nested: bool) -> None:
    """Make sure that ``lint.external`` names our codes; what stands there stays."""
    ruff = document["tool"]["ruff"] if nested else document  # type: ignore[index]
    lint = ruff.setdefault("lint", tomlkit.table())  # type: ignore[union-attr]
    external = lint.setdefault("external", tomlkit.array())
    if "NAM" not in external:
        external.append("NAM")


def _replace(path: str, text: str) -> None:
    try:
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)), suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
        if os.path.exists(path):
            os.chmod(temporary, os.stat(path).st_mode & 0o7777)
        else:
            os.chmod(temporary, 0o644)
        os.replace(temporary, os.path.realpath(path))
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error
