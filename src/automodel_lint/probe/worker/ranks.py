"""Two processes that are the ranks of one job: forked from this one, on this machine, over gloo."""

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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch.distributed as dist

from automodel_lint.probe.worker.errors import is_out_of_memory, one_line

POLL = 0.005  # seconds
GRACE = 2.0  # seconds that a rank has left once another has failed


class RanksFailed(Exception):
    """A rank raised, ended or hung. ``file`` is that of the code that raised, empty if none did."""

    def __init__(self, text: str, file: str = ""):
        super().__init__(text)
        self.file = file


def on_ranks(body: Callable[[int], Any], package: str, seconds: float, count: int = 2) -> list[Any]:
    """Run ``body(rank)`` in forked processes with a default process group; return what it returned, by rank.

    What it returns must be plain data. Every rank begins with what this process holds: models that exist are there,
    as copies. Nothing of this process changes.

    Raises:
        RanksFailed: if a rank raises, ends early, or is not done after ``seconds``.
    """
    with tempfile.TemporaryDirectory(prefix="probe-") as folder:
        sys.stdout.flush()
        sys.stderr.flush()
        gc.freeze()  # or a collection in a rank copies what the ranks share
        processes = {rank: _fork(rank, count, body, package, seconds, Path(folder)) for rank in range(count)}
        try:
            _wait(processes, Path(folder), seconds)
        finally:
            gc.unfreeze()
            for pid in processes.values():
                with contextlib.suppress(ProcessLookupError, ChildProcessError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
        return [json.loads((Path(folder) / f"{rank}.json").read_text(encoding="utf-8")) for rank in range(count)]


def _fork(rank: int, count: int, body: Callable[[int], Any], package: str, seconds: float, folder: Path) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        os.environ.update(
            RANK=str(rank),
            LOCAL_RANK=str(rank),
            WORLD_SIZE=str(count),
            LOCAL_WORLD_SIZE=str(count),
            MASTER_ADDR="127.0.0.1",
            MASTER_PORT="29500",  # what torchrun sets; nothing listens there, for the ranks meet in a file
            GLOO_SOCKET_IFNAME=next((name for _, name in socket.if_nameindex() if name.startswith("lo")), "lo"),
        )
        store = dist.FileStore(str(folder / "store"), count)
        timeout = datetime.timedelta(seconds=seconds)
        dist.init_process_group("gloo", store=store, rank=rank, world_size=count, timeout=timeout)
        _say(folder / f"{rank}.json", body(rank))
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
        raise RanksFailed(f"the two ranks were not done after {seconds:g} s; they may wait for each other")


def _first(failed: dict[int, int], folder: Path) -> RanksFailed:
    """The failure that came first: those of other ranks tend to be that the connection was lost."""
    said = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.failed")]
    if said:
        first = min(said, key=lambda failure: failure["at"])
        return RanksFailed(first["text"], first["file"])
    rank, status = next(iter(failed.items()))
    return RanksFailed(f"rank {rank} ended with exit code {status}")
