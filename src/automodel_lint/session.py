"""One run as a person sees it: settings, checkout, verdict, and what of it is to be shown."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from automodel_lint.cache import FOLDER, cache_path
from automodel_lint.config import Config, find, load, unknown_code
from automodel_lint.domain.checkout import Checkout, CheckoutNotFound, locate, locate_installed
from automodel_lint.engine import Engine, Verdict
from automodel_lint.report import Report
from automodel_lint.request import Request, UsageError
from automodel_lint.selection import Selection
from automodel_lint.source import SourceTree

_LIBRARIES = ("transformers", "nemo_automodel")


class Session:
    """A checkout with its settings, ready to be linted. All paths of the request lie in it.

    ``verdict`` is what all rules say, once it has run, ``selection`` what of that is shown. ``known`` is the
    :meth:`snapshot` of a session on an earlier state of the same files: what that found is used again where nothing has
    changed, and nothing is kept on disk.

    Raises:
        UsageError, ConfigError, CheckoutNotFound: if what was asked for is not there or not usable.
    """

    engine: Engine
    verdict: Verdict
    selection: Selection

    def __init__(self, request: Request, known: dict[str, Any] | None = None):
        self.request, self.known = request, known
        for code in (*(request.select or ()), *request.extend_select, *request.ignore):
            problem = unknown_code(code)
            if problem:
                raise UsageError(problem)
        if request.installed is None:
            _check_paths(request.paths)
        start = os.getcwd() if request.installed else _folder(request.paths[0])
        self.config = load(find(start))
        self.search_path = self._libraries()
        self.checkout = self._checkout()

    def _libraries(self) -> list[str]:
        """The module search path of the interpreter asked for, or our own."""
        return _search_path(self.request.python or self.config.python, self.config)

    def _checkout(self) -> Checkout:
        if self.request.installed:
            return locate_installed(self.request.installed, self.search_path)
        return locate(self.request.paths[0], self.config.package)

    @property
    def asked(self) -> list[str]:
        """The paths below which recipes are looked for: what was asked for by name, and is not the whole checkout."""
        named = () if self.request.installed else self.request.paths
        paths = {*map(os.path.abspath, named), *(self.request.only or ())}
        return sorted(path for path in paths if not self.checkout.holds_package(path))

    @property
    def python(self) -> str:
        """The interpreter that has the project's dependencies."""
        return _interpreter(self.request.python or self.config.python, self.config) or sys.executable

    def run(self, progress: Callable[[int, int], None] | None = None) -> Report:
        """Lint and return what is to be shown."""
        started = time.perf_counter()
        tree, outside = self._tree(), self._outside()
        kept, apart = self._cache_file(outside), self.request.apart
        names, asked = self.config.fp32_tensors, self.asked
        self.engine = Engine(self.checkout, tree, outside, kept, names, apart, self.known, asked=asked)
        self.verdict = self.engine.run(progress)
        self.selection = Selection(self.request, self.config, self.checkout, tree, self.verdict)
        report = self.selection.report()
        report.seconds = time.perf_counter() - started
        return report

    def snapshot(self) -> dict[str, Any]:
        """Return what a run has found as plain data, for a session on a later state of the same files."""
        return self.engine.cache.snapshot()

    def project(self) -> Any:
        """Return the domain over the checkout, with its registrations read, for who shows it instead of linting it."""
        from automodel_lint.domain.project import Project

        project = Project(self.checkout, self._tree(), self._outside(), self.config.fp32_tensors)
        project.adopt(project.read_plan())
        return project

    def _tree(self) -> SourceTree:
        return SourceTree(self.checkout.root, self.request.overlay)

    def _outside(self) -> list[str]:
        """The folders of the search path in which libraries lie that are followed."""
        return _with_libraries(self.search_path)

    def _cache_file(self, outside: list[str]) -> str | None:
        if not self.request.cache or self.known is not None:
            return None
        if self.config.cache_dir:
            folder = self.config.absolute(self.config.cache_dir)
        elif self.request.installed:  # nothing is written into an environment
            home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
            folder = os.path.join(home, "automodel-lint")
        else:
            folder = os.path.join(self.checkout.root, FOLDER)
        state = "buffers" if self.request.overlay else "files"  # an editor must not throw away what the hooks keep
        where = (self.checkout.root, self.checkout.source_root, self.checkout.package, self.checkout.plugin or "")
        options = repr(self.config.fp32_tensors)  # what changes verdicts, not only what of them is shown
        return cache_path(folder, state, options, *where, *outside)


def sessions(request: Request) -> list[Session]:
    """Return a session for each checkout that the paths of a request lie in.

    Where excluding is forced (a hook hands over whatever files changed), files in no checkout are none of ours.

    Raises:
        UsageError, ConfigError, CheckoutNotFound: as :class:`Session` does.
    """
    if request.installed or (len(request.paths) == 1 and not request.force_exclude):
        return [Session(request)]
    _check_paths(request.paths)
    by_checkout: dict[Checkout, list[str]] = {}
    for path in request.paths:
        try:
            by_checkout.setdefault(locate(path, load(find(_folder(path))).package), []).append(path)
        except CheckoutNotFound:
            if not request.force_exclude:
                raise
    return [Session(replace(request, paths=paths)) for paths in by_checkout.values()]


def libraries(python: str | None) -> list[str]:
    """Return the folders in which the libraries lie that are followed, for who has no checkout.

    Raises:
        UsageError, ConfigError: as :class:`Session` does.
    """
    config = load(find(os.getcwd()))
    return _with_libraries(_search_path(python or config.python, config))


def _with_libraries(search_path: list[str]) -> list[str]:
    return [path for path in search_path if any(os.path.isdir(os.path.join(path, name)) for name in _LIBRARIES)]


def _check_paths(paths: Iterable[str]) -> None:
    for path in paths:
        if os.path.exists(path):
            continue
        if os.path.islink(path):
            raise UsageError(f"{path}: a link that leads nowhere")
        raise UsageError(f"{path}: no such file or folder")


def _folder(path: str) -> str:
    return path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path))


def _interpreter(python: str | None, config: Config) -> str | None:
    """A path of the settings is relative to their file, one of the command line to the current folder."""
    if python is None or os.sep not in python:
        return python
    return os.path.abspath(python) if os.path.exists(python) else config.absolute(python)


def _search_path(python: str | None, config: Config) -> list[str]:
    """Return where libraries may lie: the module search path of the interpreter asked for, or our own."""
    if python in (None, sys.executable):
        return [path for path in sys.path if path]
    import json
    import subprocess

    path = _interpreter(python, config)
    assert path is not None
    try:
        # The current folder is on the path of ``-c``: a json.py there must not be run.
        code = "import sys; sys.path = [p for p in sys.path if p]; import json; print(json.dumps(sys.path))"
        done = subprocess.run([path, "-c", code], capture_output=True, text=True, timeout=30, check=True)
        return [entry for entry in json.loads(done.stdout) if entry]
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise UsageError(f"{python}: no usable Python interpreter ({error})") from error
