"""The fingerprint of a line that GitHub's upload action computes: a hash of what stands from there on.

Given along, it spares the action the work, and uploads by other ways get it too. It must be the action's own value,
which otherwise warns: over the next hundred UTF-16 code units without blanks, tabs and carriage returns, in 64 bits,
with a number that tells lines of equal hash apart.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections import Counter
from itertools import accumulate

_UNITS = 100
_FACTOR = 37
_MASK = 2**64 - 1
_END = 0xFFFF
_DROPPED = pow(_FACTOR, _UNITS, 2**64)


def line_hashes(data: bytes) -> list[str]:
    """Return the fingerprint of each line of a file, in order."""
    text = re.sub(r"\r\n?", "\n", data.decode("utf-8", "replace")).translate({ord(" "): None, ord("\t"): None})
    units = [*_units(text), _END, *[0] * _UNITS]
    before = list(accumulate(units, lambda value, unit: (value * _FACTOR + unit) & _MASK, initial=0))
    starts, place = [0], 0
    for line in text.split("\n")[:-1]:
        place += len(_units(line)) + 1
        starts.append(place)
    seen: Counter[str] = Counter()
    hashes = []
    for start in starts:
        value = f"{(before[start + _UNITS] - before[start] * _DROPPED) & _MASK:x}"
        seen[value] += 1
        hashes.append(f"{value}:{seen[value]}")
    return hashes


def _units(text: str) -> array[int]:
    return array("H", text.encode(f"utf-16-{sys.byteorder[0]}e"))
