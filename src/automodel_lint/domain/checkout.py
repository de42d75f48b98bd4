"""Where the code to lint lies: a repository, an unpacked wheel, an installed package, or a plug-in package."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from automodel_lint.source import SourceTree, decoded

ENTRY_POINTS = "nemo_automodel.architectures"


class CheckoutNotFound(Exception):
    """There is no registry where one was looked for; the text says where."""


@dataclass(frozen=True)
class Checkout:
    """A package and the folder that holds it.

    ``root`` is what paths in findings are relative to, ``source_root`` what modules are found below (``root`` itself
    or its ``src``). ``plugin`` is the file that registers architectures through entry points, if one does.
    """

    root: str
    source_root: str
    package: str
    plugin: str | None = None

    @property
    def package_dir(self) -> str:
        return os.path.join(self.source_root, self.package)

    @property
    def registry(self) -> str:
        return os.path.join(self.package_dir, "_transformers", "registry.py")

    @property
    def models_dir(self) -> str:
        return os.path.join(self.package_dir, "components", "models")

    def model_files(self, tree: SourceTree) -> Iterator[str]:
        """Yield the files of the models folder; of the whole package where it has no such folder (a plug-in)."""
        has_models = tree.entries(self.models_dir) is not None
        return tree.python_files(self.models_dir if has_models else self.package_dir)

    def holds_package(self, path: str) -> bool:
        """Tell whether an absolute path is the package or a folder around it, so that all of it is meant."""
        return self.package_dir == path or self.package_dir.startswith(path.rstrip(os.sep) + os.sep)

    def scope(self, path: str) -> str:
        """Return what an absolute path brings in: a file in a model package stands for the package."""
        return (self.model_package(path) if os.path.isfile(path) else None) or path

    def model_package(self, path: str) -> str | None:
        """Return the folder ``components/models/<name>`` that holds ``path``, if one does."""
        prefix = self.models_dir + os.sep
        if not path.startswith(prefix):
            return None
        name, slash, _ = path[len(prefix) :].partition(os.sep)
        return os.path.join(self.models_dir, name) if slash else None


def locate(path: str, package: str) -> Checkout:
    """Find the checkout around ``path`` (a file or folder in one, or one itself), nearest first.

    Raises:
        CheckoutNotFound: if neither ``path`` nor a folder above it holds one.
    """
    start = os.path.abspath(path)
    if not os.path.isdir(start):
        start = os.path.dirname(start)
    for folder in _upwards(start):
        found = _package_in(folder, package) or _plugin_in(folder)
        if found:
            return found
    hint = _other_package(start)
    raise CheckoutNotFound(
        f"{path}: no registry found: looked for {package}/_transformers/registry.py, {package}/components/models and "
        f"a pyproject.toml with entry points '{ENTRY_POINTS}' in {start} and the folders above it{hint}"
    )


def _other_package(folder: str) -> str:
    """A hint, where some other package has a registry."""
    for source_root in (folder, os.path.join(folder, "src")):
        for name in sorted(os.listdir(source_root)) if os.path.isdir(source_root) else ():
            if os.path.isfile(os.path.join(source_root, name, "_transformers", "registry.py")):
                return f'; {name} has one: write `package = "{name}"` into [tool.automodel-lint]'
    return ""


def _upwards(folder: str) -> Iterator[str]:
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _package_in(folder: str, package: str) -> Checkout | None:
    if os.path.basename(folder) == "src" and os.path.isfile(os.path.join(os.path.dirname(folder), "pyproject.toml")):
        return None  # the project above is the checkout, wherever in it one starts
    for source_root in (folder, os.path.join(folder, "src")):
        base = os.path.join(source_root, package)
        if os.path.isfile(os.path.join(base, "_transformers", "registry.py")) or os.path.isdir(
            os.path.join(base, "components", "models")
        ):
            return Checkout(folder, source_root, package, _entry_point_file(folder))
    return None


def _entry_point_file(folder: str) -> str | None:
    """The ``pyproject.toml`` of a folder if it registers architectures."""
    path = os.path.join(folder, "pyproject.toml")
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError:
        return None
    return path if ENTRY_POINTS.encode() in data and entry_points(decoded(data), path) else None


def _plugin_in(folder: str) -> Checkout | None:
    project = _entry_point_file(folder)
    if project is None:
        return None
    with open(project, "rb") as stream:
        targets = [target for _, target, _ in entry_points(decoded(stream.read()), project)]
    top = targets[0].partition(":")[0].partition(".")[0]
    source = os.path.join(folder, "src", top)
    in_src = bool(top) and (os.path.isdir(source) or os.path.isfile(source + ".py"))
    return Checkout(folder, os.path.join(folder, "src") if in_src else folder, top, project)


def entry_points(text: str, path: str) -> list[tuple[str, str, int]]:
    """Return ``(architecture, "module:Class", line)`` for each entry point of our group in a ``pyproject.toml``.

    Both the standard table and poetry's are read. Raises :class:`CheckoutNotFound` if the file is not TOML.
    """
    from automodel_lint import toml

    try:
        data = toml.loads(text)
    except toml.TOMLDecodeError as error:
        raise CheckoutNotFound(f"{path}: not valid TOML: {error}") from error
    lines = text.splitlines()
    found = []
    for keys in (("project", "entry-points"), ("tool", "poetry", "plugins")):
        table: Any = data
        for key in (*keys, ENTRY_POINTS):
            table = table.get(key) if isinstance(table, dict) else None
        header = next(
            (n for n, line in enumerate(lines) if ENTRY_POINTS in line and not line.lstrip().startswith("#")), 0
        )
        for arch, target in table.items() if isinstance(table, dict) else ():
            key_line = re.compile(rf"""^\s*["']?{re.escape(arch)}["']?\s*=""")
            below = (n for n, line in enumerate(lines[header:], header + 1) if key_line.match(line))
            found.append((arch, str(target), next(below, header + 1)))
    return found


def locate_installed(package: str, search_path: list[str]) -> Checkout:
    """Find an installed package on a module search path, without importing it.

    Raises:
        CheckoutNotFound: if it is not there, or neither has a registry nor registers architectures.
    """
    for folder in search_path:
        if not os.path.isfile(os.path.join(folder, package, "__init__.py")):
            continue
        found = _package_in(folder, package)
        if found:
            return found
        plugin = _distribution_entry_points(folder, package)
        if plugin:
            return Checkout(folder, folder, package, plugin)
        raise CheckoutNotFound(
            f"{os.path.join(folder, package)}: no registry found: looked for _transformers/registry.py, "
            f"components/models and entry points '{ENTRY_POINTS}' of its distribution"
        )
    raise CheckoutNotFound(f"{package}: not installed: looked in {', '.join(search_path) or 'no folder at all'}")


def _distribution_entry_points(folder: str, package: str) -> str | None:
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name, "entry_points.txt")
        if name.endswith(".dist-info") and os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as stream:
                text = stream.read()
            if f"[{ENTRY_POINTS}]" in text and re.search(rf"=\s*{re.escape(package)}[.:]", text):
                return path
    return None


def registered_entry_points(tree: SourceTree, path: str) -> list[tuple[str, str, int]]:
    """Return the entry points of our group in a ``pyproject.toml`` or an installed ``entry_points.txt``."""
    text = decoded(tree.read(path) or b"")
    if not path.endswith(".txt"):
        return entry_points(text, path)
    found, inside = [], False
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line.startswith("["):
            inside = line == f"[{ENTRY_POINTS}]"
        elif inside and "=" in line and not line.startswith(("#", ";")):
            arch, _, target = line.partition("=")
            found.append((arch.strip(), target.strip(), number))
    return found
