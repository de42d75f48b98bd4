"""The TOML reader of this Python. Import it where a file is read: a run without settings need not pay for it."""

from __future__ import annotations

import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TOMLDecodeError = tomllib.TOMLDecodeError


def loads(text: str) -> dict[str, Any]:
    """Return what a text says; raises :class:`TOMLDecodeError` where it is none, or nested too deeply to be read."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise TOMLDecodeError("nested too deeply") from None
