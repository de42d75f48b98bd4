"""The rules: one plain function each, over a thing of the domain.

The annotation of the parameter says which things a rule is asked about; message, severity and reason stand on the
rule's page. Nothing is registered by hand: every module of this package is loaded, every decorated function found.
"""

from __future__ import annotations

import importlib
import pkgutil
import typing
from collections.abc import Callable, Iterator
from functools import cache

from automodel_lint.findings import Finding

Check = Callable[[typing.Any], Iterator[Finding]]
_FOUND: list[tuple[str, Check]] = []
_LATE: set[str] = set()


def rule(code: str, late: bool = False) -> Callable[[Check], Check]:
    """Make a function a check of the rule ``code``; a rule about two kinds of things has two.

    It takes one annotated parameter (``A | B`` where it asks the same of both) and yields findings without code and
    message; the engine completes them. Where a class takes long to be asked, the rule comes ``late``: an editor shows
    its findings a moment after the rest.
    """

    def register(function: Check) -> Check:
        _FOUND.append((code, function))
        if late:
            _LATE.add(code)
        return function

    return register


@cache
def late_codes() -> frozenset[str]:
    """Return the codes of the rules that come late."""
    _load()
    return frozenset(_LATE)


def _load() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


@cache
def checks() -> dict[type, list[tuple[str, Check]]]:
    """Return the rules by the type of thing they are about, in the order of their codes."""
    _load()
    by_type: dict[type, list[tuple[str, Check]]] = {}
    for code, function in sorted(_FOUND, key=lambda found: found[0]):
        hints = typing.get_type_hints(function)
        hints.pop("return", None)
        (thing,) = hints.values()
        for kind in typing.get_args(thing) or (thing,):
            by_type.setdefault(kind, []).append((code, function))
    return by_type
