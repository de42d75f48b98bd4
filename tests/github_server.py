"""A local server that behaves as GitHub's API does for the calls of ``annotate``, with faults that can be scheduled.

It holds one repository with its pull requests, refuses what GitHub refuses (no token, an anchor outside of the diff,
more than fifty annotations, a body that is too long), and keeps every request that it was sent.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .github_pulls import Pull

TOKEN = "a-secret-token"
BOT = "github-actions[bot]"
LONGEST_BODY = 65_536


class Answer(Exception):
    """A refusal, raised where it is found."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status, self.message = status, message


@dataclass
class Fault:
    """What the server does instead of answering the next ``times`` requests of this method and path.

    ``after`` carries the request out first; ``delay`` makes the server slow; without a ``status`` it answers then.
    """

    method: str
    path: str
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    message: str = "faulty"
    data: Any = None
    after: bool = False
    delay: float = 0
    times: int = 1

    def fits(self, method: str, path: str) -> bool:
        return self.times > 0 and method == self.method and re.search(self.path, path) is not None


class GitHubServer:
    """The state of the server. ``login`` is whose token it takes, ``app`` whether that may ask for a user."""

    def __init__(self, repository: str = "acme/models"):
        self.repository = repository
        self.pulls: dict[int, Pull] = {}
        self.check_runs: dict[int, dict[str, Any]] = {}
        self.faults: list[Fault] = []
        self.requests: list[tuple[str, str, Any]] = []
        self.login, self.app, self.may_resolve, self.may_check, self.per_page = BOT, True, True, True, 100
        self.url = ""
        self._ids = iter(range(1001, 10**6))
        self._lock = threading.Lock()

    # -- what tests look at -----------------------------------------------------------------------------------

    def writes(self, pattern: str = "") -> list[tuple[str, str, Any]]:
        """Return the requests that write, where method and path match; looking something up by GraphQL is none."""
        found = [r for r in self.requests if r[0] != "GET" and not (r[1] == "/graphql" and "mutation" not in str(r[2]))]
        return [r for r in found if re.search(pattern, f"{r[0]} {r[1]}")]

    def forget_requests(self) -> None:
        self.requests.clear()

    def everything_written(self) -> str:
        """Return all text that was ever sent by writes."""
        return json.dumps([body for _, _, body in self.writes()], ensure_ascii=False)

    def fault(self, method: str, path: str, status: int | None = None, **more: Any) -> Fault:
        """Schedule a fault."""
        self.faults.append(Fault(method, path, status, **more))
        return self.faults[-1]

    # -- answering --------------------------------------------------------------------------------------------

    def answer(self, method: str, path: str, query: dict[str, str], body: Any, token: str | None) -> Any:
        """Return what an undisturbed server answers; raises :class:`Answer` for a refusal."""
        if token is not None and token != TOKEN:
            raise Answer(401, "Bad credentials")
        if token is None and (method != "GET" or path == "/user"):
            raise Answer(401, "Requires authentication")
        with self._lock:
            if path == "/user":
                if self.app:
                    raise Answer(403, "Resource not accessible by integration")
                return {"login": self.login}
            if path == "/graphql":
                return self._graphql(body["query"], body["variables"])
            prefix = f"/repos/{self.repository}/"
            if not path.lower().startswith(prefix.lower()):
                raise Answer(404, "Not Found")
            return self._in_repository(method, path[len(prefix) :], query, body)

    def _in_repository(self, method: str, path: str, query: dict[str, str], body: Any) -> Any:
        for verb, pattern, handler in (
            ("GET", r"pulls", self._list_pulls),
            ("GET", r"pulls/(\d+)", lambda q, b, n: self._pull(n).as_json(self.repository)),
            ("GET", r"pulls/(\d+)/files", lambda q, b, n: self._pull(n).files()),
            ("GET", r"pulls/(\d+)/comments", lambda q, b, n: list(self._pull(n).comments.values())),
            ("GET", r"pulls/(\d+)/reviews", lambda q, b, n: list(self._pull(n).reviews.values())),
            ("POST", r"pulls/(\d+)/reviews", self._create_review),
            ("PUT", r"pulls/(\d+)/reviews/(\d+)", self._update_review),
            ("PATCH", r"pulls/comments/(\d+)", self._edit_comment),
            ("DELETE", r"pulls/comments/(\d+)", self._delete_comment),
            ("GET", r"commits/([0-9a-f]+)/check-runs", self._list_check_runs),
            ("POST", r"check-runs", self._create_check_run),
            ("GET", r"check-runs/(\d+)", lambda q, b, n: self._check_run(n)),
            ("PATCH", r"check-runs/(\d+)", self._update_check_run),
        ):
            match = re.fullmatch(pattern, path)
            if verb == method and match:
                return handler(query, body, *match.groups())
        raise Answer(404, "Not Found")

    def _pull(self, number: str) -> Pull:
        if int(number) not in self.pulls:
            raise Answer(404, "Not Found")
        return self.pulls[int(number)]

    def _list_pulls(self, query: dict[str, str], body: Any) -> list[dict[str, Any]]:
        pulls = [p for p in self.pulls.values() if p.state == query.get("state", "open")]
        if "head" in query:
            pulls = [p for p in pulls if f"{p.owner}:{p.branch}" == query["head"]]
        return [p.as_json(self.repository) for p in pulls]

    # -- reviews and comments ---------------------------------------------------------------------------------

    def _create_review(self, query: dict[str, str], body: Any, number: str) -> dict[str, Any]:
        pull = self._pull(number)
        if body["event"] != "COMMENT" or not body["body"] or body["commit_id"] not in pull.commits:
            raise Answer(422, "Unprocessable Entity")
        self._check_length(body["body"])
        for comment in body["comments"]:
            self._check_length(comment["body"])
            if not pull.can_stand(comment):
                raise Answer(422, 'Unprocessable Entity: "Line could not be resolved"')
        return pull.add_review(next(self._ids), self._ids, self.login, self.url, body)

    def _update_review(self, query: dict[str, str], body: Any, number: str, review: str) -> dict[str, Any]:
        found = self._pull(number).reviews.get(int(review))
        if found is None:
            raise Answer(404, "Not Found")
        if found["user"]["login"] != self.login or not body["body"]:
            raise Answer(403, "Resource not accessible by integration")
        self._check_length(body["body"])
        found["body"] = body["body"]
        return found

    def _own_comment(self, number: str) -> tuple[Pull, dict[str, Any]]:
        for pull in self.pulls.values():
            if int(number) in pull.comments:
                return pull, pull.comments[int(number)]
        raise Answer(404, "Not Found")

    def _edit_comment(self, query: dict[str, str], body: Any, number: str) -> dict[str, Any]:
        _, comment = self._own_comment(number)
        self._check_length(body["body"])
        comment["body"] = body["body"]
        return comment

    def _delete_comment(self, query: dict[str, str], body: Any, number: str) -> None:
        pull, comment = self._own_comment(number)
        del pull.comments[comment["id"]]

    def _check_length(self, body: str) -> None:
        if len(body) > LONGEST_BODY:
            raise Answer(422, f"body is too long (maximum is {LONGEST_BODY} characters)")

    # -- check runs -------------------------------------------------------------------------------------------

    def _check_run(self, number: str) -> dict[str, Any]:
        if int(number) not in self.check_runs:
            raise Answer(404, "Not Found")
        return self.check_runs[int(number)]

    def _list_check_runs(self, query: dict[str, str], body: Any, commit: str) -> dict[str, Any]:
        runs = [r for r in self.check_runs.values() if r["head_sha"] == commit and r["name"] == query["check_name"]]
        return {"total_count": len(runs), "check_runs": runs}

    def _create_check_run(self, query: dict[str, str], body: Any) -> dict[str, Any]:
        if not self.may_check:
            raise Answer(403, "Resource not accessible by integration")
        number = next(self._ids)
        run = {"id": number, "annotations": [], "conclusion": None, "output": {"annotations_count": 0}}
        self.check_runs[number] = run
        return self._take(run, body)

    def _update_check_run(self, query: dict[str, str], body: Any, number: str) -> dict[str, Any]:
        return self._take(self._check_run(number), body)

    def _take(self, run: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        output = body["output"]
        if len(output["annotations"]) > 50 or not output["title"] or len(output["summary"]) > 65_535:
            raise Answer(422, "Invalid request")
        if (body["status"] == "completed") != ("conclusion" in body):
            raise Answer(422, "Invalid request")
        for annotation in output["annotations"]:
            if not annotation["message"] or annotation["annotation_level"] not in ("notice", "warning", "failure"):
                raise Answer(422, "Invalid request")
        run["annotations"] += output["annotations"]
        run.update({key: value for key, value in body.items() if key != "output"})
        run["output"] = {**output, "annotations": None, "annotations_count": len(run["annotations"])}
        return run

    # -- GraphQL ----------------------------------------------------------------------------------------------

    def _graphql(self, query: str, variables: dict[str, Any]) -> dict[str, Any]:
        if "viewer" in query:
            return {"data": {"viewer": {"login": self.login}}}
        if "resolveReviewThread" in query:
            if not self.may_resolve:
                return {"data": None, "errors": [{"type": "FORBIDDEN", "message": "Resource not accessible"}]}
            for pull in self.pulls.values():
                pull.resolve(variables["thread"])
            return {"data": {"resolveReviewThread": {"thread": {"id": variables["thread"]}}}}
        threads = self._pull(str(variables["number"])).threads()
        start = int(variables["after"] or 0)
        page = {"hasNextPage": start + 2 < len(threads), "endCursor": str(start + 2)}
        nodes = {"pageInfo": page, "nodes": threads[start : start + 2]}
        return {"data": {"repository": {"pullRequest": {"reviewThreads": nodes}}}}


def _handler(github: GitHubServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16  # an answer in one piece: in two, the second waits for an acknowledgement

        def log_message(self, *arguments: Any) -> None:
            pass

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            github.requests.append((self.command, parts.path, body))
            fault = next((f for f in github.faults if f.fits(self.command, parts.path)), None)
            query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
            token = (self.headers.get("Authorization") or "").split(" ")[-1] or None
            if fault:
                fault.times -= 1
                if fault.after:
                    github.answer(self.command, parts.path, query, body, token)
                if fault.delay:
                    time.sleep(fault.delay)
                if fault.status:
                    data = {"message": fault.message} if fault.data is None else fault.data
                    return self._reply(fault.status, data, fault.headers)
            try:
                data = github.answer(self.command, parts.path, query, body, token)
            except Answer as refusal:
                return self._reply(refusal.status, {"message": refusal.message}, {})
            self._reply(204 if data is None else 201 if self.command == "POST" else 200, *self._paged(data, query))

        def _paged(self, data: Any, query: dict[str, str]) -> tuple[Any, dict[str, str]]:
            items = data if isinstance(data, list) else data.get("check_runs") if isinstance(data, dict) else None
            if items is None:
                return data, {}
            size, page = min(int(query.get("per_page", 30)), github.per_page), int(query.get("page", 1))
            shown = items[(page - 1) * size : page * size]
            more = "&".join(f"{k}={v}" for k, v in {**query, "page": str(page + 1)}.items())
            link = f'<{github.url}{urlsplit(self.path).path}?{more}>; rel="next"'
            headers = {"Link": link} if page * size < len(items) else {}
            return (shown if isinstance(data, list) else {**data, "check_runs": shown}), headers

        def _reply(self, status: int, data: Any, headers: dict[str, str]) -> None:
            text = b"" if data is None else json.dumps(data).encode()
            self.send_response(status)
            for key, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

    return Handler


@contextmanager
def running(github: GitHubServer) -> Iterator[GitHubServer]:
    """Serve while the block runs; ``github.url`` is then the address of the API."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(github))
    server.daemon_threads = True
    github.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield github
    finally:
        server.shutdown()
        server.server_close()
