"""Where the ``forward`` of a module stands, for findings about what it does with what it is given."""

from __future__ import annotations

import inspect
from typing import Any

from torch import nn


def forward_of(module: nn.Module, cls: type) -> dict[str, Any]:
    """Return ``file`` and ``line`` of a module's ``def forward``, empty if that is outside the folder of ``cls``."""
    try:
        code = inspect.unwrap(type(module).forward).__code__
        lines, first = inspect.getsourcelines(code)
    except (AttributeError, OSError, TypeError):
        return {}
    if type(module).__module__.rpartition(".")[0] != cls.__module__.rpartition(".")[0]:
        return {}
    return {"file": code.co_filename, "line": next((n for n, text in enumerate(lines, first) if "def " in text), first)}


def around_with(model: nn.Module, name: str, argument: str) -> nn.Module | None:
    """Return the innermost module whose ``forward`` takes ``argument``: the one called ``name``, or one around it."""
    while True:
        module = model.get_submodule(name)
        if argument in inspect.signature(module.forward).parameters:
            return module
        if not name:
            return None
        name = name.rpartition(".")[0]
