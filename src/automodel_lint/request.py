"""What somebody asks to be linted, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


class UsageError(Exception):
    """What was asked for cannot be done; the text is one line for the person who asked."""


@dataclass
class Request:
    """What to lint and how; every field overrides the settings file where it is given.

    ``overlay`` holds unsaved buffers by absolute path. ``only`` limits the report to exactly these absolute paths
    (an editor's one file), where ``paths`` brings in whole model packages and the registry lines that name them.
    ``noqa`` is false where the caller applies ``# noqa`` comments itself. ``apart`` lets other processes help (where
    the caller owns the whole process, as the command line does). ``base_revision`` is what new files are new against.
    """

    paths: list[str] = field(default_factory=lambda: ["."])
    installed: str | None = None
    python: str | None = None
    select: list[str] | None = None
    extend_select: list[str] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)
    force_exclude: bool = False
    overlay: Mapping[str, bytes] = field(default_factory=dict)
    only: frozenset[str] | None = None
    cache: bool = True
    noqa: bool = True
    baseline: bool = True
    apart: bool = False
    base_revision: str | None = None
