"""What a process that goes on has read: file contents, listings and syntax trees, until the disk says otherwise."""

from __future__ import annotations

import ast
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from automodel_lint.source import Dep, ParseProblem, SourceTree, digest, parsed

_SYNTAX_BYTES = 6_000_000  # of source whose syntax trees are kept, the least recently used are dropped first
_RACY = 2_000_000_000  # ns: what changed so shortly before it was read may have changed since in the same tick


class Superseded(BaseException):
    """A newer edit has made this run pointless. No ``Exception``: nobody on the way is to make a finding of it."""


@dataclass(slots=True)
class _File:
    """A file's content with the state of the disk that it was read in; ``data`` is ``None`` if it is not there."""

    signature: tuple[int, ...] | None
    data: bytes | None
    digest: str
    looked: int


class Files:
    """Contents by path, for all runs of a process. What is unchanged on disk is not read again."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}
        self._folders: dict[str, tuple[tuple[int, ...] | None, int, set[str]]] = {}
        self._syntax: OrderedDict[str, list[tuple[str, ast.Module | ParseProblem, int]]] = OrderedDict()
        self._syntax_bytes = 0

    def file(self, path: str) -> _File:
        """Return the file at a path as it is on disk now."""
        signature = _signature(path)
        known = self._files.get(path)
        if known is None or known.signature != signature or _is_racy(signature, known.looked):
            looked = time.time_ns()
            data = None
            if signature is not None:
                try:
                    with open(path, "rb") as stream:
                        data = stream.read()
                except (OSError, ValueError):
                    pass
            known = self._files[path] = _File(signature, data, "" if data is None else digest(data), looked)
        return known

    def folder(self, path: str) -> set[str]:
        """Return the names in a folder as they are on disk now, folders with a trailing slash."""
        signature = _signature(path)
        known = self._folders.get(path)
        if known is None or known[0] != signature or _is_racy(signature, known[1]):
            looked = time.time_ns()
            try:
                with os.scandir(path) as found:
                    names = {entry.name + "/" if entry.is_dir() else entry.name for entry in found}
            except OSError:
                names = set()
            known = self._folders[path] = (signature, looked, names)
        return known[2]

    def syntax(self, path: str, data: bytes, name: str) -> ast.Module | ParseProblem:
        """Return the syntax tree of a content whose hash is ``name``; of each path, the last two are kept."""
        known = self._syntax.pop(path, [])
        found = next((entry for entry in known if entry[0] == name), None)
        self._syntax_bytes -= sum(size for _, _, size in known)
        if found is None:
            found = (name, parsed(data), len(data))
        known = [found, *(entry for entry in known if entry is not found)][:2]
        self._syntax[path] = known
        self._syntax_bytes += sum(size for _, _, size in known)
        while self._syntax_bytes > _SYNTAX_BYTES and len(self._syntax) > 1:
            _, dropped = self._syntax.popitem(last=False)
            self._syntax_bytes -= sum(size for _, _, size in dropped)
        return found[1]


def _signature(path: str) -> tuple[int, ...] | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns


def _is_racy(signature: tuple[int, ...] | None, looked: int) -> bool:
    return signature is not None and looked - max(signature[0], signature[3]) < _RACY


class LiveTree(SourceTree):
    """The files of one run, out of what the process has kept. The disk is asked about each path once a run.

    ``superseded`` is asked now and then; the run ends with :class:`Superseded` as soon as it says yes.
    """

    def __init__(
        self, files: Files, root: str, overlay: Mapping[str, bytes], superseded: Callable[[], bool] = lambda: False
    ):
        super().__init__(root, overlay)
        self.files, self._superseded = files, superseded
        self._seen: dict[str, _File] = {
            path: _File(None, data, digest(data), 0) for path, data in self._overlay.items()
        }

    @contextmanager
    def recording(self) -> Iterator[set[Dep]]:
        if self._superseded():
            raise Superseded
        with super().recording() as deps:
            yield deps

    @property
    def overlay(self) -> dict[str, bytes]:
        """The buffers that lie over the files."""
        return dict(self._overlay)

    def _file(self, path: str) -> _File:
        known = self._seen.get(path)
        if known is None:
            known = self._seen[path] = self.files.file(path)
        return known

    def token(self, dep: Dep) -> Any:
        """Return what is the same as long as nothing can have changed about the path of a recorded name."""
        if dep[0] == "dir":
            return tuple(self.entries(dep[1]) or ())
        return self._file(dep[1]).digest

    def read(self, path: str) -> bytes | None:
        self.note(("file", path))
        return self._file(path).data

    def _digest(self, path: str) -> str:
        return self._file(path).digest

    def _scanned(self, path: str) -> list[str] | None:
        prefix = path + os.sep
        names = self.files.folder(path)
        extra = {p[len(prefix) :] for p in self._overlay if p.startswith(prefix) and os.sep not in p[len(prefix) :]}
        return sorted(names | extra) or None

    def syntax(self, path: str) -> ast.Module | ParseProblem | None:
        self.note(("file", path))
        if path not in self._syntax:
            file = self._file(path)
            self._syntax[path] = None if file.data is None else self.files.syntax(path, file.data, file.digest)
        return self._syntax[path]
