"""Construct every registered class on a tiny configuration and write down the names of its tensors.

    python -m truth.construct OUT.json [--arch A ...] [--jobs 2] [--timeout 120]

Run in the folder ``benchmarks``, by an interpreter that has torch, transformers and nemo-automodel. The registry is
imported once; then each class is constructed on the CPU in a forked child of its own, with limits on time and memory,
so that a crash or a hang costs that class only. The JSON holds, for each class and variant, its tiny configuration,
its parameters and buffers (name, shape, dtype) and which names share one tensor.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import os
import platform
import resource
import signal
import sys
import tempfile
import time
import traceback
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

# before torch and transformers are imported: nothing is compiled, fetched or run from a hub
os.environ.update(
    TORCHDYNAMO_DISABLE="1",
    HF_HUB_OFFLINE="1",
    TRANSFORMERS_OFFLINE="1",
    TRANSFORMERS_VERBOSITY="error",
    TOKENIZERS_PARALLELISM="false",
    CUDA_VISIBLE_DEVICES="",
    OMP_NUM_THREADS="1",
)

import torch
from torch.overrides import TorchFunctionMode
from transformers import AutoProcessor, PretrainedConfig
from transformers.initialization import no_init_weights

from automodel_lint.probe.worker.tiny_config import arguments_of, find_config_class, merge, resolve, switch_on, tiny_config

RECIPES = Path(__file__).with_name("recipes.json")
MEMORY_LIMIT = 8 << 30
PACKAGES = ("torch", "transformers", "nemo-automodel", "einops")
DTYPE = torch.bfloat16  # what the product constructs under when nobody asks for another


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


def load_recipes() -> dict[str, Any]:
    """What single classes need, the variants to try on all, and what stands in for packages that are not installed.

    A class is found by any of its architecture names. ``given`` and ``set`` are fields of its configuration before and
    after shrinking, ``parts`` configurations of other classes in it, ``arguments`` calls that make further arguments
    of the constructor, ``variants`` recipes to lay over this one.
    """
    return json.loads(RECIPES.read_text(encoding="utf-8"))


# --- a machine without CUDA ----------------------------------------------------------------------------------------


class CpuForCuda(TorchFunctionMode):
    """Turns a CUDA device in the arguments of a torch function into the CPU."""

    def __torch_function__(self, func: Callable, _: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        if func is torch.device:
            return func(*args, **(kwargs or {}))
        return func(*map(_on_cpu, args), **{name: _on_cpu(value) for name, value in (kwargs or {}).items()})


def _on_cpu(value: Any) -> Any:
    is_cuda = isinstance(value, torch.device) and value.type == "cuda"
    return torch.device("cpu") if is_cuda or (isinstance(value, str) and value.partition(":")[0] == "cuda") else value


@contextlib.contextmanager
def cpu_only() -> Iterator[None]:
    """Where constructors that ask for the current CUDA device get the CPU, tensors the product's dtype, and those
    that load a processor of their checkpoint get none."""
    if not hasattr(PretrainedConfig, "pad_token_id"):
        PretrainedConfig.pad_token_id = None  # the product does the same before it constructs anything
    original = torch.get_default_dtype()
    torch.set_default_dtype(DTYPE)
    device = patch.object(torch.cuda, "current_device", lambda: 0)
    processor = patch.object(AutoProcessor, "from_pretrained", lambda *_, **__: None)
    try:
        with device, processor, CpuForCuda():
            yield
    finally:
        torch.set_default_dtype(original)


class ShortConvolution(torch.nn.Conv1d):
    """The parameters of flash-linear-attention's depthwise convolution."""

    def __init__(self, hidden_size: int, kernel_size: int, bias: bool = False, dtype: Any = None, **_: Any) -> None:
        super().__init__(hidden_size, hidden_size, kernel_size, groups=hidden_size, bias=bias, dtype=dtype)


class FusedRMSNormGated(torch.nn.Module):
    """The parameter of flash-linear-attention's gated norm."""

    def __init__(self, hidden_size: int, dtype: Any = None, **_: Any) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(hidden_size, dtype=dtype))


def stand_in(module: str, names: list[str]) -> None:
    """Put a module that cannot be installed here into ``sys.modules``: the layers above, functions that do nothing."""
    parent = ""
    for part in module.split("."):
        parent = f"{parent}.{part}".lstrip(".")
        sys.modules.setdefault(parent, types.ModuleType(parent)).__path__ = []
    for name in names:
        setattr(sys.modules[module], name, globals().get(name, lambda *_, **__: None))


# --- one class, in a child -----------------------------------------------------------------------------------------


def construct(cls: type, config: PretrainedConfig, kwargs: dict[str, Any]) -> tuple[Any, str]:
    """The model and how it was made: plainly, without initialisation (as the product does it), or with a way of
    attention that needs no GPU. When every way fails, the error of the first."""
    errors: list[Exception] = []
    for how, context, attention in (
        ("Cls(config)", contextlib.nullcontext, None),
        ("Cls(config), no_init_weights", no_init_weights, None),
        ("Cls(config), attention eager", contextlib.nullcontext, "eager"),
        ("Cls(config), attention sdpa", contextlib.nullcontext, "sdpa"),
    ):
        if attention:
            config._attn_implementation = attention
        try:
            with cpu_only(), context():
                return cls(config, **kwargs), how
        except Exception as error:
            errors.append(error)
    raise errors[0]


def describe(model: torch.nn.Module) -> dict[str, Any]:
    """Names, shapes and dtypes of the parameters and buffers, and the groups of names that share one tensor."""
    owners = dict(model.named_modules(remove_duplicate=False))
    parameters, buffers, names = {}, {}, {}
    for name, tensor in model.named_parameters(remove_duplicate=False):
        parameters[name] = _shape(tensor)
        names.setdefault(id(tensor), []).append(name)
    for name, tensor in model.named_buffers(remove_duplicate=False):
        owner, _, local = name.rpartition(".")
        buffers[name] = _shape(tensor) | {"persistent": local not in owners[owner]._non_persistent_buffers_set}
        names.setdefault(id(tensor), []).append(name)
    aliases = [sorted(group) for group in names.values() if len(group) > 1]
    return {"parameters": parameters, "buffers": buffers, "aliases": sorted(aliases)}


def _shape(tensor: torch.Tensor) -> dict[str, Any]:
    return {"shape": list(tensor.shape), "dtype": str(tensor.dtype).removeprefix("torch.")}


def probe(entry: Registered, recipes: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The default variant of a class, then those variants that change a name."""
    recipe = next((recipes["classes"][name] for name in entry.architectures if name in recipes["classes"]), {})
    for package in recipe.get("stand_ins", ()):
        for module, names in recipes["stand_ins"][package].items():
            stand_in(module, names)
    default = _variant(entry, recipe, "default", {})
    yield default
    if default["status"] != "constructed":
        return
    seen = [_names(default)]
    own = recipe.get("variants", {})
    variants = [(name, merge(recipe, changes), {}) for name, changes in own.items()]
    variants += [(name, recipe, fields) for name, fields in recipes["variants"].items()]
    for name, changed, switches in variants:
        record = _variant(entry, changed, name, switches)
        # a switch that a class refuses, or that it does not know, says nothing about it
        if (record["status"] == "constructed" or name in own) and _names(record) not in seen:
            seen.append(_names(record))
            yield record


def _names(record: dict[str, Any]) -> set[str]:
    return {*record["parameters"], *record["buffers"]}


def _variant(entry: Registered, recipe: dict[str, Any], variant: str, switches: dict[str, Any]) -> dict[str, Any]:
    record = _record(entry, variant)
    record["stand_ins"] = recipe.get("stand_ins", [])
    started = time.perf_counter()
    try:
        cls = getattr(importlib.import_module(entry.module), entry.name)
        named = recipe.get("config_class")
        config_class = resolve(named) if named else find_config_class(cls, list(entry.architectures))
        if config_class is None:
            raise LookupError("no configuration class found")
        config = tiny_config(config_class, recipe)
        if "architectures" not in recipe.get("set", {}):
            config.architectures = [entry.architectures[0]]
        kwargs = switch_on(config, switches, cls) | arguments_of(recipe)
        model, record["how"] = construct(cls, config, kwargs)
        record |= {"config_class": f"{config_class.__module__}.{config_class.__qualname__}"}
        record |= {"config": json_safe(config.to_dict()), "status": "constructed", "reason": None}
        record |= describe(model)
    except Exception as error:
        record["reason"] = reason(error)
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


def reason(error: BaseException) -> str:
    """One line: what was raised, and the line of the model package (or the last line at all) where."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if "nemo_automodel" in frame.filename] or frames
    path = "/".join(Path(inside[-1].filename).parts[-2:])
    text = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {text} ({path}:{inside[-1].lineno})"


def json_safe(value: Any) -> Any:
    """The value with everything that JSON cannot say as text."""
    if isinstance(value, dict):
        return {str(name): json_safe(item) for name, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [json_safe(item) for item in value]
    is_plain = value is None or isinstance(value, (bool, int, str))
    return value if is_plain or (isinstance(value, float) and abs(value) < float("inf")) else str(value)


# --- all classes, in the parent ------------------------------------------------------------------------------------


def run_all(entries: list[Registered], jobs: int, timeout: float) -> list[dict[str, Any]]:
    """Probe every class in a forked child, ``jobs`` at a time; records in the order of ``entries``."""
    recipes, waiting, running = load_recipes(), list(enumerate(entries)), {}
    results: dict[int, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory(prefix="truth-") as folder:
        while waiting or running:
            while waiting and len(running) < jobs:
                index, entry = waiting.pop(0)
                path = Path(folder, f"{index}.jsonl")
                running[_fork(entry, recipes, path)] = (index, entry, path, time.monotonic())
            for pid, (index, entry, path, started) in list(running.items()):
                ended = _ended(pid, time.monotonic() - started, timeout)
                if ended is not None:
                    results[index] = _collect(entry, path, ended)
                    del running[pid]
            time.sleep(0.01)
    return [record for index in sorted(results) for record in results[index]]


def _fork(entry: Registered, recipes: dict[str, Any], path: Path) -> int:
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
            for record in probe(entry, recipes):
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


def truth(only: list[str] | None = None, jobs: int = 2, timeout: float = 120) -> dict[str, Any]:
    """What the installed classes (``only`` those with one of these architecture names) really consist of."""
    return {
        "versions": versions(),
        "default_dtype": str(DTYPE).removeprefix("torch."),
        "classes": run_all(registered_classes(only), jobs, timeout),
    }


def write(path: Path, result: dict[str, Any]) -> None:
    """Replace ``path`` in one step."""
    draft = path.with_name(path.name + ".part")
    draft.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    draft.replace(path)


def main(arguments: list[str] | None = None) -> int:
    """The command; exit code 1 when a class could not be constructed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--arch", nargs="+", action="extend", metavar="A", help="only the classes with these names")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one class")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    result = truth(options.arch, options.jobs, options.timeout)
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
