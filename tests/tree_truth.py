"""Constructs the models of folders such as ``tree_models`` and writes down what they consist of.

    python tree_truth.py OUT.json FOLDER ...

Run by an interpreter that has torch and transformers; imports nothing of the linter. Every module of a folder has a
table ``CASES``: for each class the configurations to construct it with. What is allocated without a dtype is float64
here, which nobody asks for, so that an explicit dtype can be told from none.
"""

from __future__ import annotations

import copy
import importlib
import json
import os
import sys
import sysconfig
import warnings
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", OMP_NUM_THREADS="1")

import torch

DEFAULT = torch.float64
PRIVATE = {"NonDynamicallyQuantizableLinear": "Linear"}  # an ``nn.Linear`` to everybody but torch
HELPERS = ("_WeightNorm",)  # modules in which torch keeps a computation, without tensors


def described(model: torch.nn.Module) -> dict[str, Any]:
    """Names, kinds, shapes and dtypes of the tensors; the classes of the modules; which modules were met before."""
    tensors: dict[str, Any] = {}
    modules = dict(model.named_modules(remove_duplicate=False))
    for name, tensor in model.named_parameters(remove_duplicate=False):
        tensors[name] = {"kind": "parameter", "persistent": True, "trainable": tensor.requires_grad} | _data(tensor)
    for name, tensor in model.named_buffers(remove_duplicate=False):
        owner, _, local = name.rpartition(".")
        persistent = local not in modules[owner]._non_persistent_buffers_set
        tensors[name] = {"kind": "buffer", "persistent": persistent, "trainable": True} | _data(tensor)
    first: dict[int, str] = {}
    for name, module in modules.items():
        first.setdefault(id(module), name)
    return {
        "tensors": tensors,
        "modules": {n: found for n, m in modules.items() if (found := _class(m)) not in HELPERS},
        "none": [
            f"{at}.{name}".lstrip(".") for at, m in modules.items() for name, sub in m._modules.items() if sub is None
        ],
        "shared": [name for name, module in modules.items() if first[id(module)] != name],
    }


def _class(module: torch.nn.Module) -> str:
    name = type(module).__name__.removeprefix("Parametrized")
    return PRIVATE.get(name, name)


def _data(tensor: torch.Tensor) -> dict[str, Any]:
    lazy = isinstance(tensor, torch.nn.parameter.UninitializedTensorMixin)
    return {"shape": None if lazy else list(tensor.shape), "dtype": str(tensor.dtype).removeprefix("torch.")}


def plain(value: Any, depth: int = 0) -> Any:
    """Return a configuration as nested dicts, as far as it is data."""
    if isinstance(value, torch.dtype):
        return {"torch": str(value).removeprefix("torch.")}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item, depth) for key, item in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    fields = getattr(value, "__dict__", None)
    return {"fields": plain(fields, depth + 1)} if isinstance(fields, dict) and depth < 4 else str(value)


def constructed(cls: type, configs: list[Any]) -> list[dict[str, Any]]:
    """Return a record for each configuration."""
    found = []
    for config in configs:
        torch.manual_seed(0)
        own = copy.deepcopy(config)
        record = {"config": plain(own)}
        torch.set_default_dtype(DEFAULT)
        try:
            record |= described(cls(own))
        except Exception as error:
            record["error"] = f"{type(error).__name__}: {error}"
        finally:
            torch.set_default_dtype(torch.float32)
        found.append(record)
    return found


def package(folder: Path) -> dict[str, Any]:
    """Construct everything in a folder; return the records by module and class, or why a module has none."""
    for name in [n for n in sys.modules if n.partition(".")[0] == folder.name]:
        del sys.modules[name]  # another folder of that name came before
    sys.path.insert(0, str(folder.parent))
    found: dict[str, Any] = {}
    for name in sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__"):
        try:
            module = importlib.import_module(f"{folder.name}.{name}")
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
            continue
        found[name] = {cls.__name__: constructed(cls, configs) for cls, configs in getattr(module, "CASES", {}).items()}
    sys.path.pop(0)
    return found


def main(out: Path, folders: list[Path]) -> None:
    """Construct everything in the folders."""
    warnings.simplefilter("ignore")
    site = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    found = {"default": "float64", "site": site, "packages": [package(folder) for folder in folders]}
    out.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(folder).resolve() for folder in sys.argv[2:]])
