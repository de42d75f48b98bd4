"""A recipe as nested sections; what a ``_target_`` names is imported when the file is read."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import yaml


def load(path: str | Path) -> Section:
    """Return the recipe in a YAML file."""
    with open(path, encoding="utf-8") as stream:
        return Section(yaml.safe_load(stream))


def resolve(name: str) -> Any:
    """Return what a dotted name stands for: the longest module in it, then attributes."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise ImportError(f"{name}: no such module")


class Section:
    """A mapping of a recipe, its keys as attributes."""

    def __init__(self, values: dict[str, Any]):
        self._values = {key: _wrapped(key, value) for key, value in values.items()}

    def __getattr__(self, key: str) -> Any:
        try:
            return self.__dict__["_values"][key]
        except KeyError:
            raise AttributeError(key) from None

    def get(self, path: str, default: Any = None) -> Any:
        """Return the value at a dotted path of keys."""
        found: Any = self
        for key in path.split("."):
            if not isinstance(found, Section) or key not in found._values:
                return default
            found = found._values[key]
        return found

    def instantiate(self, **more: Any) -> Any:
        """Call the target with what stands beside it, sections made into objects first, and with ``more``."""
        arguments = {key: value for key, value in self._values.items() if key != "_target_" and key not in more}
        made = {k: v.instantiate() if isinstance(v, Section) else v for k, v in arguments.items()}
        return self._target_(**made, **more)


def _wrapped(key: str, value: Any) -> Any:
    if isinstance(value, dict):
        return Section(value)
    if isinstance(value, list):
        return [_wrapped("", item) for item in value]
    is_name = isinstance(value, str) and (key == "_target_" or key.endswith("_fn"))
    return resolve(value) if is_name else value
