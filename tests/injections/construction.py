"""NAM709: a constructor goes on with the argument for which it has kept a default."""

from __future__ import annotations

import ast

from . import Injected, Injection
from .source import method, put_below, segment, swapped


def _kept(text: str, cls: str) -> tuple[ast.FunctionDef, ast.Assign] | None:
    """The constructor, and its ``self.backend = backend or …``."""
    init = method(text, cls, "__init__")
    for statement in init.body if init else []:
        if isinstance(statement, ast.Assign) and segment(text, statement).startswith("self.backend = backend or "):
            return init, statement  # type: ignore[return-value]
    return None


def _use(text: str, cls: str) -> ast.Attribute | None:
    """The first use of what was kept, behind the statement that keeps it."""
    found = _kept(text, cls)
    if found is None:
        return None
    init, kept = found
    uses = [n for n in ast.walk(init) if isinstance(n, ast.Attribute) and ast.unparse(n) == "self.backend"]
    behind = [n for n in uses if n.lineno > (kept.end_lineno or 0) and isinstance(n.ctx, ast.Load)]
    return min(behind, key=lambda n: (n.lineno, n.col_offset), default=None)


def raw(text: str, cls: str) -> Injected | None:
    """What is built next is built with the raw argument."""
    use = _use(text, cls)
    return Injected(swapped(text, use, "backend"), text) if use else None


def raw_after_a_conditional(text: str, cls: str) -> Injected | None:
    """The same where the default stands in a conditional expression."""
    use, found = _use(text, cls), _kept(text, cls)
    if use is None or found is None:
        return None
    default = segment(text, found[1].value).removeprefix("backend or ")
    choice = f"backend if backend is not None else {default}"
    after = swapped(text, found[1].value, choice)
    return Injected(swapped(swapped(text, use, "backend"), found[1].value, choice), after)


def kept_twice(text: str, cls: str) -> Injected | None:
    """The raw argument is kept beside the default."""
    found = _kept(text, cls)
    if found is None:
        return None
    lines = [put_below(text, found[1], f"self.given_backend = {value}") for value in ("backend", "self.backend")]
    return Injected(*lines)


INJECTIONS = [
    Injection("NAM709", "raw", raw),
    Injection("NAM709", "raw-after-a-conditional", raw_after_a_conditional),
    Injection("NAM709", "kept-twice", kept_twice),
]
