"""Open buffers as they are linted: one that does not parse is taken as it last did.

While somebody types, a file is more often broken than not. What is known of it stays, at the lines where it is now.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field

from automodel_lint import toml
from automodel_lint.domain.recipe_files import ENDINGS
from automodel_lint.findings import Finding, Span
from automodel_lint.integrations.language_server.files import Files
from automodel_lint.integrations.language_server.moves import Move
from automodel_lint.source import ParseProblem, decoded, digest


@dataclass
class Buffers:
    """What is linted in place of files, what is broken on the screen, and how to come from the one to the other.

    ``unloadable`` are the recipes among what is broken, as they stand.
    """

    linted: dict[str, bytes] = field(default_factory=dict)
    broken: dict[str, ParseProblem] = field(default_factory=dict)
    unloadable: dict[str, bytes] = field(default_factory=dict)
    moves: dict[str, Move] = field(default_factory=dict)

    def problems(self, relative: Callable[[str], str], recipes: Container[str]) -> list[Finding]:
        """Return what keeps buffers from being parsed, without what the engine completes: NAM002, of recipes NAM814.

        ``relative`` says how findings show a path, ``recipes`` which files are recipes, by such paths.
        """
        found = []
        for path, problem in self.broken.items():
            place = Span(problem.line, problem.column, problem.line, problem.column + 1)
            found.append(Finding(relative(path), place, fields=(("reason", problem.reason),), code="NAM002"))
        for path, data in self.unloadable.items():
            if relative(path) in recipes:
                from automodel_lint.domain.recipe_yaml import faults
                from automodel_lint.inference.yaml_document import read

                found += faults(relative(path), read(data))
        return found

    def says(self, finding: Finding, path: str) -> bool:
        """Tell whether a finding is one of those, and so stands where the screen has it."""
        return (finding.code == "NAM002" and path in self.broken) or (
            finding.code == "NAM814" and path in self.unloadable
        )


class Screen:
    """Remembers how buffers looked when they could be parsed."""

    def __init__(self, files: Files):
        self.files = files
        self._parsed: dict[str, bytes] = {}
        self._loads: dict[str, tuple[bytes, ParseProblem | None]] = {}

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
            elif path.endswith(ENDINGS):
                found.unloadable[path] = data
        self._parsed = dict(found.linted)
        return found

    def _problem(self, path: str, data: bytes) -> ParseProblem | None:
        if path.endswith(".toml"):
            try:
                toml.loads(decoded(data))
            except toml.TOMLDecodeError as error:
                return ParseProblem(str(error))
            return None
        if path.endswith(ENDINGS):
            return self._unloadable(path, data)
        syntax = self.files.syntax(path, data, digest(data)) if path.endswith(".py") else None
        return syntax if isinstance(syntax, ParseProblem) else None

    def _unloadable(self, path: str, data: bytes) -> ParseProblem | None:
        """Why a YAML buffer has no values at all; one that has some is linted as it stands."""
        known = self._loads.get(path)
        if known is None or known[0] != data:
            from automodel_lint.inference.yaml_document import read

            document = read(data)
            problem = ParseProblem("not YAML") if document.problems and document.root is None else None
            known = self._loads[path] = (data, problem)
        return known[1]
