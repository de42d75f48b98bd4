"""A baseline: today's findings, kept by fingerprint so that only new ones are shown. It may only shrink."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace

from automodel_lint.findings import Finding
from automodel_lint.source import digest
from automodel_lint.writing import write_whole

VERSION = 1


class BaselineError(Exception):
    """A baseline cannot be read or written; the text starts with its path."""


@dataclass(frozen=True)
class Entry:
    """One known finding, and the line of the baseline file it stands on."""

    code: str
    path: str
    line: int


def fingerprinted(findings: list[Finding]) -> list[Finding]:
    """Give every finding a fingerprint: the same one while code, file, symbol and message stay, whatever the line."""
    seen: Counter[str] = Counter()
    result = []
    for finding in findings:
        text = "\0".join((finding.code, finding.path, finding.symbol or "", unnumbered(finding)))
        seen[text] += 1
        data = f"{text}\0{seen[text]}".encode("utf-8", "surrogatepass")  # a file's name need be no text
        result.append(replace(finding, fingerprint=digest(data)[:16]))
    return result


def unnumbered(finding: Finding) -> str:
    """Return a message without line numbers, and without the figures of the probe, which no two machines share."""
    import re

    if finding.code.startswith("NAM9"):
        return re.sub(r"(?<![\w.])-?\d[\d.,]*(e[-+]?\d+)?(?!\w)", "#", finding.message)
    return re.sub(r"(?:\bline |(?<=\.py):)\d+", "line", finding.message)


def load(path: str) -> dict[str, Entry]:
    """Return the known findings by fingerprint.

    Raises:
        BaselineError: if there is no readable baseline at ``path``.
    """
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        data = json.loads(text)
        if data["version"] != VERSION:
            raise ValueError(f"version {data['version']} is not {VERSION}")
        lines = {line.strip().strip('",')[:16]: number for number, line in enumerate(text.splitlines(), 1)}
        found = {}
        for fingerprint, entry in data["findings"].items():
            code, place = entry["code"], entry["path"]
            if not isinstance(code, str) or not isinstance(place, str):
                raise ValueError(f"entry {fingerprint} has no code and path")
            found[fingerprint] = Entry(code, place, lines.get(fingerprint, 1))
        return found
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BaselineError(f"{path}:1: no usable baseline: {error}") from error


def write(path: str, findings: list[Finding]) -> None:
    """Write a baseline; an old one is replaced whole or not at all.

    Raises:
        BaselineError: if it cannot be written.
    """
    entries = {
        f.fingerprint: {"code": f.code, "path": f.path, "symbol": f.symbol, "message": f.message} for f in findings
    }
    ordered = dict(sorted(entries.items(), key=lambda item: (item[1]["path"], item[1]["code"], item[0])))
    text = json.dumps({"version": VERSION, "findings": ordered}, indent=1) + "\n"
    try:
        write_whole(path, text)
    except OSError as error:
        raise BaselineError(f"{path}: cannot be written: {error}") from error
