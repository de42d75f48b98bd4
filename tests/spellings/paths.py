"""Paths through a constructor on which the tie guard does not run, or does not count (NAM203)."""

from __future__ import annotations

from . import GUARD, Spelling, acme, init, klass, module


def _path(name: str, text: str, found: str = "NAM203") -> Spelling:
    """A constructor that begins so."""
    return acme("NAM203", name, module(klass(constructor=init(text, found=found))))


SPELLINGS = [
    _path("suppressed", f"with contextlib.suppress(NotImplementedError):\n    {GUARD}"),
    _path("suppressed-with-all-others", f"with contextlib.suppress(Exception):\n    {GUARD}"),
    _path(
        "raised-again-on-a-condition",
        f"try:\n    {GUARD}\nexcept NotImplementedError:\n    if config.strict:\n        raise",
    ),
    _path("in-the-else-of-a-try", f"try:\n    import flash\nexcept ImportError:\n    flash = None\nelse:\n    {GUARD}"),
    _path("return-in-a-loop", f"for layer in config.layers:\n    if layer:\n        return\n{GUARD}"),
    _path("return-in-a-while", f"while config.wait:\n    return\n{GUARD}"),
    _path("return-in-a-case", f"match config.kind:\n    case 1:\n        return\n{GUARD}"),
    _path("handler-of-another-error", f"try:\n    {GUARD}\nexcept ImportError:\n    pass", found=""),
    _path(
        "raised-again-beside-another-handler",
        f"try:\n    {GUARD}\nexcept NotImplementedError:\n    raise\nexcept ValueError:\n    pass",
        found="",
    ),
    _path("handler-guards-too", f"try:\n    import flash\n    {GUARD}\nexcept ImportError:\n    {GUARD}", found=""),
]
