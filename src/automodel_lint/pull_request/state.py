"""What is on the pull request already: our own comments and summaries. Everybody else's are only counted as answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from automodel_lint.pull_request.github import GitHub, Refused
from automodel_lint.pull_request.markers import CommentMark, SummaryMark

ACTIONS = "github-actions[bot]"


@dataclass(frozen=True)
class Comment:
    """An inline comment of ours. ``live`` while GitHub shows it at a line, ``answered`` if somebody replied."""

    id: int
    path: str
    mark: CommentMark
    live: bool
    answered: bool
    body: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What the finding that it is about is known by."""
        return self.mark.code, self.mark.fingerprint, self.path


@dataclass(frozen=True)
class Summary:
    """The body of a review of ours."""

    id: int
    commit: str
    mark: SummaryMark
    body: str
    url: str


@dataclass
class State:
    """Our comments, without those that say that their finding is gone; the newest summary, and older ones."""

    comments: list[Comment] = field(default_factory=list)
    newest: Summary | None = None
    older: list[Summary] = field(default_factory=list)


def own_login(api: GitHub, given: str | None) -> str:
    """Return who we are to GitHub: as it was given, as the token's owner, or as the app that the token is of."""
    if given:
        return given
    try:
        return str(api.get("/user")["login"])
    except Refused as refused:
        if refused.status not in (401, 403, 404) or (refused.status == 401 and not api.dry_run):
            raise
    try:  # an app's token may not ask for a user
        return str(api.query("query { viewer { login } }")["viewer"]["login"])
    except (Refused, KeyError, TypeError):
        return ACTIONS


def is_login(user: Any, login: str) -> bool:
    """Tell whether a user as the API gives it is called ``login``."""
    return isinstance(user, dict) and str(user.get("login", "")).casefold() == login.casefold()


def read(api: GitHub, pull: str, login: str) -> State:
    """Return the state of a pull request (``pull`` is its path in the API) as far as it is ours."""
    everything = list(api.all(f"{pull}/comments"))
    answered = {comment.get("in_reply_to_id") for comment in everything}
    state = State()
    for data in everything:
        mark = CommentMark.of(data.get("body") or "")
        if mark is None or mark.gone or data.get("in_reply_to_id") or not is_login(data.get("user"), login):
            continue
        live = data.get("line") is not None
        state.comments.append(Comment(data["id"], data["path"], mark, live, data["id"] in answered, data["body"]))
    summaries = sorted(summaries_of(api, pull, login), key=lambda summary: summary.id)
    if summaries:
        *state.older, state.newest = summaries
    return state


def summaries_of(api: GitHub, pull: str, login: str) -> list[Summary]:
    """Return the summaries of ours that are not yet marked as outdated."""
    found = []
    for data in api.all(f"{pull}/reviews"):
        body = data.get("body") or ""
        mark = SummaryMark.of(body)
        if mark is not None and is_login(data.get("user"), login) and data.get("state") != "PENDING":
            found.append(Summary(data["id"], data.get("commit_id") or "", mark, body, data.get("html_url") or ""))
    return found
