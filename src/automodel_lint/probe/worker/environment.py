"""The machine that probed code believes it runs on: no GPU, no network, nothing compiled, nothing remote trusted."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

SETTINGS = {
    "TORCHDYNAMO_DISABLE": "1",  # ``@torch.compile`` costs more than all else together
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "false",
    "CUDA_VISIBLE_DEVICES": "",
    "OMP_NUM_THREADS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


def prepare() -> None:
    """Set what libraries read while they are imported; to be called before torch is."""
    os.environ.update(SETTINGS)
    sys.dont_write_bytecode = True


@dataclass
class Observed:
    """What code under the probe asked for and did not get, with the lines of the package that asked.

    Each entry is ``(file, line, what)``; ``file`` is empty if no line of the package did.
    """

    package: str
    devices: list[tuple[str, int, str]] = field(default_factory=list)
    network: list[tuple[str, int, str]] = field(default_factory=list)

    def note(self, where: list[tuple[str, int, str]], what: str) -> None:
        """Write down that the running code asked for something."""
        inside = f"{os.sep}{self.package}{os.sep}"
        frames = [f for f in traceback.extract_stack() if inside in f.filename]
        place = (frames[-1].filename, frames[-1].lineno or 1) if frames else ("", 1)
        if (*place, what) not in where:
            where.append((*place, what))


class NetworkRefused(OSError):
    """What code under the probe gets that opens a connection."""


@contextlib.contextmanager
def no_network(observed: Observed) -> Iterator[None]:
    """Where every connection to another machine is refused and written down; this machine may be talked to."""
    connect, resolve = socket.socket.connect, socket.getaddrinfo

    def refuse(host: Any) -> None:
        observed.note(observed.network, str(host))
        raise NetworkRefused(f"the probe has no network; asked for {host}")

    def connecting(self: socket.socket, address: Any) -> Any:
        if self.family != getattr(socket, "AF_UNIX", None) and not _is_here(address[0]):
            refuse(address[0])
        return connect(self, address)

    def resolving(host: Any, *arguments: Any, **named: Any) -> Any:
        if not _is_here(host):
            refuse(host)
        return resolve(host, *arguments, **named)

    with patch.object(socket.socket, "connect", connecting), patch.object(socket, "getaddrinfo", resolving):
        yield


def _is_here(host: Any) -> bool:
    return host in (None, "", "localhost", "::1", "0.0.0.0", socket.gethostname()) or str(host).startswith("127.")


@contextlib.contextmanager
def on_cpu(observed: Observed) -> Iterator[None]:
    """Where code that asks for a CUDA device gets the CPU, and the asking is written down."""
    import torch
    from torch.overrides import TorchFunctionMode

    def is_cuda(value: Any) -> bool:
        if isinstance(value, torch.device):
            return value.type == "cuda"
        return isinstance(value, str) and value.partition(":")[0] == "cuda"

    def moved(value: Any) -> Any:
        if not is_cuda(value):
            return value
        observed.note(observed.devices, f"device {value}")
        return torch.device("cpu")

    class CpuForCuda(TorchFunctionMode):
        def __torch_function__(self, func: Callable, _: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
            if func is torch.device:
                return func(*args, **(kwargs or {}))
            return func(*map(moved, args), **{name: moved(value) for name, value in (kwargs or {}).items()})

    def current_device() -> int:
        observed.note(observed.devices, "torch.cuda.current_device()")
        return 0

    with patch.object(torch.cuda, "current_device", current_device), CpuForCuda():
        yield
