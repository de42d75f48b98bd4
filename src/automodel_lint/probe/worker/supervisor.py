"""Runs one child process a class: a few at a time, with limits, so that whatever happens costs that class only."""

from __future__ import annotations

import json
import os
import resource
import selectors
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from automodel_lint.probe.protocol import Job, Target
from automodel_lint.probe.worker import environment

TAIL = 4000  # characters of a child's output that are kept, to tell why it died
OUR_FAULT = 70  # the exit code of a child in which the probe itself failed
FATAL = (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGBUS, signal.SIGILL)  # its own doing


def supervise(job_file: Path, events: TextIO) -> None:
    """Probe every class of a job and write events, a JSON object a line.

    ``{"ready": seconds}`` once the imports are done; ``{"class": key, …}`` with whatever a child says; at its end
    ``{"class": key, "ended": cause, "own": …, "output": …, "seconds": …}``, where ``cause`` is ``None`` for a child
    that did all it had to, and ``own`` says whether its code brought the end about.
    """
    job = Job.from_json(json.loads(job_file.read_text(encoding="utf-8")))
    environment.prepare()
    sys.path[:0] = job.path
    started = time.monotonic()
    problem = _import_once(job)
    _Supervisor(job, events).run(time.monotonic() - started, problem)


def _import_once(job: Job) -> str | None:
    """Import what all classes need; return what is wrong with it, in words."""
    import torch

    torch.set_num_threads(1)
    from automodel_lint.probe.worker.checks import checks

    checks()
    import importlib

    problem = None
    if job.registry:
        try:
            importlib.import_module(job.registry)
        except Exception as error:  # each class says so again, in its own child
            problem = f"{type(error).__name__}: {error}"
    with suppress(Exception):  # what references are made with: seconds for every child that has to import it
        for module in ("models.auto.modeling_auto", "initialization"):
            importlib.import_module(f"transformers.{module}")
    return problem


@dataclass
class _Child:
    target: Target
    pid: int
    pipes: dict[int, str]
    started: float = field(default_factory=time.monotonic)
    partial: bytes = b""
    output: str = ""
    finished: bool = False
    killed: str | None = None


class _Supervisor:
    """Starts, hears and buries the children."""

    def __init__(self, job: Job, events: TextIO):
        self.job, self.events = job, events
        self.waiting = list(job.targets)
        self.running: list[_Child] = []
        self.selector = selectors.DefaultSelector()

    def run(self, seconds: float, problem: str | None) -> None:
        """Work through the job; whatever ends this process ends its children."""
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        self._say({"ready": round(seconds, 3), "problem": problem})
        try:
            while self.waiting or self.running:
                while self.waiting and len(self.running) < self.job.jobs:
                    self.running.append(self._start(self.waiting.pop(0)))
                self._hear()
                for child in list(self.running):
                    self._look_after(child)
        finally:
            for child in self.running:
                _kill(child.pid)

    def _say(self, event: dict[str, Any]) -> None:
        self.events.write(json.dumps(event) + "\n")
        self.events.flush()

    def _start(self, target: Target) -> _Child:
        said, saying = os.pipe()
        printed, printing = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            _be_child(self.job, target, saying, printing, [said, printed, self.events.fileno()])
        os.close(saying)
        os.close(printing)
        child = _Child(target, pid, {said: "said", printed: "printed"})
        for pipe in child.pipes:
            os.set_blocking(pipe, False)
            self.selector.register(pipe, selectors.EVENT_READ, child)
        self._say({"class": target.key, "started": True})
        return child

    def _hear(self) -> None:
        for key, _ in self.selector.select(timeout=0.05):
            self._read(key.data, key.fd)

    def _read(self, child: _Child, pipe: int) -> None:
        try:
            data = os.read(pipe, 1 << 16)
        except BlockingIOError:
            return
        if not data:
            self._close(child, pipe)
        elif child.pipes[pipe] == "printed":
            child.output = (child.output + data.decode("utf-8", "replace"))[-TAIL:]
        else:
            *lines, child.partial = (child.partial + data).split(b"\n")
            for line in lines:
                self._relay(child, line)

    def _relay(self, child: _Child, line: bytes) -> None:
        with suppress(ValueError):  # code under the probe that found the pipe and wrote into it
            event = json.loads(line)
            child.finished = child.finished or "finished" in event
            self._say({"class": child.target.key, **event})

    def _close(self, child: _Child, pipe: int) -> None:
        self.selector.unregister(pipe)
        os.close(pipe)
        del child.pipes[pipe]

    def _look_after(self, child: _Child) -> None:
        seconds = time.monotonic() - child.started
        ended, status = os.waitpid(child.pid, os.WNOHANG)
        if not ended:
            if seconds > self.job.timeout and child.killed is None:
                child.killed = f"stopped after {self.job.timeout:g} s"
                _kill(child.pid)
            return
        _kill(child.pid)  # what it started and left behind
        for pipe in list(child.pipes):
            while pipe in child.pipes and self.selector.get_key(pipe) and _has_data(pipe):
                self._read(child, pipe)
        for pipe in list(child.pipes):
            self._close(child, pipe)
        self.running.remove(child)
        cause, own = _cause(child, os.waitstatus_to_exitcode(status))
        end = {"ended": cause, "own": own, "output": child.output.strip()[-TAIL:], "seconds": round(seconds, 3)}
        self._say({"class": child.target.key, **end})


def _has_data(pipe: int) -> bool:
    with selectors.DefaultSelector() as one:
        one.register(pipe, selectors.EVENT_READ)
        return bool(one.select(timeout=0))


def _cause(child: _Child, status: int) -> tuple[str | None, bool]:
    """Why a child ended, ``None`` if it was done; and whether that was its own code's doing."""
    if child.finished:
        return None, False
    if child.killed:
        return child.killed, False
    if status == OUR_FAULT:
        return f"the probe itself failed: {child.output.strip().rpartition(chr(10))[2]}", False
    if status >= 0:
        return f"the process ended itself with exit code {status}", True
    name = signal.Signals(-status).name if -status in list(signal.Signals) else str(-status)
    return f"the process was killed by {name}", -status in FATAL


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _be_child(job: Job, target: Target, saying: int, printing: int, foreign: list[int]) -> None:
    """Probe one class and never return."""
    try:
        os.setsid()
        _die_with_parent()
        for pipe in foreign:
            os.close(pipe)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, place in ((nothing, 0), (printing, 1), (printing, 2)):
            os.dup2(source, place)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (job.memory, job.memory))
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with os.fdopen(saying, "w", encoding="utf-8") as stream:
            say = _speaker(stream)
            from automodel_lint.probe.worker.one_class import probe

            probe(job, target, say)
            say({"finished": True})
    except BaseException:
        traceback.print_exc()
        os._exit(OUR_FAULT)
    os._exit(0)


def _speaker(stream: TextIO) -> Callable[[dict[str, Any]], None]:
    def say(event: dict[str, Any]) -> None:
        stream.write(json.dumps(event) + "\n")
        stream.flush()

    return say


def _die_with_parent() -> None:
    """Ask the kernel to end this process when the supervisor ends, however that happens (Linux only)."""
    with suppress(OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
