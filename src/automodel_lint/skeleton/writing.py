"""Several files are written all or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass

from automodel_lint.request import UsageError
from automodel_lint.writing import write_whole


@dataclass(frozen=True)
class Planned:
    """A file to write: where, what is there now (``None`` for nothing), and what will be."""

    path: str
    old: bytes | None
    new: bytes


def refuse_to_overwrite(files: list[Planned]) -> None:
    """Refuse where a new file is there already, or one that is to be changed is no longer what it was.

    Raises:
        UsageError: for the first such file.
    """
    for file in files:
        if file.old is None and os.path.lexists(file.path):
            raise UsageError(f"{file.path}: exists already; `new` overwrites nothing")
        if file.old is not None and _content(file.path) != file.old:
            raise UsageError(f"{file.path}: changed in the meantime; nothing was written")


def write_all(files: list[Planned]) -> None:
    """Write files; if one cannot be, those that were are taken back, and the folders that were made.

    All of them are written beside their places first, so that moving them there is all that is left to fail.

    Raises:
        UsageError: if a file cannot be written, or is there already.
    """
    refuse_to_overwrite(files)
    made: list[str] = []
    staged: list[tuple[str, Planned]] = []
    done: list[Planned] = []
    path = ""
    try:
        for file in files:
            path = file.path
            _make(os.path.dirname(path), made)
            if file.old is None:
                handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".tmp")
                staged.append((temporary, file))
                with os.fdopen(handle, "wb") as stream:
                    stream.write(file.new)
                os.chmod(temporary, 0o644)
        refuse_to_overwrite(files)
        for temporary, file in staged:
            path = file.path
            os.replace(temporary, path)
            done.append(file)
        for file in files:  # what others read comes last: a registry never names a package that is not there
            if file.old is not None:
                path = file.path
                write_whole(path, file.new)
                done.append(file)
    except BaseException as error:
        _take_back(done, [temporary for temporary, _ in staged], made)
        if isinstance(error, OSError):
            raise UsageError(f"{path}: cannot be written: {error.strerror}") from error
        raise


def _make(folder: str, made: list[str]) -> None:
    """Make a folder and those above it, and take down those that were not there, the outermost first."""
    if not os.path.isdir(folder):
        _make(os.path.dirname(folder), made)
        os.mkdir(folder)
        made.append(folder)


def _take_back(done: list[Planned], temporary: list[str], made: list[str]) -> None:
    for path in temporary:
        with contextlib.suppress(OSError):
            os.unlink(path)
    for file in done:
        with contextlib.suppress(OSError):
            if file.old is None:
                os.unlink(file.path)
            else:
                write_whole(file.path, file.old)
    for path in reversed(made):
        with contextlib.suppress(OSError):
            os.rmdir(path)


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return None
