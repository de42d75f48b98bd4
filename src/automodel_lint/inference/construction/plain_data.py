"""Values as plain Python data."""

from __future__ import annotations

import re
from typing import Any

from automodel_lint.inference.construction.values import External_, Known, Seq, Value

_FLAGS = frozenset("IGNORECASE I MULTILINE M DOTALL S VERBOSE X ASCII A UNICODE U".split())


def python_of(value: Value) -> tuple[bool, Any]:
    """Return whether a value is plain data, and the data."""
    if isinstance(value, Known):
        return True, value.value
    if isinstance(value, Seq) and not value.star:
        inner = [python_of(v) for v in value.items]
        return all(ok for ok, _ in inner), [v for _, v in inner]
    if isinstance(value, External_) and value.fqn.startswith("re.") and value.fqn[3:] in _FLAGS:
        return True, getattr(re, value.fqn[3:])
    return False, None
