"""Kept verdicts: each with the state of everything that was read, or looked for, to reach it.

One JSON file for each combination of checkout, search path, rule options and version of the tool. It is replaced
atomically; one that cannot be read or makes no sense is thrown away, never an error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection
from typing import Any

from automodel_lint import __version__
from automodel_lint.source import Dep, SourceTree, digest
from automodel_lint.writing import write_whole

FORMAT = 3
FOLDER = ".automodel_lint_cache"
_MOST_FILES = 4
_PARTS = ("exists", "holds", "matches", "outline")  # what is known once the whole file is


class Cache:
    """Verdicts by key. ``path`` is ``None`` where nothing is to be kept.

    ``known`` is the :meth:`snapshot` of an earlier run of this process, taken in place of the file's content.
    """

    def __init__(self, path: str | None, tree: SourceTree, known: dict[str, Any] | None = None):
        self.path, self.tree = path, tree
        self._kept: dict[str, Any] = {}
        self._fresh: dict[str, Any] = {}
        self._offered: dict[str, Any] = {}
        self._states: list[list[Any]] = []
        self._valid: dict[int, bool] = {}
        self._valid_keys: dict[str, bool] = {}
        if known is not None:
            self._states, self._kept = known["states"], dict(known["verdicts"])
        elif path is not None:
            self._load()

    def _load(self) -> None:
        data = read(self.path)
        if data is not None:
            self._states, self._kept = data["states"], data["verdicts"]

    def get(self, key: str, compute: Callable[[], Any], load: Callable[[Any], Any]) -> Any:
        """Return the verdict ``key``, kept or computed, turned into what it means by ``load``.

        ``compute`` returns JSON data; what it raises is raised. A kept verdict that makes no sense is computed anew.
        """
        offered = self._offered.pop(key, None)
        if offered is not None:
            self.tree.note(*offered["deps"])
            self._fresh[key] = offered
            return load(offered["value"])
        kept = self._kept.get(key)
        if kept is not None:
            try:
                if self._is_valid(key, kept):
                    found = load(kept["value"])
                    if self.tree.is_recording:
                        self.tree.note(*(self._dep(index) for index in kept["read"]))
                    self._fresh[key] = kept
                    return found
            except (IndexError, KeyError, TypeError, ValueError, AttributeError):
                del self._kept[key]
        with self.tree.recording() as read:
            value = compute()
        self._fresh[key] = {"value": value, "deps": read}
        return load(value)

    def missing(self, key: str) -> bool:
        """Tell whether a verdict has to be computed: there is none, or something it was reached by has changed."""
        kept = self._kept.get(key)
        try:
            return kept is None or not self._is_valid(key, kept)
        except (IndexError, KeyError, TypeError, ValueError):
            return True

    def offer(self, key: str, value: Any, deps: set[Dep]) -> None:
        """Take over a verdict that was computed elsewhere just now."""
        self._offered[key] = {"value": value, "deps": deps}

    def _is_valid(self, key: str, kept: dict[str, Any]) -> bool:
        """Whether nothing has changed that a kept verdict depends on; found out once a run."""
        known = self._valid_keys.get(key)
        if known is None:
            known = self._valid_keys[key] = all(self._holds(index) for index in kept["read"])
        return known

    def _dep(self, index: int) -> Dep:
        return tuple(self._states[index][0])

    def _holds(self, index: int) -> bool:
        known = self._valid.get(index)
        if known is None:
            dep, state = self._states[index]
            known = self._valid[index] = self.tree.is_still(tuple(dep), state)
        return known

    def save(self) -> None:
        """Write the verdicts of this run, unless nothing is new or nothing can be written (no error then)."""
        if self.path is None or not any("deps" in verdict for verdict in self._fresh.values()):
            return
        write(self.path, self.snapshot())

    def snapshot(self) -> dict[str, Any]:
        """Return all verdicts of this run as plain data."""
        states: dict[Dep, int] = {}
        verdicts = {}
        for key, verdict in self._fresh.items():
            deps = verdict.get("deps") or [self._dep(index) for index in verdict["read"]]
            read = [states.setdefault(dep, len(states)) for dep in without_parts(deps)]
            verdicts[key] = {"value": verdict["value"], "read": sorted(read)}
        table = [[list(dep), self.tree.state(dep)] for dep in states]
        return {"format": FORMAT, "states": table, "verdicts": verdicts}


def without_parts(deps: Collection[Dep]) -> list[Dep]:
    """Return what has to be asked: what a file holds is decided by the whole of it, that it exists by its outline."""
    whole = {dep[1] for dep in deps if dep[0] == "file"}
    there = whole | {dep[1] for dep in deps if dep[0] == "outline"}
    return [d for d in deps if d[0] not in _PARTS or d[1] not in (there if d[0] == "exists" else whole)]


def read(path: str | None) -> dict[str, Any] | None:
    """Return the content of a cache file; ``None`` if there is none that can be used."""
    try:
        with open(path or "", encoding="utf-8") as stream:
            data = json.load(stream)
        return {**data, "states": data["states"], "verdicts": data["verdicts"]} if data["format"] == FORMAT else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def write(path: str, snapshot: dict[str, Any]) -> None:
    """Write a cache file; a folder that cannot be written to is no error."""
    _prune(os.path.dirname(path))
    _replace(path, json.dumps(snapshot))


def _prune(folder: str) -> None:
    """Leave only the newest files: every new version of the tool, and every other setting, starts one."""
    try:
        paths = [os.path.join(folder, n) for n in os.listdir(folder) if n.startswith("verdicts-")]
        for path in sorted(paths, key=os.path.getmtime)[: -_MOST_FILES or None]:
            os.unlink(path)
    except OSError:
        pass


def _replace(path: str, text: str) -> None:
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, exist_ok=True)
        ignore = os.path.join(folder, ".gitignore")
        if not os.path.exists(ignore):
            write_whole(ignore, "*\n")
        write_whole(path, text)
    except OSError:  # a run without a cache is slower, not wrong
        pass


def cache_path(folder: str, *parts: str) -> str:
    """Return the cache file for what ``parts`` describe (checkout, search path, options) and this very tool."""
    key = "\0".join((__version__, _own_state(), *parts))
    return os.path.join(folder, f"verdicts-{digest(key.encode())[:16]}.json")


def _own_state() -> str:
    """The tool's own files, so that a changed rule or page of an editable install throws old verdicts away."""
    from automodel_lint.pages import pages_folder

    here = os.path.dirname(os.path.abspath(__file__))
    found = []
    for folder in (
        here,
        pages_folder(),
        *(os.path.join(here, d) for d in ("domain", "inference", "remedies", "rules")),
    ):
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith((".py", ".md")):
                    status = entry.stat()
                    found.append(f"{entry.path}:{status.st_size}:{status.st_mtime_ns}")
    return "\n".join(sorted(found))
