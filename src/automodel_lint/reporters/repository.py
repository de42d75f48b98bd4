"""Where the files of a report lie in the repository: what code hosts call them."""

from __future__ import annotations

import os
from dataclasses import dataclass

from automodel_lint.report import Report
from automodel_lint.work_tree import work_tree


def repository_address() -> str | None:
    """Return the address of the repository on its code host, where CI tells."""
    server, name = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    return f"{server}/{name}" if server and name else os.environ.get("CI_PROJECT_URL")


@dataclass(frozen=True)
class Repository:
    """The folder that paths are told from, and the report's root.

    ``known`` is whether that folder is a repository, or what CI calls so; else it is the root. ``commit`` is what is
    checked out, where git tells.
    """

    top: str
    root: str
    known: bool
    commit: str | None = None

    @classmethod
    def of(cls, report: Report) -> Repository:
        """Return the repository of a report: what git says, else the folder that GitHub or GitLab checked out into.

        Git comes first since a checkout may be told to go into a folder of the workspace.
        """
        root = os.path.realpath(report.root)
        place = work_tree(root)
        if place is not None:
            depth = len(place.prefix.split("/")) if place.prefix else 0
            top = os.path.normpath(os.path.join(root, *[os.pardir] * depth))
            return cls(top, root, True, place.commit)
        for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
            folder = os.path.realpath(os.environ[name]) if os.environ.get(name) else None
            if folder is not None and (root + os.sep).startswith(folder.rstrip(os.sep) + os.sep):
                return cls(folder, root, True)
        return cls(root, root, False)

    def path(self, path: str) -> str:
        """Return a finding's path relative to the repository, with forward slashes; absolute if it lies outside."""
        if os.path.isabs(path):
            folder, name = os.path.split(path)
            absolute = os.path.join(os.path.realpath(folder), name)
        else:
            absolute = os.path.normpath(os.path.join(self.root, path))
        if not absolute.startswith(self.top.rstrip(os.sep) + os.sep):
            return absolute.replace(os.sep, "/")
        return os.path.relpath(absolute, self.top).replace(os.sep, "/")
