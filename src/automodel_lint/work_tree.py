"""What git says of the files that are linted."""

from __future__ import annotations

import os
import re
import subprocess
import time
from dataclasses import dataclass

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


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
    said = _git(folder, "log", "-1", "--no-show-signature", "--format=%ct")
    if said is None or not said.strip().isdecimal():
        return None
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(said)))


def added_since(folder: str, revision: str) -> frozenset[str] | None:
    """Return the absolute paths of the files of a work tree that a revision, or what it has in common, did not have.

    Files that git does not know yet count, renamed ones do not. ``None`` if git knows no such revision, or does not
    answer.
    """
    top = _git(folder, "rev-parse", "--show-toplevel")
    known = None if revision.startswith("-") else _git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^0")
    if top is None or known is None:
        return None
    base = (_git(folder, "merge-base", revision, "HEAD") or revision).strip()
    root = top.removesuffix("\n")
    changed = _git(root, "diff", "--no-ext-diff", "--name-only", "-z", "--find-renames", "--diff-filter=A", base, "--")
    unknown = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    if changed is None or unknown is None:
        return None
    return frozenset(os.path.realpath(os.path.join(root, name)) for name in (changed + unknown).split("\0") if name)


def _git(folder: str, *arguments: str) -> str | None:
    """What a git command says, ``None`` if it fails."""
    try:
        command = ["git", "-c", "core.fsmonitor=false", *arguments]  # no program that a configuration names
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return os.fsdecode(done.stdout)


def work_tree(folder: str) -> WorkTree | None:
    """Return where a folder lies in git, ``None`` if it lies in no work tree with a commit."""
    said = _git(folder, "rev-parse", "--show-toplevel", "--verify", "HEAD")
    if said is None:
        return None
    top, _, commit = said.removesuffix("\n").rpartition("\n")
    if not _COMMIT.fullmatch(commit):
        return None
    prefix = os.path.relpath(os.path.realpath(folder), os.path.realpath(top)).replace(os.sep, "/")
    return WorkTree(commit, "" if prefix == "." else prefix)
