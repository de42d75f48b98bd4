"""What the tests of ``annotate`` share: a server with one pull request, results, and the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from automodel_lint.commands import run
from automodel_lint.pull_request import github as github_room
from automodel_lint.source import digest

from .github_pulls import Pull, commit
from .github_server import TOKEN, GitHubServer, running

MODEL = "acme/model.py"
FIRST, SECOND = commit("first"), commit("second")
OLD = "".join(f"line {n}\n" for n in range(1, 41))


def changed(text: str, *lines: int, how: str = "changed") -> str:
    """Return a text with some of its lines written anew."""
    new = text.splitlines()
    for line in lines:
        new[line - 1] += f" {how}"
    return "\n".join(new) + "\n"


def finding(code: str, path: str, line: int, name: str = "", **more: Any) -> dict[str, Any]:
    """Return a finding as ``check`` writes it; its fingerprint is of everything but the line."""
    return {
        "code": code,
        "path": path,
        "line": line,
        "fingerprint": digest(f"{code}{path}{name}".encode())[:16],
        **more,
    }


def result(*findings: dict[str, Any], head: str | None = FIRST, **more: Any) -> dict[str, Any]:
    """Return the result of a linting step."""
    place = None if head is None else {"commit": head, "prefix": ""}
    return {"version": 1, "repository": place, "findings": list(findings), **more}


@dataclass
class Ran:
    """What a run of the command line gave."""

    code: int
    out: str
    err: str


@dataclass
class Bench:
    """A server with pull request 5, and the command line that is pointed at it."""

    github: GitHubServer
    folder: Path
    capture: Any
    patch: pytest.MonkeyPatch

    @property
    def pull(self) -> Pull:
        return self.github.pulls[5]

    def annotate(self, data: Any, *arguments: object, target: tuple[str, ...] = ("--pr", "5")) -> Ran:
        """Write a result (``bytes`` as they are) and run ``annotate`` on it."""
        path = self.folder / "result.json"
        path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
        words = ["automodel-lint", "annotate", str(path), "--repo", self.github.repository, *target]
        self.patch.setattr(sys, "argv", [*words, *map(str, arguments)])
        self.capture.readouterr()
        with pytest.raises(SystemExit) as left:
            run()
        out, err = self.capture.readouterr()
        return Ran(int(left.value.code or 0), out, err)

    def event(self, data: dict[str, Any]) -> tuple[str, ...]:
        """Write an event and return the arguments that name it."""
        path = self.folder / "event.json"
        path.write_text(json.dumps({"repository": {"full_name": self.github.repository}, **data}))
        return ("--event", str(path))

    def bodies(self) -> list[str]:
        """Return the texts of the inline comments, in order."""
        return [comment["body"] for comment in self.pull.comments.values()]

    def places(self) -> list[tuple[str, int]]:
        """Return where the inline comments were put."""
        return [(comment["path"], comment["line"]) for comment in self.pull.comments.values()]

    def summary(self) -> str:
        """Return the body of the newest review."""
        return list(self.pull.reviews.values())[-1]["body"]


@contextmanager
def at_bench(folder: Path, monkeypatch: pytest.MonkeyPatch, capture: Any) -> Iterator[Bench]:
    """Lines 10, 20 and 30 of a model are changed, at the commit ``FIRST``; waiting takes no time."""
    server = GitHubServer()
    server.pulls[5] = Pull(5, FIRST, {MODEL: OLD}, {MODEL: changed(OLD, 10, 20, 30)})
    monkeypatch.setattr(github_room, "PAUSE", None)
    monkeypatch.setattr(github_room, "FIRST_WAIT", 0.01)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    with running(server):
        monkeypatch.setenv("GITHUB_API_URL", server.url)
        monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.com")
        yield Bench(server, folder, capture, monkeypatch)
