"""Open documents by the checkouts that they lie in, each linted as far as that is known."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from automodel_lint.baseline import BaselineError
from automodel_lint.config import ConfigError, find, load
from automodel_lint.domain.checkout import CheckoutNotFound, locate
from automodel_lint.integrations.language_server.live import Live, Outcome
from automodel_lint.integrations.language_server.settings import Settings
from automodel_lint.request import Request, UsageError
from automodel_lint.source import encoded

_MOST = 3  # checkouts that are kept although none of their files is open
_PLACE = re.compile(r"(?P<path>.+?):(?P<line>[0-9]+): (?P<text>.*)", re.S)


@dataclass(frozen=True)
class Document:
    """An open file as it was when a run began."""

    uri: str
    path: str
    version: int | None
    text: str


@dataclass(frozen=True)
class Trouble:
    """Settings that cannot be used: what to say, and where, if the text tells."""

    text: str
    path: str | None = None
    line: int = 1
    message: str = ""

    @classmethod
    def of(cls, error: Exception) -> Trouble:
        """Return what an error of ours says."""
        text = " ".join(str(error).split())
        place = _PLACE.fullmatch(text)
        if place is None:
            return cls(text, message=text)
        return cls(text, os.path.abspath(place["path"]), int(place["line"]), place["text"])


@dataclass
class Job:
    """What one run is about: the open documents, the settings, and which file was edited last."""

    documents: Sequence[Document]
    settings: Settings
    edited: str
    looks_again: bool  # whether files may have come, gone or moved to another checkout


class Checkouts:
    """All checkouts with open files. Used by one thread."""

    def __init__(self) -> None:
        self._live: dict[str, Live] = {}
        self._roots: dict[str, str | None] = {}

    def lint(
        self, job: Job, tell: Callable[[Sequence[Document], Outcome], None], superseded: Callable[[], bool]
    ) -> list[Trouble]:
        """Lint the checkouts of the open documents, that of the edited one first. ``tell`` gets what is to be shown.

        Returns what is wrong with settings; what it concerns keeps what was shown. What ``Live.lint`` raises beside
        our own errors is raised.
        """
        troubles: list[Trouble] = []
        if job.looks_again:
            self._roots = {}
        by_root: dict[str, list[Document]] = {}
        outside = []
        for document in job.documents:
            try:
                root = self._root(os.path.dirname(document.path))
            except (ConfigError, UsageError) as error:
                troubles.append(Trouble.of(error))
                continue
            outside += [document] if root is None else []
            if root is not None:
                by_root.setdefault(root, []).append(document)
        if len(self._live) > _MOST:
            self._live = {root: live for root, live in self._live.items() if root in by_root}
        tell(outside, Outcome({document.path: [] for document in outside}, frozenset()))
        for root in sorted(by_root, key=lambda r: not job.edited.startswith(r + os.sep)):
            try:
                self._lint(root, by_root[root], job, tell, superseded)
            except CheckoutNotFound:
                self._roots = {}
            except (BaselineError, ConfigError, UsageError) as error:
                troubles.append(Trouble.of(error))
        return list(dict.fromkeys(troubles))

    def _lint(
        self,
        root: str,
        documents: Sequence[Document],
        job: Job,
        tell: Callable[[Sequence[Document], Outcome], None],
        superseded: Callable[[], bool],
    ) -> None:
        settings = job.settings
        request = Request(
            paths=[root],
            python=settings.python,
            select=settings.select,
            extend_select=settings.extend_select,
            ignore=settings.ignore,
            force_exclude=True,
            overlay={document.path: encoded(document.text) for document in documents},
            only=frozenset(document.path for document in documents),
        )
        live = self._live.setdefault(root, Live())
        tell(documents, live.lint(request, job.edited, lambda outcome: tell(documents, outcome), superseded))

    def _root(self, folder: str) -> str | None:
        """The checkout that a folder lies in."""
        if folder not in self._roots:
            try:
                start = folder if os.path.isdir(folder) else os.path.dirname(folder)
                self._roots[folder] = locate(start, load(find(start)).package).root
            except CheckoutNotFound:
                self._roots[folder] = None
        return self._roots[folder]
