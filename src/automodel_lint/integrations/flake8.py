"""The flake8 plug-in: findings of the one file that flake8 (or an editor behind it) looks at.

The project around the file is read from disk, the file itself as flake8 has it: an unsaved buffer is linted as it
stands. Settings come from our own configuration; ``# noqa`` and select/ignore are flake8's business.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any, ClassVar

from automodel_lint import __version__
from automodel_lint.baseline import BaselineError
from automodel_lint.config import ConfigError, find, load
from automodel_lint.domain.checkout import CheckoutNotFound, locate
from automodel_lint.findings import Finding
from automodel_lint.request import Request, UsageError
from automodel_lint.session import Session
from automodel_lint.source import decoded, encoded

_FRESH = 1.0  # seconds for which the verdict on a checkout is taken to hold while flake8 goes from file to file


class Plugin:
    """What flake8 loads; one instance a file."""

    name = "automodel-lint"
    version = __version__
    _known: ClassVar[dict[str, tuple[float, dict[str, list[Finding]]]]] = {}

    def __init__(self, tree: Any, filename: str, lines: list[str]):
        self.filename, self.text = filename, "".join(lines)

    def run(self) -> Iterator[tuple[int, int, str, type]]:
        """Yield ``(line, column from 0, text, plug-in)`` for every finding in the file; never raises."""
        try:
            found = [(f.span.line, f.span.column - 1, f"{f.code} {f.message}") for f in self._findings()]
        except CheckoutNotFound:
            return
        except (BaselineError, ConfigError, UsageError) as error:
            found = [(1, 0, f"NAM000 the settings of automodel-lint cannot be used: {error}")]
        except Exception as error:
            text = f"NAM000 automodel-lint failed on this file ({type(error).__name__}: {error}): please report it"
            found = [(1, 0, text)]
        for line, column, text in found:
            yield line, column, " ".join(text.split()), type(self)

    def _findings(self) -> list[Finding]:
        path = os.path.abspath(self.filename)
        if self.filename in ("-", "stdin") and not os.path.exists(path):
            return []
        checkout = locate(path, load(find(os.path.dirname(path))).package)
        if self._is_saved(path):
            return self._of_checkout(checkout.root).get(path, [])
        request = Request(
            paths=[checkout.root],
            overlay={path: encoded(self.text)},
            only=frozenset((path,)),
            force_exclude=True,
            noqa=False,
        )
        return Session(request).run().findings

    def _is_saved(self, path: str) -> bool:
        try:
            with open(path, "rb") as stream:
                on_disk = decoded(stream.read())
        except OSError:
            return False
        return on_disk.replace("\r\n", "\n") == self.text.removeprefix("\ufeff").replace("\r\n", "\n")

    def _of_checkout(self, root: str) -> dict[str, list[Finding]]:
        """Lint the whole checkout once for all its files, and look again when that is a while ago."""
        known = self._known.get(root)
        if known is not None and time.monotonic() - known[0] < _FRESH:
            return known[1]
        report = Session(Request(paths=[root], noqa=False)).run()
        by_path: dict[str, list[Finding]] = {}
        for finding in report.findings:
            by_path.setdefault(report.tree.absolute(finding.path), []).append(finding)
        self._known[root] = (time.monotonic(), by_path)
        return by_path
