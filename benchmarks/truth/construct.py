"""Construct every registered class on a tiny configuration and write down the names of its tensors.

    python -m truth.construct OUT.json [--arch A ...] [--jobs 2] [--timeout 120]

Run in the folder ``benchmarks``, by an interpreter that has torch, transformers and nemo-automodel; the linter need not
be installed there. Configurations and construction are those of the probe's worker, see
``automodel_lint.probe.worker``. The registry is imported once; then each class is constructed on the CPU in a forked
child of its own, with limits on time and memory, so that a crash or a hang costs that class only. The JSON holds, for
each class and variant, its tiny configuration, its parameters and buffers (name, shape, dtype) and which names share
one tensor.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import importlib.util
import inspect
import json
import os
import platform
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORKER = Path(__file__).resolve().parents[2] / "src" / "automodel_lint" / "probe" / "worker"
PACKAGE, REGISTRY = "nemo_automodel", "nemo_automodel._transformers.registry"


def _adopt() -> None:
    """Make the probe's worker importable, as it does by itself when it is started as a script."""
    spec = importlib.util.spec_from_file_location("_worker_main", WORKER / "__main__.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if importlib.util.find_spec("automodel_lint") is None:
        module.adopt()


_adopt()
from automodel_lint.probe.worker import environment  # noqa: E402

environment.prepare()  # before torch and transformers are imported: nothing is compiled, fetched or run from a hub

import torch  # noqa: E402

from automodel_lint.probe.protocol import Job, Target  # noqa: E402
from automodel_lint.probe.worker import building  # noqa: E402
from automodel_lint.probe.worker.checks import NotProbed  # noqa: E402
from automodel_lint.probe.worker.errors import one_line  # noqa: E402
from automodel_lint.probe.worker.naming import described  # noqa: E402
from automodel_lint.probe.worker.subject import Subject  # noqa: E402
from automodel_lint.probe.worker.tiny_config import merge, switch_on  # noqa: E402

MEMORY_LIMIT = 8 << 30
PACKAGES = ("torch", "transformers", "nemo-automodel", "einops")
DTYPE = torch.bfloat16  # what the product constructs under when nobody asks for another
Describe = Callable[[torch.nn.Module], dict[str, Any]]


@dataclass(frozen=True)
class Registered:
    """A registered class and all architecture names that lead to it."""

    module: str
    name: str
    architectures: tuple[str, ...]


def registered_classes(only: list[str] | None = None) -> list[Registered]:
    """The classes of the installed registry in its order; ``only`` restricts to those with one of these names."""
    from nemo_automodel._transformers.registry import MODEL_ARCH_MAPPING

    names: dict[tuple[str, str], list[str]] = {}
    for architecture, entry in MODEL_ARCH_MAPPING.items():
        names.setdefault((entry[0], entry[1]), []).append(architecture)
    found = [Registered(module, name, tuple(architectures)) for (module, name), architectures in names.items()]
    return [entry for entry in found if not only or set(only) & set(entry.architectures)]


# --- one class, in a child -----------------------------------------------------------------------------------------


def probe(entry: Registered, variants: dict[str, dict[str, Any]], describe: Describe) -> Iterator[dict[str, Any]]:
    """The default variant of a class, then those variants that change a name."""
    target = Target(entry.module, entry.name, entry.architectures)
    subject = Subject(Job(PACKAGE, PACKAGE, (target,), (), registry=REGISTRY), target, environment.Observed(PACKAGE))
    default = _variant(entry, subject, subject.recipe, "default", {}, describe)
    yield default
    if default["status"] != "constructed":
        return
    seen = [_names(default)]
    own, recipe = subject.recipe.get("variants", {}), subject.recipe
    tried = [(name, merge(recipe, changes), {}) for name, changes in own.items()]
    tried += [(name, recipe, fields) for name, fields in variants.items()]
    for name, changed, switches in tried:
        record = _variant(entry, subject, changed, name, switches, describe)
        # a switch that a class refuses, or that it does not know, says nothing about it
        if (record["status"] == "constructed" or name in own) and _names(record) not in seen:
            seen.append(_names(record))
            yield record


def _names(record: dict[str, Any]) -> set[str]:
    return {*record["parameters"], *record["buffers"]}


def _variant(
    entry: Registered,
    subject: Subject,
    recipe: dict[str, Any],
    variant: str,
    switches: dict[str, Any],
    describe: Describe,
) -> dict[str, Any]:
    record = _record(entry, variant) | {"stand_ins": recipe.get("stand_ins", [])}
    started, how = time.perf_counter(), []
    try:
        with environment.no_network(subject.observed):
            cls, config_class = subject.cls, subject.config_class
            config = building.tiny_config(cls, config_class, entry.architectures, recipe)
            switch_on(config, switches)
            known = inspect.signature(cls.__init__).parameters  # a class may take the switch as an argument instead
            taken = {name: value for name, value in switches.items() if name in known}
            switched = {**recipe, "arguments": taken | recipe.get("arguments", {})}
            model = building.construct(cls, config, switched, DTYPE, PACKAGE, subject.observed, how)
        record |= {"config_class": f"{config_class.__module__}.{config_class.__qualname__}"}
        record |= {"config": json_safe(config.to_dict()), "status": "constructed", "reason": None}
        record |= {"how": ", ".join(how) or "Cls(config)"} | describe(model)
    except NotProbed as why:
        record["reason"] = str(why)
    except Exception as error:
        record["reason"] = one_line(error, PACKAGE)
    record["seconds"] = round(time.perf_counter() - started, 3)
    return record


def _record(entry: Registered, variant: str) -> dict[str, Any]:
    return {
        "architectures": list(entry.architectures),
        "module": entry.module,
        "class": entry.name,
        "variant": variant,
        "status": "failed",
        "reason": None,
        "how": None,
        "seconds": 0.0,
        "config_class": None,
        "config": {},
        "parameters": {},
        "buffers": {},
        "aliases": [],
        "stand_ins": [],
    }


def json_safe(value: Any) -> Any:
    """The value with everything that JSON cannot say as text."""
    if isinstance(value, dict):
        return {str(name): json_safe(item) for name, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [json_safe(item) for item in value]
    is_plain = value is None or isinstance(value, (bool, int, str))
    return value if is_plain or (isinstance(value, float) and abs(value) < float("inf")) else str(value)


# --- all classes, in the parent ------------------------------------------------------------------------------------


def run_all(entries: list[Registered], jobs: int, timeout: float, describe: Describe) -> list[dict[str, Any]]:
    """Probe every class in a forked child, ``jobs`` at a time; records in the order of ``entries``."""
    waiting, running = list(enumerate(entries)), {}
    variants = building.shipped()["variants"]
    results: dict[int, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory(prefix="truth-") as folder:
        while waiting or running:
            while waiting and len(running) < jobs:
                index, entry = waiting.pop(0)
                path = Path(folder, f"{index}.jsonl")
                running[_fork(entry, variants, path, describe)] = (index, entry, path, time.monotonic())
            for pid, (index, entry, path, started) in list(running.items()):
                ended = _ended(pid, time.monotonic() - started, timeout)
                if ended is not None:
                    results[index] = _collect(entry, path, ended)
                    del running[pid]
            time.sleep(0.01)
    return [record for index in sorted(results) for record in results[index]]


def _fork(entry: Registered, variants: dict[str, Any], path: Path, describe: Describe) -> int:
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT))
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        torch.set_num_threads(1)
        torch.manual_seed(0)
        with path.open("w", encoding="utf-8") as file:
            for record in probe(entry, variants, describe):
                file.write(json.dumps(record) + "\n")
                file.flush()  # what is known stays known if the next variant kills the child
    finally:
        os._exit(0)


def _ended(pid: int, seconds: float, timeout: float) -> str | None:
    """How the child has ended, None while it runs; a late child is killed."""
    ended, status = os.waitpid(pid, os.WNOHANG)
    if ended:
        return f"the child ended with status {os.waitstatus_to_exitcode(status)} and no result"
    if seconds < timeout:
        return None
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return f"stopped after {timeout:g} s"


def _collect(entry: Registered, path: Path, ended: str) -> list[dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    records = [json.loads(line) for line in lines]
    return records or [_record(entry, "default") | {"reason": ended}]


def versions() -> dict[str, str | None]:
    """Python's version and those of the packages that decide what is constructed."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def truth(
    only: list[str] | None = None, jobs: int = 2, timeout: float = 120, describe: Describe = described
) -> dict[str, Any]:
    """What the installed classes (``only`` those with one of these architecture names) really consist of.

    ``describe`` says it of one model, as JSON data; its ``parameters`` and ``buffers`` tell variants apart.
    """
    return {
        "versions": versions(),
        "default_dtype": str(DTYPE).removeprefix("torch."),
        "classes": run_all(registered_classes(only), jobs, timeout, describe),
    }


def write(path: Path, result: dict[str, Any]) -> None:
    """Replace ``path`` in one step."""
    draft = path.with_name(path.name + ".part")
    draft.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    draft.replace(path)


def main(arguments: list[str] | None = None, describe: Describe = described, what: str = __doc__) -> int:
    """The command; exit code 1 when a class could not be constructed."""
    parser = argparse.ArgumentParser(description=what.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--arch", nargs="+", action="extend", metavar="A", help="only the classes with these names")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one class")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    result = truth(options.arch, options.jobs, options.timeout, describe)
    write(options.out, result)
    defaults = [record for record in result["classes"] if record["variant"] == "default"]
    failed = [record for record in defaults if record["status"] == "failed"]
    for record in failed:
        print(f"{record['class']}: {record['reason']}", file=sys.stderr)
    extra = len(result["classes"]) - len(defaults)
    seconds = time.perf_counter() - started
    print(f"{len(defaults) - len(failed)} of {len(defaults)} classes constructed, {extra} variants, {seconds:.0f} s")
    return 1 if failed or not defaults else 0


if __name__ == "__main__":
    sys.exit(main())
