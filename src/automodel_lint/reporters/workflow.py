"""Workflow commands of GitHub Actions, and text that the runner of a workflow does not take for one.

The runner reads every line that a step prints. A line that starts with ``::`` behind white space is a command; so is,
in an older form that it still knows, one with ``##[`` anywhere. It compares as a language does, which passes over
characters that nobody sees.
"""

from __future__ import annotations

import re

LONGEST_MESSAGE = 4096  # in UTF-16 code units: what the runner keeps of a message
_UNSEEN = (
    r"(?:\x1b\[[;?\d]*[A-Za-z]"  # colours, which are taken off where nobody watches
    r"|[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff])"
)
_START = re.compile(rf"((?:\A|(?<=[\r\n]))(?:\s|{_UNSEEN})*):(?={_UNSEEN}*:)")
_OLD_FORM = re.compile(rf"(#{_UNSEEN}*#{_UNSEEN}*)\[")
_SEVERED = re.compile("[\ud800-\udfff]")  # what stands for a byte of a file name that is no text


def command(kind: str, properties: dict[str, object], message: str) -> str:
    """Return a line that is the command ``kind``, and nothing else, whatever the texts are."""
    told = ",".join(f"{name}={_escaped(str(value), _IN_PROPERTY)}" for name, value in properties.items())
    text = _escaped(shortened(harmless(message)), _IN_MESSAGE)
    if not text[:1].isascii():  # a mark there would become one character with the colon before it
        text = f" {text}"
    return f"::{kind} {told}::{text}\n"


def harmless(text: str) -> str:
    """Return a text with a backslash wherever a line of it would be a command, else as it is."""
    return _OLD_FORM.sub(r"\1\\[", _START.sub(r"\1\\:", text))


def shortened(text: str, most: int = LONGEST_MESSAGE) -> str:
    """Return a text that has at most so many UTF-16 code units; an ellipsis says that something is missing."""
    data = text.encode("utf-16-le", "surrogatepass")
    if len(data) <= 2 * most:
        return text
    return data[: 2 * most - 2].decode("utf-16-le", "ignore") + "…"


_IN_MESSAGE = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_MESSAGE, ":": "%3A", ",": "%2C"}


def _escaped(text: str, escapes: dict[str, str]) -> str:
    whole = _SEVERED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return "".join(escapes.get(character, character) for character in whole)
