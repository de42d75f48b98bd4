"""The default config of every registered class, as its ``config.json`` would be; run by an interpreter with torch.

    EXE default_configs.py SRC OUT

SRC is the folder of the linter's sources, OUT the JSON to write: a list of ``architectures``, ``config`` (``null``
where the config class cannot be found or constructed without arguments) and ``error``.
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from typing import Any

REGISTRY = "nemo_automodel._transformers.registry"


def main() -> None:
    """Write what can be had."""
    source, out = sys.argv[1:]
    sys.path.insert(0, source)
    warnings.simplefilter("ignore")
    from automodel_lint.probe.worker.tiny.config_classes import find_config_class

    by_target: dict[tuple[str, str], list[str]] = {}
    for name, value in importlib.import_module(REGISTRY).MODEL_ARCH_MAPPING.items():
        by_target.setdefault((value[0], value[1]), []).append(name)
    rows: list[dict[str, Any]] = []
    for (module, name), architectures in by_target.items():
        row: dict[str, Any] = {"architectures": architectures, "config": None, "error": None}
        try:
            cls = getattr(importlib.import_module(module), name)
            config_class = find_config_class(cls, tuple(architectures), "nemo_automodel", REGISTRY)
            if config_class is None:
                raise LookupError("no config class")
            config = json.loads(config_class().to_json_string(use_diff=False))
            row["config"] = {**config, "architectures": architectures[:1]}
        except Exception as error:
            row["error"] = f"{type(error).__name__}: {error}"
        rows.append(row)
    with open(out, "w", encoding="utf-8") as stream:
        json.dump(rows, stream)


if __name__ == "__main__":
    main()
