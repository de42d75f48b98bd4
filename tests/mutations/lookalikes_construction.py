"""What looks like a fault of NAM709 and is none."""

from __future__ import annotations

from . import Edit, Harmless
from .casts import indented
from .construction import HEAD, KEPT, RAW
from .policy import FIR


def _kept(name: str, why: str, *lines: str, more: tuple[Edit, ...] = ()) -> Harmless:
    return Harmless("NAM709", name, (Edit(FIR, KEPT, indented(*lines)), *more), why)


_RAW = (Edit(FIR, HEAD, RAW),)

HARMLESS = [
    _kept(
        "bound-anew-first",
        "the name is the default",
        "backend = backend or BackendConfig()",
        "self.backend = backend",
        more=_RAW,
    ),
    _kept(
        "bound-in-one-go", "the name is the default", "backend = self.backend = backend or BackendConfig()", more=_RAW
    ),
    _kept("bound-anew-afterwards", "the name is the default", KEPT.strip(), "backend = self.backend", more=_RAW),
    _kept(
        "filled-where-missing",
        "it is there",
        "if backend is None:",
        "    backend = BackendConfig()",
        "self.backend = backend",
        more=_RAW,
    ),
    _kept("used-before", "the default was not yet there", "self.given = backend", KEPT.strip()),
    _kept("asked-whether-it-is-there", "a question", KEPT.strip(), "self.is_default = backend is None"),
    _kept(
        "only-if-it-is-there",
        "it is there",
        KEPT.strip(),
        "if backend is not None:",
        "    self.linear = backend.linear",
    ),
    _kept("only-if-it-is-true", "it is there", KEPT.strip(), "self.linear = backend.linear if backend else None"),
    _kept("another-default", "it is asked for again", KEPT.strip(), "self.other = backend or BackendConfig()"),
    _kept("and-then", "it is there", KEPT.strip(), "self.linear = backend and backend.linear"),
    _kept("asserted", "it is there", KEPT.strip(), "assert backend is not None", more=_RAW),
    _kept("in-a-message", "nothing is built with it", KEPT.strip(), 'print(f"built with {backend}")'),
    _kept("no-default", "nothing takes its place", "self.backend = backend or None", more=_RAW),
    _kept("kept-as-it-is", "no default is given", "self.backend = backend", more=_RAW),
]
