"""What the text of a test file shows that it does, as a few words: enough for all that is asked about tests.

Only code counts, not what stands in strings and comments, but for names that are looked up by text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

FLAG = "tie_word_embeddings"
METHODS = ("from_hf", "to_hf", "convert_single_tensor_to_hf", "save_pretrained", "from_pretrained")
TIED, UNTIED, COMPUTED = f"{FLAG}=True", f"{FLAG}=False", f"{FLAG}=…"
# A string or a comment; what looks like one inside the other is none. (An f-string is a string all through.)
_NO_CODE = re.compile(
    rb'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|' + rb"'''(?:\\.|[^\\])*?'''|'(?:\\.|[^'\\\n])*'|#[^\n]*", re.S
)
_NAME = re.compile(rb"\b[A-Z]\w+")
# Neither `adapter.from_hf = fake` nor `adapter.from_hf.assert_called()`; longest first, so that no name hides another.
_RUN = re.compile(rf"\.\s*({'|'.join(sorted(METHODS, key=len, reverse=True))})\b(?!\s*=[^=]|\s*\.)".encode())
_LOOKED_UP = re.compile(rf"[\"']({'|'.join(METHODS)})[\"']".encode())
_VALUE = rb"(?:(True|False)\b|(?!None\b|bool\b|=)[\w.(])"
# As a keyword or an attribute; as a key, or through `setattr`, where it stands in a string.
_NAMED = re.compile(rb"\b%b\s*=\s*" % FLAG.encode() + _VALUE)
_QUOTED = re.compile(
    rb"""(?:["']%b["']\s*(?::|\]\s*=)|setattr\([^,\n]+,\s*["']%b["']\s*,)\s*""" % (FLAG.encode(), FLAG.encode())
    + _VALUE
)
_PARAMETRISED = re.compile(rb"""["']%b["']\s*,\s*[\[(]""" % FLAG.encode())
_LOOPED = re.compile(rb"\b%b\s+in\b" % FLAG.encode())
_HELPER = re.compile(rb"^[ \t]*from[ \t]+(?=\.|tests\b)(\.*)(\w[\w.]*)?[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.M)


def marks_of(data: bytes, classes: frozenset[bytes]) -> set[str]:
    """Return what a file does: the methods that it gets from something, the settings of the tie that it gives.

    And which names stand in it, of ``classes`` and of all that end in ``Adapter``.
    """
    words = {word for word in _NAME.findall(data) if word in classes or word.endswith(b"Adapter")}
    return {word.decode() for word in words} | runs_of(data) | _ties(data)


def runs_of(data: bytes) -> set[str]:
    """Return those of :data:`METHODS` that the code of a file gets from something."""
    if not any(method.encode() in data for method in METHODS):
        return set()
    found = {match[1].decode() for match in _RUN.finditer(_NO_CODE.sub(b'""', data))}
    if b"getattr(" in data:
        found |= {match[1].decode() for match in _LOOKED_UP.finditer(data)}
    return found


def _ties(data: bytes) -> set[str]:
    if FLAG.encode() not in data:
        return set()
    code = _NO_CODE.sub(b'""', data)
    found = {match[1] for match in (*_NAMED.finditer(code), *_QUOTED.finditer(data))}
    marks = {COMPUTED if value is None else f"{FLAG}={value.decode()}" for value in found}
    return marks | ({COMPUTED} if _PARAMETRISED.search(data) or _LOOPED.search(code) else set())


def helpers(data: bytes, path: str, root: str) -> Iterator[str]:
    """Yield where the files of the tests may lie that a test file imports from; ``root`` is the checkout's."""
    for match in _HELPER.finditer(data) if b"from ." in data or b"from tests" in data else ():
        dots, module, listed = (part.decode(errors="replace") for part in match.groups(b""))
        folder = root
        if dots:
            folder = os.path.dirname(path)
            for _ in dots[1:]:
                folder = os.path.dirname(folder)
        base = os.path.join(folder, *module.split("."))
        names: Iterable[str] = re.findall(r"\w+", listed)
        yield from (f"{p}.py" for p in (base.rstrip(os.sep), *(os.path.join(base, name) for name in names)))
