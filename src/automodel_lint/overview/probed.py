"""What ``automodel-lint probe --output-format json`` has written, as far as an overview takes it in."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from automodel_lint.findings import Finding, Severity, Span
from automodel_lint.pages import pages
from automodel_lint.probe.protocol import FINDING, NOT_PROBED, PASSED
from automodel_lint.request import UsageError

_LARGEST = 50_000_000
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_HINT = "write it with `automodel-lint probe --output-format json`"


@dataclass(frozen=True)
class Check:
    """How one check of one class ended; ``said`` is why it could not look, or what it measured."""

    status: str
    said: str


@dataclass(frozen=True)
class ProbedClass:
    """One class of a result: ``key`` is ``module:Class``."""

    key: str
    seconds: float
    checks: dict[str, Check]


@dataclass(frozen=True)
class ProbeResult:
    """A result of the probe: its classes, and the findings of its checks that were not silenced."""

    commit: str | None
    classes: tuple[ProbedClass, ...]
    findings: tuple[Finding, ...]


def read(path: str) -> ProbeResult:
    """Return the result that a file holds.

    Raises:
        UsageError: if there is no such file, or it is not what ``probe`` writes as JSON; one line that says what.
    """
    if not os.path.isfile(path):
        raise UsageError(f"{path}: no such file")
    try:
        with open(path, "rb") as stream:
            data = stream.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise UsageError(f"{path}: larger than {_LARGEST:,} bytes")
        content = json.loads(data.decode("utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno}: not valid JSON: {_HINT}") from None
    except (UnicodeDecodeError, RecursionError, ValueError):
        raise UsageError(f"{path}: not valid JSON: {_HINT}") from None
    return _Reader(path).result(content)


class _Reader:
    """Takes one value after the other; says of one that is wrong where it stands."""

    def __init__(self, path: str):
        self.path = path

    def _fail(self, place: str, problem: str) -> NoReturn:
        raise UsageError(f"{self.path}: no result of the probe: {place} {problem}: {_HINT}")

    def _of(self, value: Any, kind: type | tuple[type, ...], place: str, words: str) -> Any:
        wrong = not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)
        return self._fail(place, f"must be {words}") if wrong else value

    def result(self, data: Any) -> ProbeResult:
        self._of(data, dict, "the file", "an object")
        if data.get("version") != 1 or isinstance(data.get("version"), bool):
            self._fail("`version`", "must be 1")
        if "probe" not in data:
            self._fail("`probe`", "is missing")
        classes = self._of(data["probe"], list, "`probe`", "a list")
        findings = self._of(data.get("findings"), list, "`findings`", "a list")
        found = [self._finding(f, f"`findings[{n}]`") for n, f in enumerate(findings)]
        told = tuple(self._class(c, f"`probe[{n}]`") for n, c in enumerate(classes))
        return ProbeResult(self._commit(data.get("repository")), told, tuple(f for f in found if f is not None))

    def _commit(self, place: Any) -> str | None:
        commit = place.get("commit") if isinstance(place, dict) else None
        if place is not None and (not isinstance(commit, str) or not _COMMIT.fullmatch(commit)):
            self._fail("`repository`", "must name a commit, or be null")
        return commit

    def _class(self, data: Any, place: str) -> ProbedClass:
        self._of(data, dict, place, "an object")
        key = self._of(data.get("class"), str, f"{place}.class", "a text")
        seconds = self._of(data.get("seconds"), (int, float), f"{place}.seconds", "a number")
        checks = self._of(data.get("checks"), dict, f"{place}.checks", "an object")
        return ProbedClass(key, seconds, {code: self._check(c, f"{place}.checks.{code}") for code, c in checks.items()})

    def _check(self, data: Any, place: str) -> Check:
        self._of(data, dict, place, "an object")
        if data.get("status") not in (PASSED, FINDING, NOT_PROBED):
            self._fail(f"{place}.status", f"must be {PASSED}, {FINDING} or {NOT_PROBED}")
        texts = [data.get(name) for name in ("reason", "figure")]
        for text in texts:
            if text is not None:
                self._of(text, str, place, "of texts")
        return Check(data["status"], next((text for text in texts if text), ""))

    def _finding(self, data: Any, place: str) -> Finding | None:
        """A finding of one of the probe's checks; ``None`` for one about something else, such as the settings."""
        self._of(data, dict, place, "an object")
        code = self._of(data.get("code"), str, f"{place}.code", "a text")
        if code not in pages() or not pages()[code].is_probed:
            return None
        numbers = [
            self._of(data.get(name), int, f"{place}.{name}", "a number")
            for name in ("line", "column", "end_line", "end_column")
        ]
        texts = [self._of(data.get(name), str, f"{place}.{name}", "a text") for name in ("path", "message", "severity")]
        if texts[2] not in [str(severity) for severity in Severity]:
            self._fail(f"{place}.severity", "must be error, warning or info")
        names = self._of(data.get("architectures"), list, f"{place}.architectures", "a list")
        symbol = data.get("symbol")
        if symbol is not None:
            self._of(symbol, str, f"{place}.symbol", "a text or null")
        return Finding(
            texts[0],
            Span(*(max(number, 1) for number in numbers)),
            symbol,
            tuple(self._of(name, str, f"{place}.architectures", "of texts") for name in names),
            severity=Severity.parse(texts[2]),
            code=code,
            message=texts[1],
            fingerprint=str(data.get("fingerprint") or ""),
        )
