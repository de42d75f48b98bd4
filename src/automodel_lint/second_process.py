"""Half of a cold run in a second process: what one process computes while another does the rest.

Only where that is cheap and safe: where the system can fork, has a second processor, and no other thread runs.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from typing import Any

from automodel_lint.source import Dep, SourceTree

Compute = Callable[[], Any]
Results = dict[str, tuple[Any, set[Dep]]]
_FEWEST = 12  # computations that are worth a process of their own


class SecondProcess:
    """Computes verdicts apart, from the moment it is made.

    ``units`` are computations of JSON data by key, of which it takes every other one; ``tree`` notes what each reads.

    Attributes:
        keys: what it computes; empty where the work is not worth it.
    """

    def __init__(self, tree: SourceTree, units: dict[str, Compute]):
        self.keys: frozenset[str] = frozenset()
        self._child = 0
        self._stream: Any = None
        if len(units) < _FEWEST or not _can_fork():
            return
        units = dict(list(units.items())[1::2])
        self.keys = frozenset(units)
        reading, writing = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            os.close(reading)
            _work(tree, units, writing)
        os.close(writing)
        self._stream = os.fdopen(reading, "rb")

    def results(self) -> Results:
        """Return what the second process found: each value with what was read for it; empty if there was none.

        A computation that failed there is missing, and so is everything if the process died.
        """
        if self._stream is None:
            return {}
        with self._stream:
            data = self._stream.read()
        os.waitpid(self._child, 0)
        try:
            found = json.loads(data)
            return {key: (value, {tuple(dep) for dep in deps}) for key, (value, deps) in found.items()}
        except (ValueError, TypeError, AttributeError):
            return {}


def _can_fork() -> bool:
    return hasattr(os, "fork") and (os.cpu_count() or 1) > 1 and threading.active_count() == 1


def _work(tree: SourceTree, units: dict[str, Compute], writing: int) -> None:
    """Compute, write what was found, and end without running anything that the parent registered for its end."""
    try:
        found = {}
        for key, compute in units.items():
            try:
                with tree.recording() as read:
                    value = compute()
            except Exception:  # the parent meets it again, and reports it
                continue
            found[key] = (value, sorted(read))
        with os.fdopen(writing, "wb") as stream:
            stream.write(json.dumps(found).encode())
    finally:
        os._exit(0)
