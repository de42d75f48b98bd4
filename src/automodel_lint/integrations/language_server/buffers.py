"""Open buffers as they are linted: one that does not parse is taken as it last did.

While somebody types, a file is more often broken than not. What is known of it stays, at the lines where it is now.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from automodel_lint import toml
from automodel_lint.findings import Finding, Span
from automodel_lint.integrations.language_server.files import Files
from automodel_lint.integrations.language_server.moves import Move
from automodel_lint.source import ParseProblem, decoded, digest


@dataclass
class Buffers:
    """What is linted in place of files, what is broken on the screen, and how to come from the one to the other."""

    linted: dict[str, bytes] = field(default_factory=dict)
    broken: dict[str, ParseProblem] = field(default_factory=dict)
    moves: dict[str, Move] = field(default_factory=dict)

    def problem(self, path: str, relative: str) -> Finding | None:
        """Return NAM002 for a buffer that does not parse; it lacks what the engine completes."""
        problem = self.broken.get(path)
        if problem is None:
            return None
        place = Span(problem.line, problem.column, problem.line, problem.column + 1)
        return Finding(relative, place, fields=(("reason", problem.reason),), code="NAM002")


class Screen:
    """Remembers how buffers looked when they could be parsed."""

    def __init__(self, files: Files):
        self.files = files
        self._parsed: dict[str, bytes] = {}

    def taken(self, overlay: Mapping[str, bytes]) -> Buffers:
        """Return open buffers as they are to be linted."""
        found = Buffers()
        for path, data in overlay.items():
            problem = self._problem(path, data)
            last = self._parsed.get(path, self.files.file(path).data) if problem else None
            if problem is None or last is None or self._problem(path, last):
                found.linted[path] = data
                continue
            found.linted[path] = last
            found.moves[path] = Move(decoded(last), decoded(data))
            if path.endswith(".py"):
                found.broken[path] = problem
        self._parsed = dict(found.linted)
        return found

    def _problem(self, path: str, data: bytes) -> ParseProblem | None:
        if path.endswith(".toml"):
            try:
                toml.loads(decoded(data))
            except toml.TOMLDecodeError as error:
                return ParseProblem(str(error))
            return None
        syntax = self.files.syntax(path, data, digest(data)) if path.endswith(".py") else None
        return syntax if isinstance(syntax, ParseProblem) else None
