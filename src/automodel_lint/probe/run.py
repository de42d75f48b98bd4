"""Starts the worker in the project's interpreter and hears what it says, whatever happens to it."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from automodel_lint.probe.protocol import FINDING, NOT_PROBED, CheckResult, ClassResult, Fault, Job
from automodel_lint.request import UsageError

WORKER = Path(__file__).with_name("worker") / "__main__.py"
READY_WITHIN = 300.0  # seconds for the imports that all classes share
RESTARTS = 2
Progress = Callable[[str, str | None, int], None]


class Run:
    """One job, with the results as they come in."""

    def __init__(self, job: Job, python: str, progress: Progress | None = None):
        self.job, self.python, self.progress = job, python, progress
        self.results = {target.key: ClassResult(target) for target in job.targets}
        self.under_way: dict[str, tuple[str, bool]] = {}  # by class: the check, and whether it is about dying
        self.ended: dict[str, str | None] = {}
        self.problem: str | None = None

    def results_of_all(self) -> list[ClassResult]:
        """Run the job and return a result for every class, with a line for every check.

        Raises:
            UsageError: if the interpreter cannot run the worker at all.
        """
        job, restarts = self.job, 0
        while True:
            said = self._one_worker(job)
            left = tuple(t for t in self.job.targets if t.key not in self.ended)
            if not left:
                break
            if "ready" not in said and not job.registry:
                raise UsageError(f"{self.python}: the probe cannot run there: {said['error']}")
            if "ready" in said:
                restarts += 1
                self._blame(job, said["error"])
                left = tuple(t for t in self.job.targets if t.key not in self.ended)
                if restarts > RESTARTS:
                    for target in left:
                        self._end(target.key, "the probe's own process ended time and again", False)
                    break
            # What all classes share could not be imported without dying: each class imports for itself.
            job = replace(job, targets=left, registry=job.registry if "ready" in said else "")
        return list(self.results.values())

    def _blame(self, job: Job, error: str) -> None:
        """The worker died with classes under way: those are not tried again."""
        for key in [key for key in self.under_way if key not in self.ended]:
            self._end(key, f"the probe's own process ended ({error})", False)

    # -- the worker -----------------------------------------------------------------------------------------------

    def _one_worker(self, job: Job) -> dict[str, str]:
        """Run a worker to its end; return ``ready`` if it got through its imports, ``error`` with its last words."""
        with tempfile.TemporaryDirectory(prefix="automodel-lint-") as folder:
            file, words = Path(folder, "job.json"), Path(folder, "stderr")
            file.write_text(json.dumps(job.to_json()), encoding="utf-8")
            with words.open("w", encoding="utf-8") as errors:
                worker = self._start(file, folder, errors)
                said: dict[str, str] = {}
                try:
                    for event in _events(worker, READY_WITHIN):
                        if "ready" in event:
                            said["ready"], self.problem = "yes", event["problem"]
                        else:
                            self._take(event)
                finally:
                    _stop(worker)
            said["error"] = _last_words(words, worker.returncode)
            return said

    def _start(self, file: Path, folder: str, errors: TextIO) -> subprocess.Popen[str]:
        environment = {**os.environ, "TMPDIR": folder}  # what killed children leave behind goes with it
        for name in ("PYTHONPATH", "PYTHONHOME"):  # the linter's environment is not the project's
            environment.pop(name, None)
        try:
            return subprocess.Popen(
                [self.python, str(WORKER), str(file)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
                cwd=folder,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise UsageError(f"{self.python}: no usable Python interpreter ({error.strerror})") from error

    # -- events ---------------------------------------------------------------------------------------------------

    def _take(self, event: dict[str, Any]) -> None:
        key = event["class"]
        result = self.results[key]
        if "facts" in event:
            result.facts.update(event["facts"])
        elif "result" in event:
            check = CheckResult.from_json(event["result"])
            result.checks[check.code] = check
        elif "ended" in event:
            result.seconds = event["seconds"]
            result.facts["output"] = event["output"]
            self._end(key, event["ended"], event["own"])
        elif "check" in event:
            self.under_way[key] = (event["check"], event["fatal"])
        else:
            self.under_way.setdefault(key, ("", False))
        self._show(key)

    def _show(self, key: str) -> None:
        if self.progress is not None and key in self.under_way:
            self.progress(key.rpartition(":")[2], self.under_way[key][0], len(self.ended))

    def _end(self, key: str, cause: str | None, own: bool) -> None:
        """Write down how a class ended: the check under way, and all that never came to be run."""
        self.ended[key] = cause
        result = self.results[key]
        at, fatal = self.under_way.get(key, ("", False))
        for code in self.job.checks:
            if code in result.checks:
                continue
            if cause is None:
                result.checks[code] = CheckResult(code, NOT_PROBED, "the probe has no such check")
            elif code == at and own and fatal:
                result.checks[code] = CheckResult(code, FINDING, cause, faults=[Fault({"error": cause})])
            else:
                where = "" if code == at or not at else f" in {at}"
                result.checks[code] = CheckResult(code, NOT_PROBED, f"{cause}{where}")


def _events(worker: subprocess.Popen[str], ready_within: float) -> Iterator[dict[str, Any]]:
    """Yield what a worker says until it ends; one that is not ready in time is not waited for."""
    assert worker.stdout is not None
    deadline: float | None = time.monotonic() + ready_within
    with selectors.DefaultSelector() as selector:
        selector.register(worker.stdout, selectors.EVENT_READ)
        while deadline is not None:
            if not selector.select(timeout=max(deadline - time.monotonic(), 0)):
                return
            line = worker.stdout.readline()
            if not line:
                return
            event = json.loads(line)
            yield event
            deadline = None if "ready" in event else deadline
    for line in worker.stdout:
        if line.endswith("\n"):
            yield json.loads(line)


def _stop(worker: subprocess.Popen[str]) -> None:
    """End a worker, and with it its children; one that is done already is only waited for."""
    try:
        worker.wait(timeout=0.5)
    except subprocess.TimeoutExpired:
        worker.terminate()
        try:
            worker.wait(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
    if worker.stdout is not None:
        worker.stdout.close()


def _last_words(file: Path, status: int) -> str:
    lines = [line.strip() for line in file.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else f"exit code {status}"
