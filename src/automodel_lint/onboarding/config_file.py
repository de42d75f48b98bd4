"""A ``config.json`` as plain data, and the place of each field in it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from automodel_lint.request import UsageError

NAMES = ("config.json", "model_index.json")  # the second is what a diffusers pipeline has instead
LIMIT = 16 * 1024 * 1024  # bytes; the largest published configs, those with labels, have some hundred thousand
_LONGEST = 120  # letters of a text that are shown
_SPACE = re.compile(r"[ \t\r\n]*")
_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}


class ConfigProblem(UsageError):
    """A config file that cannot be used; the text is one line with the file and the place."""


@dataclass(frozen=True)
class ConfigFile:
    """A config that was read.

    Attributes:
        path: the file, as it was asked for (with the file's name where a folder was).
        data: the object in it.
        text: what stands in the file.
        repeated: dotted paths of the keys that an object has twice; as everywhere, the last one counts.
    """

    path: str
    data: dict[str, Any]
    text: str = field(repr=False, default="{}")
    repeated: tuple[str, ...] = ()

    def line(self, path: str) -> int | None:
        """Return the line of a field by its dotted path; ``None`` if there is no such field."""
        offset = _offset(self.text, path.split("."))
        return None if offset is None else self.text.count("\n", 0, offset) + 1

    def refuse(self, path: str, reason: str) -> NoReturn:
        """Say that a field cannot be used; raises :class:`ConfigProblem` with its place."""
        offset = _offset(self.text, path.split("."))
        place = self.path if offset is None else f"{self.path}:{_place(self.text, offset)}"
        raise ConfigProblem(f"{place}: `{clean(path)}` {reason}")


def read_config(path: str) -> ConfigFile:
    """Read a config file, or the one in a folder.

    Raises:
        ConfigProblem: if there is none, it cannot be read, it is too large, or it is no JSON object.
    """
    file = _file(path)
    try:
        with open(file, "rb") as stream:
            data = stream.read(LIMIT + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ConfigProblem(f"{file}: cannot be read: {reason}") from error
    if len(data) > LIMIT:
        raise ConfigProblem(f"{file}: larger than {LIMIT // 1024**2} MB: a config file is not")
    text = _decoded(file, data)
    repeated: list[str] = []
    parsed = _parsed(file, text, repeated)
    if not isinstance(parsed, dict):
        raise ConfigProblem(f"{file}:1: {kind_of(parsed)}, where a config is an object")
    return ConfigFile(file, parsed, text, tuple(_paths_of(parsed, repeated)))


def config_of(data: dict[str, Any], path: str = "config.json") -> ConfigFile:
    """Return a config that is at hand as data, as if it had been read from ``path``."""
    return ConfigFile(path, data, json.dumps(data, indent=2))


def clean(text: str) -> str:
    """Return a text of a config as it can be shown: one line, no control characters, nothing that ends code."""
    return "".join(letter if letter.isprintable() and letter != "`" else "\ufffd" for letter in text[:_LONGEST])


def kind_of(value: Any) -> str:
    """Return what a JSON value is, as a person says it (``a text``)."""
    return _KINDS.get(type(value), "a number")


def _file(path: str) -> str:
    if not os.path.isdir(path):
        return path
    for name in NAMES:
        if os.path.exists(os.path.join(path, name)):
            return os.path.join(path, name)
    raise ConfigProblem(f"{path}: no {' and no '.join(NAMES)} in this folder")


def _decoded(file: str, data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigProblem(f"{file}:{line}: not UTF-8 (byte {error.start})") from error
    if not text.strip():
        raise ConfigProblem(f"{file}: the file is empty")
    if text.startswith("version https://git-lfs"):
        raise ConfigProblem(f"{file}:1: a pointer of Git LFS, not the file itself: `git lfs pull` fetches it")
    if text.lstrip()[:1] == "<":
        raise ConfigProblem(f"{file}:1: a web page, not JSON: save the raw file")
    return text


def _parsed(file: str, text: str, repeated: list[str]) -> Any:
    def whole(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            repeated.extend(key for key in found if keys.count(key) > 1)
        return found

    try:
        return json.loads(text, object_pairs_hook=whole)
    except json.JSONDecodeError as error:
        raise ConfigProblem(f"{file}:{error.lineno}:{error.colno}: not valid JSON: {error.msg}") from error
    except RecursionError as error:
        raise ConfigProblem(f"{file}: nested too deeply for a config") from error
    except ValueError as error:  # a number with thousands of digits
        raise ConfigProblem(f"{file}: not usable JSON: {error}") from error


def _paths_of(data: dict[str, Any], keys: list[str]) -> list[str]:
    """The dotted paths at which keys stand, wherever they do."""
    found = []

    def walk(value: dict[str, Any], prefix: str) -> None:
        for key, inner in value.items():
            if key in keys:
                found.append(prefix + key)
            if isinstance(inner, dict):
                walk(inner, f"{prefix}{key}.")

    if keys:
        walk(data, "")
    return found


# -- places ---------------------------------------------------------------------------------------------------------


def _place(text: str, offset: int) -> str:
    before = text.rfind("\n", 0, offset)
    return f"{text.count(chr(10), 0, offset) + 1}:{offset - before}"


def _offset(text: str, path: list[str]) -> int | None:
    """Where the key at a path starts, in a text that is valid JSON."""
    decoder = json.JSONDecoder()
    at, found = 0, None
    while path:
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        found = _key(decoder, text, at, path)
        if found is None:
            return None
        at, path = found[1], path[found[2] :]
    return None if found is None else found[0]


def _key(decoder: json.JSONDecoder, text: str, at: int, path: list[str]) -> tuple[int, int, int] | None:
    """Where the key, and its value, start in an object, and of how many parts it is; of two of one name the last."""
    if text[at : at + 1] != "{":
        return None
    found = None
    at = _skip(text, at + 1)
    while text[at : at + 1] == '"':
        start = at
        key, at = decoder.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)  # the colon
        parts = key.split(".")
        if path[: len(parts)] == parts:
            found = (start, at, len(parts))
        _, at = decoder.raw_decode(text, at)
        at = _skip(text, at)
        at = _skip(text, at + 1) if text[at : at + 1] == "," else at
    return found


def _skip(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]
