"""GitHub's API, patiently: what is limited is asked again when the server says, what failed if that does no harm."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import github
import requests
from github import Auth, GithubException

from automodel_lint.request import UsageError

PAUSE = 1.0  # between writes, as GitHub asks for
FIRST_WAIT = 1.0
LIMITED_WAIT = 60.0  # where a limit is reached and the server does not say for how long
PER_PAGE = 100
MOST_PAGES = 100
_FAILURES = (requests.exceptions.RequestException, OSError, ValueError)


class Refused(UsageError):
    """GitHub does not do what was asked for; ``status`` is its answer."""

    def __init__(self, status: int, text: str):
        super().__init__(text)
        self.status = status


class GivenUp(UsageError):
    """GitHub did not answer within our patience."""


class GitHub:
    """The API of one repository, with a budget of seconds that may be lost in waiting and in failed requests.

    In a dry run, ``writes`` collects what would be sent, and nothing is.
    """

    def __init__(self, url: str, token: str | None, *, timeout: int, patience: float, dry_run: bool = False):
        self.dry_run = dry_run
        self.writes: list[dict[str, Any]] = []
        self._patience, self._left = patience, patience
        self._token = token
        auth = Auth.Token(token) if token else None
        client = github.Github(
            base_url=url.rstrip("/"),
            auth=auth,
            timeout=timeout,
            retry=None,  # it would repeat a POST that may have succeeded
            seconds_between_requests=None,
            seconds_between_writes=PAUSE,
        )
        self._requester = client.requester

    # -- reading --------------------------------------------------------------------------------------------------

    def get(self, path: str, **parameters: Any) -> Any:
        """Return what the API says of a path.

        Raises:
            Refused, GivenUp: if it does not.
        """
        data = self._patiently("GET", path, lambda: self._call("GET", path, parameters)[1])
        if not isinstance(data, dict):
            raise _not_understood(path)
        return data

    def all(self, path: str, key: str | None = None, **parameters: Any) -> Iterator[dict[str, Any]]:
        """Yield every item of a list, page by page (``key`` is where a page that is an object has it)."""
        parameters["per_page"] = PER_PAGE
        url: str | None = path
        for _ in range(MOST_PAGES):
            headers, data = self._patiently("GET", path, lambda u=url, p=parameters: self._call("GET", u, p))
            items = data.get(key) if key and isinstance(data, dict) else data
            if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
                raise _not_understood(path)
            yield from items
            link = requests.utils.parse_header_links(headers.get("link", ""))
            url = next((entry["url"] for entry in link if entry.get("rel") == "next"), None)
            if url is None:
                return
            parameters = {}

    def query(self, text: str, **variables: Any) -> dict[str, Any]:
        """Return the data of a GraphQL query.

        Raises:
            Refused, GivenUp: if there are none.
        """
        return self._patiently("POST", "/graphql", lambda: self._requester.graphql_query(text, variables)[1])["data"]

    # -- writing --------------------------------------------------------------------------------------------------

    def send(
        self, verb: str, path: str, body: dict[str, Any] | None = None, done: Callable[[], Any] | None = None
    ) -> Any:
        """Write, and return the answer (an empty object in a dry run).

        What must not be done twice comes with ``done``: after a failure it is asked whether the write has happened all
        the same, and what it returns, if anything, is the answer.

        Raises:
            Refused, GivenUp: if it could not be written.
        """
        if self.dry_run:
            self.writes.append({"method": verb, "path": path, **({} if body is None else {"body": body})})
            return {}
        return self._patiently(verb, path, lambda: self._call(verb, path, {}, body)[1] or {}, done)

    def mutate(self, text: str, **variables: Any) -> None:
        """Write by GraphQL, what may be written twice.

        Raises:
            Refused, GivenUp: if it could not be written.
        """
        if self.dry_run:
            self.writes.append({"method": "POST", "path": "/graphql", "body": {"query": text, "variables": variables}})
            return
        self.query(text, **variables)

    # -- patience -------------------------------------------------------------------------------------------------

    def _call(self, verb: str, url: str | None, parameters: dict[str, Any], body: Any = None) -> tuple[Any, Any]:
        return self._requester.requestJsonAndCheck(verb, url, parameters=parameters, input=body)

    def _patiently(self, verb: str, path: str, call: Callable[[], Any], done: Callable[[], Any] | None = None) -> Any:
        backoff = FIRST_WAIT
        while True:
            started = time.monotonic()
            try:
                return call()
            except GithubException as error:
                limited = _limit(error)
                if limited is None and error.status < 500:
                    raise Refused(error.status, self._told(verb, path, error)) from None
                wait = _asked_wait(error) if limited is None else limited
                reason = f"{error.status}{'' if limited is None else ', a rate limit'}"
            except (RuntimeError, AssertionError):  # PyGithub follows no link to another server
                raise Refused(0, f"GitHub answers {verb} {path} with a link to another server") from None
            except _FAILURES as error:
                limited, wait, reason = None, None, type(error).__name__
            self._left -= time.monotonic() - started
            self._wait(backoff if wait is None else wait, f"{verb} {path}: {reason}")
            backoff *= 2
            if limited is None and done is not None:
                known = done()
                if known is not None:
                    return known

    def _wait(self, seconds: float, what: str) -> None:
        if seconds > self._left:
            raise GivenUp(f"GitHub does not answer within {self._patience:g} seconds of patience ({what})")
        self._left -= seconds
        time.sleep(seconds)

    def _told(self, verb: str, path: str, error: GithubException) -> str:
        """What GitHub says, in one line that a workflow's log does not take for a command."""
        data = error.data if isinstance(error.data, dict) else {}
        text = re.sub(r"[^ -~]|##|::", " ", json.dumps([data.get("message", ""), data.get("errors", [])]))
        if self._token:
            text = text.replace(self._token, "***")
        return f"GitHub refuses {verb} {path} with {error.status}: {text[:300]}"


def _not_understood(path: str) -> Refused:
    """What comes from something that is not GitHub's API, such as a proxy's page."""
    return Refused(0, f"the answer to GET {path} is none of GitHub's API")


def _limit(error: GithubException) -> float | None:
    """Return for how long a limit lasts, ``None`` if it was not a limit that refused."""
    headers = {key.lower(): value for key, value in (error.headers or {}).items()}
    data = error.data if isinstance(error.data, dict) else {}
    message = str(data.get("message", "")).lower()
    spent = headers.get("x-ratelimit-remaining") == "0"
    limited = (
        error.status == 429
        or (
            error.status == 403 and (spent or "retry-after" in headers or "rate limit" in message or "abuse" in message)
        )
        or "RATE_LIMITED" in str(data.get("errors", ""))  # GraphQL says it with status 200
    )
    if not limited:
        return None
    asked = _asked_wait(error)
    if asked is not None:
        return asked
    reset = headers.get("x-ratelimit-reset", "")
    if spent and reset.isdigit():
        return max(0.0, int(reset) - time.time()) + 1  # it is not said when in that second
    return LIMITED_WAIT


def _asked_wait(error: GithubException) -> float | None:
    """Return what ``Retry-After`` says, in seconds."""
    headers = {key.lower(): value for key, value in (error.headers or {}).items()}
    text = str(headers.get("retry-after", ""))
    return float(text) if text.isdigit() and len(text) < 10 else None
