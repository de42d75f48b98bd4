"""Processes that are the ranks of one job: forked from this one, on this machine, over gloo."""

from __future__ import annotations

import contextlib
import datetime
import gc
import json
import os
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch.distributed as dist

from automodel_lint.probe.worker.errors import is_out_of_memory, one_line

Body = Callable[[int], Any]

POLL = 0.005  # seconds
GRACE = 2.0  # seconds that a rank has left once another has failed


class RanksFailed(Exception):
    """A rank raised, ended or hung. ``file`` is that of the code that raised, empty if none did."""

    def __init__(self, text: str, file: str = "", hung: bool = False):
        super().__init__(text)
        self.file, self.hung = file, hung


def on_ranks(bodies: Sequence[Body], package: str, seconds: float, count: int = 2) -> list[list[Any] | RanksFailed]:
    """Run ``body(rank)`` of each body in turn, in forked processes with a default process group.

    Returns, for each body, what it returned by rank (which must be plain data), or the failure: a rank raised, ended
    early, or was not done after ``seconds``. Every rank begins with what this process holds: models that exist are
    there, as copies. Nothing of this process changes.
    """
    results: list[list[Any] | RanksFailed] = []
    while len(results) < len(bodies):  # ranks of which one has failed are not used again
        results += _on_new_ranks(bodies[len(results) :], package, seconds, count)
        last = results[-1]
        if isinstance(last, RanksFailed) and last.hung:  # once is long enough
            results += [last] * (len(bodies) - len(results))
    return results


def _on_new_ranks(bodies: Sequence[Body], package: str, seconds: float, count: int) -> list[list[Any] | RanksFailed]:
    """As :func:`on_ranks`, up to and with the first failure."""
    failure = None
    with tempfile.TemporaryDirectory(prefix="probe-") as folder:
        sys.stdout.flush()
        sys.stderr.flush()
        gc.freeze()  # or a collection in a rank copies what the ranks share
        processes = {rank: _fork(rank, count, bodies, package, seconds, Path(folder)) for rank in range(count)}
        try:
            _wait(processes, Path(folder), seconds * len(bodies))
        except RanksFailed as error:
            failure = error
        finally:
            gc.unfreeze()
            for pid in processes.values():
                with contextlib.suppress(ProcessLookupError, ChildProcessError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
        results: list[list[Any] | RanksFailed] = []
        for index in range(len(bodies)):
            said = [Path(folder) / f"{rank}.{index}.json" for rank in range(count)]
            if not all(path.exists() for path in said):
                return [*results, failure or RanksFailed("a rank ended early")]
            results.append([json.loads(path.read_text(encoding="utf-8")) for path in said])
        return results


def _fork(rank: int, count: int, bodies: Sequence[Body], package: str, seconds: float, folder: Path) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        _join(rank, count, seconds, folder / "store")
        for index, body in enumerate(bodies):
            _say(folder / f"{rank}.{index}.json", body(rank))
        status = 0
    except BaseException as error:
        traceback.print_exc()
        text = "not enough memory" if is_out_of_memory(error) else one_line(error, package)
        file = traceback.extract_tb(error.__traceback__)[-1].filename
        _say(folder / f"{rank}.failed", {"text": text, "file": file, "at": time.monotonic()})
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    return 0


def _join(rank: int, count: int, seconds: float, store: Path) -> None:
    """Become a rank: with the variables that torchrun sets, though the ranks meet in a file and not at the port."""
    loopback = next((name for _, name in socket.if_nameindex() if name.startswith("lo")), "lo")
    os.environ.update(
        RANK=str(rank),
        LOCAL_RANK=str(rank),
        WORLD_SIZE=str(count),
        LOCAL_WORLD_SIZE=str(count),
        MASTER_ADDR="127.0.0.1",
        MASTER_PORT="29500",
        GLOO_SOCKET_IFNAME=loopback,
    )
    timeout = datetime.timedelta(seconds=seconds)
    dist.init_process_group(
        "gloo", store=dist.FileStore(str(store), count), rank=rank, world_size=count, timeout=timeout
    )


def _say(path: Path, data: Any) -> None:
    """Write so that a reader finds all of it or nothing."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(data), encoding="utf-8")
    partial.rename(path)


def _wait(processes: dict[int, int], folder: Path, seconds: float) -> None:
    """Wait until every rank is done; ranks that are reaped leave ``processes``."""
    end = time.monotonic() + seconds
    failed: dict[int, int] = {}
    while processes:
        for rank, pid in list(processes.items()):
            reaped, status = os.waitpid(pid, os.WNOHANG)
            if reaped:
                del processes[rank]
                if status:
                    failed[rank] = os.waitstatus_to_exitcode(status)
                    end = min(end, time.monotonic() + GRACE)
        if time.monotonic() > end:
            break
        time.sleep(POLL)
    if failed:
        raise _first(failed, folder)
    if processes:
        raise RanksFailed(f"the ranks were not done after {seconds:g} s; they may wait for each other", hung=True)


def _first(failed: dict[int, int], folder: Path) -> RanksFailed:
    """The failure that came first: those of other ranks tend to be that the connection was lost."""
    said = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.failed")]
    if said:
        first = min(said, key=lambda failure: failure["at"])
        return RanksFailed(first["text"], first["file"])
    rank, status = next(iter(failed.items()))
    return RanksFailed(f"rank {rank} ended with exit code {status}")
