"""What git says of the files that are linted."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@dataclass(frozen=True)
class WorkTree:
    """A folder as part of a git work tree.

    ``commit`` is the full name of the commit that is checked out, whether or not files were changed since; ``prefix``
    the folder's path in the repository, with forward slashes, empty where it is the whole of it.
    """

    commit: str
    prefix: str


def commit_date(folder: str) -> str | None:
    """Return when the checked-out commit was made, in UTC (``2026-11-30T12:00:00Z``); ``None`` if git does not tell."""
    command = ["git", "log", "-1", "--format=%cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ"]
    environment = {**os.environ, "TZ": "UTC"}
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    text = done.stdout.decode("ascii", "replace").strip()
    return text if _DATE.fullmatch(text) else None


def work_tree(folder: str) -> WorkTree | None:
    """Return where a folder lies in git, ``None`` if it lies in no work tree with a commit."""
    command = ["git", "rev-parse", "--show-toplevel", "--verify", "HEAD"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    top, _, commit = os.fsdecode(done.stdout).removesuffix("\n").rpartition("\n")
    if not _COMMIT.fullmatch(commit):
        return None
    prefix = os.path.relpath(os.path.realpath(folder), os.path.realpath(top)).replace(os.sep, "/")
    return WorkTree(commit, "" if prefix == "." else prefix)
