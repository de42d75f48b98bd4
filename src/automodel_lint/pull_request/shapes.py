"""Shapes of what comes from outside: whatever is not of them is not taken."""

from __future__ import annotations

import re
import unicodedata

from automodel_lint.request import UsageError

COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
CODE = re.compile(r"NAM[0-9]{3}")
FINGERPRINT = re.compile(r"[0-9a-f]{16}")
REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}/(?!\.\.?$)[A-Za-z0-9._-]{1,100}")
LONGEST_PATH = 1024
LAST_LINE = 10_000_000
# Marks that turn the reading direction: a path with one is shown as another.
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def bad_path(path: object) -> str | None:
    """Return why something is no path of a file in a repository, ``None`` if it is one."""
    if not isinstance(path, str):
        return "must be a text"
    if not path or len(path) > LONGEST_PATH:
        return f"must have 1 to {LONGEST_PATH} characters"
    if any(char in _TURNING or unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in path):
        return "has a control character"
    if "\\" in path:
        return "has a backslash"
    if any(part in ("", ".", "..") for part in path.split("/")):
        return "must be relative, without empty parts, `.` and `..`"
    if path.split("/")[0].casefold() == ".git" or is_absolute(path):
        return "lies outside of the repository's files"
    return None


def is_absolute(path: object) -> bool:
    """Tell whether something is a text that begins as an absolute path does, of any system."""
    return isinstance(path, str) and re.match(r"/|[A-Za-z]:/", path) is not None


def repository_name(name: object, whose: str) -> str:
    """Return the name of a repository, ``owner/name``; raises :class:`UsageError` for anything else."""
    if not isinstance(name, str) or not REPOSITORY.fullmatch(name):
        raise UsageError(f"{whose} names no repository (owner/name)")
    return name
