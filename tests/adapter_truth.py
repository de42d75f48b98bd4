"""Asks the adapters of a folder such as ``adapter_models`` what they really make of the names of their models.

    python adapter_truth.py OUT.json FOLDER BENCHMARKS

Run by an interpreter that has torch; imports nothing of the linter. Every class of a module that is derived from its
``Model`` is constructed with each of the configurations below, and its adapter asked in both directions.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

CONFIGS = ({}, {"layers": 1, "experts": 5}, {"nested": False})


def records(module: Any, model: type, config: type) -> dict[str, list[dict[str, Any]]]:
    """What every class of a module does, under each configuration."""
    from truth.marks import followed

    found: dict[str, list[dict[str, Any]]] = {}
    for name, cls in vars(module).items():
        if isinstance(cls, type) and issubclass(cls, model) and cls is not model:
            for fields in CONFIGS:
                record: dict[str, Any] = {"fields": fields}
                made = cls(config(**fields))
                adapter = getattr(made, "state_dict_adapter", None)
                record["adapter"] = type(adapter).__name__ if adapter is not None else None
                try:
                    if adapter is not None:
                        record["to_hf"], hf = followed(adapter.to_hf, made.state_dict())
                        record["from_hf"], _ = followed(adapter.from_hf, hf)
                except Exception as error:
                    record["error"] = f"{type(error).__name__}: {error}"
                found.setdefault(name, []).append(record)
    return found


if __name__ == "__main__":
    out, folder, benchmarks = (Path(argument).resolve() for argument in sys.argv[1:])
    sys.path[:0] = [str(folder.parent), str(benchmarks)]
    body = importlib.import_module(f"{folder.name}.body")
    stems = sorted(path.stem for path in folder.glob("*.py") if path.stem not in ("__init__", "body"))
    modules = {stem: importlib.import_module(f"{folder.name}.{stem}") for stem in stems}
    written = {stem: records(module, body.Model, body.Config) for stem, module in modules.items()}
    out.write_text(json.dumps(written), encoding="utf-8")
