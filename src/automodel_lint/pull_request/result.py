"""The result of a linting step. It may come from somebody hostile: what is not exactly of its shape is not taken."""

from __future__ import annotations

import json
import os
import posixpath
from dataclasses import dataclass
from typing import Any, NoReturn

from automodel_lint.pages import pages
from automodel_lint.pull_request import shapes
from automodel_lint.request import UsageError

LARGEST_FILE = 10_000_000
MOST_FINDINGS = 2_000


@dataclass(frozen=True, order=True)
class Found:
    """A finding, as far as a result file is believed; ``path`` is relative to the repository."""

    path: str
    line: int
    code: str
    fingerprint: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is known by, wherever its line goes."""
        return self.code, self.fingerprint, self.path


@dataclass(frozen=True)
class Result:
    """What is taken from a result file.

    ``commit`` is what was linted (``None`` if the file does not say), ``prefix`` the folder in the repository that was;
    ``unknown`` are findings of rules that this version has no page of; ``outside`` counts those in files outside of
    what was linted, which ``check`` names by absolute paths.
    """

    commit: str | None
    prefix: str
    findings: tuple[Found, ...]
    unknown: tuple[Found, ...] = ()
    outside: int = 0


def read(path: str) -> Result:
    """Return what of a result file is believed.

    Raises:
        UsageError: if there is no such file, it is too large, no JSON, or not what ``check`` writes. The text quotes
            nothing of the file.
    """
    return _Reader(path).result(_parsed(path, _bytes(path)))


def _bytes(path: str) -> bytes:
    if not os.path.isfile(path):
        raise UsageError(f"{path}: no such file")
    try:
        with open(path, "rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > LARGEST_FILE:
        raise UsageError(f"{path}: larger than {LARGEST_FILE:,} bytes")
    return data


class _Refused(ValueError):
    """What JSON allows, or Python's parser does, and no result has."""


def _parsed(path: str, data: bytes) -> Any:
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_no_number,
            parse_int=_short_number,
        )
    except _Refused as error:
        raise UsageError(f"{path}: no result of automodel-lint: {error}") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno}: not valid JSON") from None
    except RecursionError:
        raise UsageError(f"{path}: no result of automodel-lint: nested too deeply") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not valid JSON: not in UTF-8") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Refused("a key is there twice")
    return found


def _no_number(_text: str) -> NoReturn:
    raise _Refused("a number is none")


def _short_number(text: str) -> int:
    if len(text) > 18:
        raise _Refused("a number is too long")
    return int(text)


class _Reader:
    """Takes one value after the other; says of one that is wrong where it stands and not what it is."""

    def __init__(self, path: str):
        self.path = path

    def _fail(self, place: str, problem: str) -> NoReturn:
        raise UsageError(f"{self.path}: {place} {problem}")

    def result(self, data: Any) -> Result:
        if not isinstance(data, dict) or not isinstance(data.get("findings"), list):
            self._fail("no result of automodel-lint:", "it has no findings")
        if data.get("version") != 1 or isinstance(data["version"], bool):
            self._fail("version", "must be 1")
        if len(data["findings"]) > MOST_FINDINGS:
            self._fail("findings", f"are more than {MOST_FINDINGS:,}: too many for comments")
        commit, prefix = self._repository(data.get("repository"))
        unique: dict[tuple[str, str, str], Found] = {}
        outside = 0
        for number, item in enumerate(data["findings"]):
            found = self._finding(item, prefix, f"findings[{number}]")
            if found is None:
                outside += 1
            else:
                unique.setdefault(found.key, found)
        known = pages()
        findings = sorted(unique.values())
        return Result(
            commit,
            prefix,
            tuple(f for f in findings if f.code in known),
            tuple(f for f in findings if f.code not in known),
            outside,
        )

    def _repository(self, place: Any) -> tuple[str | None, str]:
        if place is None:
            return None, ""
        if not isinstance(place, dict):
            self._fail("repository", "must be an object or null")
        commit, prefix = place.get("commit"), place.get("prefix")
        if not isinstance(commit, str) or not shapes.COMMIT.fullmatch(commit):
            self._fail("repository.commit", "must be the full name of a commit")
        problem = shapes.bad_path(prefix) if prefix != "" else None
        if problem:
            self._fail("repository.prefix", problem)
        return commit, prefix

    def _finding(self, item: Any, prefix: str, place: str) -> Found | None:
        if not isinstance(item, dict):
            self._fail(place, "must be an object")
        line = item.get("line")
        if not isinstance(line, int) or isinstance(line, bool) or not 1 <= line <= shapes.LAST_LINE:
            self._fail(f"{place}.line", f"must be a number from 1 to {shapes.LAST_LINE}")
        problem = shapes.bad_path(item.get("path"))
        if problem:
            if shapes.is_absolute(item.get("path")):
                return None
            self._fail(f"{place}.path", problem)
        for key, shape in (("code", shapes.CODE), ("fingerprint", shapes.FINGERPRINT)):
            if not isinstance(item.get(key), str) or not shape.fullmatch(item[key]):
                self._fail(f"{place}.{key}", "is no " + key)
        path = posixpath.join(prefix, item["path"])
        if len(path) > shapes.LONGEST_PATH:
            self._fail(f"{place}.path", f"must have 1 to {shapes.LONGEST_PATH} characters")
        return Found(path, line, item["code"], item["fingerprint"])
