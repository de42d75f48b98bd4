"""Which pull request is meant: by number, or by the event that GitHub Actions was started for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from automodel_lint.pull_request import shapes
from automodel_lint.request import UsageError


@dataclass(frozen=True)
class Target:
    """A pull request of ``repository`` (owner/name).

    ``number`` is ``None`` while only its head is known: the commit ``head``, on ``branch`` of ``owner``'s repository.
    ``head`` is ``None`` where only a number was given.
    """

    repository: str
    number: int | None = None
    head: str | None = None
    owner: str | None = None
    branch: str | None = None


class NotOurs(Exception):
    """The event is about no pull request that could be commented on; the text says why."""


def from_event(path: str, repository: str) -> Target:
    """Return what pull request an event of ``pull_request``, ``pull_request_target`` or ``workflow_run`` is about.

    Raises:
        UsageError: if the file is no such event, or one of another repository.
        NotOurs: if the event is about something else than an open pull request.
    """
    event = _read(path)
    name = shapes.repository_name(_at(event, "repository", "full_name"), f"{path}: the event")
    if name.casefold() != repository.casefold():
        raise UsageError(f"{path}: the event is about another repository than {repository}")
    if "pull_request" in event:
        number, head = _at(event, "pull_request", "number"), _at(event, "pull_request", "head", "sha")
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise UsageError(f"{path}: the event's pull request has no number")
        return Target(repository, number, _commit(head, path))
    if "workflow_run" in event:
        return _from_run(event["workflow_run"], path, repository)
    raise UsageError(f"{path}: no event of pull_request, pull_request_target or workflow_run")


def _from_run(run: Any, path: str, repository: str) -> Target:
    if _at(run, "event") not in ("pull_request", "pull_request_target"):
        raise NotOurs("the workflow did not run for a pull request")
    head = _commit(_at(run, "head_sha"), path)
    owner = _at(run, "head_repository", "owner", "login")
    if owner is None:
        raise NotOurs("the repository of the pull request's branch is gone")
    branch = _at(run, "head_branch")
    if not isinstance(owner, str) or not isinstance(branch, str) or not owner or not branch:
        raise UsageError(f"{path}: the event does not say whose branch was run")
    return Target(repository, None, head, owner, branch)


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as stream:
            event = json.load(stream)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError):
        raise UsageError(f"{path}: not valid JSON") from None
    if not isinstance(event, dict):
        raise UsageError(f"{path}: no event of GitHub")
    return event


def _at(data: Any, *keys: str) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _commit(text: Any, path: str) -> str:
    if not isinstance(text, str) or not shapes.COMMIT.fullmatch(text):
        raise UsageError(f"{path}: the event names no commit")
    return text
