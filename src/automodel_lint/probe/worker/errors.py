"""What was raised, in words and as a place in the package."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from typing import Any

OURS = str(Path(__file__).parent)  # the line of ours that asked says nothing to a person


def one_line(error: BaseException, package: str) -> str:
    """Say what was raised and where: the last line of the package that took part, or the last line at all."""
    place = place_in(error, package)
    frames = traceback.extract_tb(error.__traceback__)
    last = (place["file"], place["line"]) if place else (frames[-1].filename, frames[-1].lineno) if frames else None
    where = ""
    if last and not last[0].startswith(("<", OURS)):
        where = f" ({os.sep.join(Path(last[0]).parts[-2:])}:{last[1]})"
    text = " ".join(str(error).split())
    text = text if len(text) <= 300 else f"{text[:297]}…"
    return f"{type(error).__name__}{': ' if text else ''}{text}{where}"


def place_in(error: BaseException, package: str) -> dict[str, Any]:
    """Return ``file`` and ``line`` of the innermost line of the package that took part, empty if none did."""
    inside = f"{os.sep}{package}{os.sep}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if inside in f.filename]
    return {"file": frames[-1].filename, "line": frames[-1].lineno} if frames else {}


def inner(error: BaseException) -> BaseException:
    """Return what a rank raised, if this is torch's collection of what all of them raised, else the error itself."""
    failures = getattr(error, "failures", None)
    raised = [failure[0] for failure in failures.values()] if isinstance(failures, dict) else []
    return raised[0] if raised and isinstance(raised[0], BaseException) else error


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an allocation was refused: that is our limit, not a fault of the class."""
    text = str(error)
    return isinstance(error, MemoryError) or "can't allocate memory" in text or "Cannot allocate memory" in text


def missing_dependency(error: BaseException, package: str) -> str | None:
    """Return the name of the package outside the project that an import looked for in vain, if that is the cause."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ModuleNotFoundError) and seen.name and seen.name.partition(".")[0] != package:
            return seen.name.partition(".")[0]
        seen = seen.__cause__ or seen.__context__
    return None
