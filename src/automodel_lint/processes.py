"""A cold run in several processes, each of which takes the next piece of work when it has done with one.

Only where that is cheap and safe: where the system can fork, has a second processor, and no other thread runs.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from automodel_lint.source import Dep, SourceTree

Compute = Callable[[], Any]
Results = dict[str, tuple[Any, set[Dep]]]
_FEWEST = 12  # computations that are worth a process of their own
_MOST = 4  # processes; more would mostly read again what the others have read
_PIECES = 250  # a piece is taken by its number, which is one byte: no two processes can get the same


class Processes:
    """Shares out computations of JSON data, from the moment it is made.

    ``pieces`` are computations by key, each piece done by one process in one go; ``tree`` notes what each reads.
    Whoever made it takes its own share with :meth:`mine`, and then asks for the :meth:`results` of the others.

    Attributes:
        keys: what is shared out.
    """

    def __init__(self, tree: SourceTree, pieces: Sequence[dict[str, Compute]]):
        self._pieces = [[*pieces[at::_PIECES]] for at in range(min(len(pieces), _PIECES))]
        self.keys = frozenset(key for piece in pieces for key in piece)
        self._streams: list[Any] = []
        self._children: list[int] = []
        helpers = min(os.cpu_count() or 1, _MOST, len(self._pieces)) - 1
        if sum(map(len, pieces)) < _FEWEST or helpers < 1 or not _can_fork():
            self._numbers = -1
            return
        self._numbers, writing = os.pipe()
        os.write(writing, bytes(range(len(self._pieces))))
        os.close(writing)  # so that the last number is the end
        for _ in range(helpers):
            self._start(tree)

    def _start(self, tree: SourceTree) -> None:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _work(tree, self._taken(), writing)
        os.close(writing)
        self._children.append(child)
        self._streams.append(os.fdopen(reading, "rb"))

    def mine(self) -> Iterator[str]:
        """Yield the keys that nobody else has taken, each when its turn has come."""
        for key, _ in self._taken():
            yield key

    def _taken(self) -> Iterator[tuple[str, Compute]]:
        if self._numbers < 0:
            yield from (unit for pieces in self._pieces for piece in pieces for unit in piece.items())
            return
        while number := os.read(self._numbers, 1):
            yield from (unit for piece in self._pieces[number[0]] for unit in piece.items())

    def results(self) -> Results:
        """Return what the other processes found: each value with what was read for it; empty if there are none.

        A computation that failed there is missing, and so is all that a process had taken which died.
        """
        found: Results = {}
        for child, stream in zip(self._children, self._streams, strict=True):
            with stream:
                data = stream.read()
            os.waitpid(child, 0)
            try:
                made = json.loads(data)
                found |= {key: (value, {tuple(dep) for dep in deps}) for key, (value, deps) in made.items()}
            except (ValueError, TypeError, AttributeError):
                continue
        if self._numbers >= 0:
            os.close(self._numbers)
            self._numbers = -1
            self._pieces, self._streams, self._children = [], [], []
        return found


def _can_fork() -> bool:
    return hasattr(os, "fork") and threading.active_count() == 1


def _work(tree: SourceTree, units: Iterator[tuple[str, Compute]], writing: int) -> None:
    """Compute, write what was found, and end without running anything that the parent registered for its end."""
    try:
        found = {}
        for key, compute in units:
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
