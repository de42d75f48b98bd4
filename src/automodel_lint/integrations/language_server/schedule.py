"""When is linted: a moment after the last key, in a thread of its own, and anew as soon as something else is known."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from automodel_lint.integrations.language_server.files import Superseded

FIRST = 0.02  # seconds after a key that was pressed out of a rest
TYPING = 0.1  # seconds after a key that followed another
_REST = 0.4
_UNTIDY = 20_000  # objects made since the last collection that are worth one
_COLLECTIONS = 400  # of what is new, before everything is looked through


class Schedule:
    """Runs ``work`` with what ``snapshot`` returned, and whether it has been superseded meanwhile.

    ``snapshot`` is called in the loop's thread, ``work`` in another one, never twice at a time.
    """

    def __init__(self, snapshot: Callable[[], Any], work: Callable[[Any, Callable[[], bool]], None]):
        self._snapshot, self._work = snapshot, work
        self._thread = ThreadPoolExecutor(1, "automodel-lint")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._generation = self._done = 0
        self._last = 0.0
        self._rest = asyncio.Event()
        self._collector = _Collector()

    def ask(self, delay: float | None = None) -> None:
        """Lint soon; what runs is superseded. Without a ``delay``, it is a key that was pressed."""
        self._loop = loop = asyncio.get_running_loop()
        self._generation += 1
        self._rest.clear()
        if delay is None:
            delay = FIRST if loop.time() - self._last > _REST else TYPING
            self._last = loop.time()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_later(delay, self._start)

    async def rest(self, seconds: float) -> bool:
        """Wait until all is linted that was asked for; tell whether that was so in time."""
        if self._generation == self._done:
            return True
        try:
            await asyncio.wait_for(self._rest.wait(), seconds)
        except asyncio.TimeoutError:
            return False
        return True

    def call(self, function: Callable[..., None], *arguments: Any) -> None:
        """Call a function in the loop's thread, from that of the work."""
        assert self._loop is not None
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(function, *arguments)

    def stop(self) -> None:
        """End what runs, start nothing more."""
        self._generation += 1
        if self._timer is not None:
            self._timer.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _start(self) -> None:
        self._thread.submit(self._run, self._generation, self._snapshot())

    def _run(self, generation: int, snapshot: Any) -> None:
        if generation != self._generation:
            return
        try:
            self._work(snapshot, lambda: generation != self._generation)
        except Superseded:
            return
        finally:
            self.call(self._finished, generation)
        self._collector.tidy()

    def _finished(self, generation: int) -> None:
        self._done = max(self._done, generation)
        if self._done == self._generation:
            self._rest.set()


class _Collector:
    """Collects cycles when nothing else is to be done: in the middle of a run, that would be a third of its time.

    What has outlived a collection (syntax trees, mostly) is not looked through again each time.
    """

    def __init__(self) -> None:
        self._times = 0

    def tidy(self) -> None:
        """Collect, if there is something to collect."""
        gc.disable()
        if gc.get_count()[0] < _UNTIDY:
            return
        self._times += 1
        if self._times % _COLLECTIONS == 0:
            gc.unfreeze()
        gc.collect()
        gc.freeze()
