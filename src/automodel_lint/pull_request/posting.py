"""Carries out what was planned, in an order that can be cut off anywhere: whoever goes on later does nothing twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from automodel_lint.pull_request import state as states
from automodel_lint.pull_request import wording
from automodel_lint.pull_request.github import GitHub, Refused
from automodel_lint.pull_request.plan import Plan
from automodel_lint.pull_request.state import Comment, State, Summary, is_login
from automodel_lint.pull_request.wording import Setting

_THREADS = """query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    reviewThreads(first: 100, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { id isResolved comments(first: 1) { nodes { databaseId } } } } } } }"""
_RESOLVE = "mutation($thread: ID!) { resolveReviewThread(input: {threadId: $thread}) { thread { id } } }"


@dataclass
class Done:
    """What was done, in words for the person who reads the log, and what was not, with the reason."""

    lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class Posting:
    """One pull request and what is to be done there.

    ``digest`` tells a result from another; ``login`` is who we are; ``moved`` looks whether the head is another by now.
    """

    api: GitHub
    setting: Setting
    number: int
    login: str
    digest: str
    moved: Callable[[], bool]
    done: Done

    @property
    def pull(self) -> str:
        """The pull request's path in the API."""
        return f"/repos/{self.setting.repository}/pulls/{self.number}"

    def carry_out(self, plan: Plan, state: State) -> None:
        """Post the review, take away what is outdated and bring the summaries up to date.

        Raises:
            Refused, GivenUp: if GitHub does not let us. What was done before stays.
        """
        if self.moved():
            self.done.notes.append("the pull request has moved on meanwhile: nothing more is done")
            return
        if plan.post or plan.news:
            url, older = self._review(plan), [*state.older, *([state.newest] if state.newest else [])]
        else:
            url, older = None, state.older
            if state.newest:
                url = state.newest.url
                self._refresh(state.newest, wording.summary(plan, self.setting, self.digest))
        self._delete(plan.delete)
        self._resolve(plan.resolve)
        for summary in older:
            self.api.send("PUT", f"{self.pull}/reviews/{summary.id}", {"body": wording.outdated(url)})

    # -- the review -----------------------------------------------------------------------------------------------

    def _review(self, plan: Plan) -> str | None:
        """Post the review and return its address."""
        try:
            answer = self._create(plan)
        except Refused as refused:
            if refused.status != 422 or not plan.post:
                raise
            self.done.notes.append("GitHub refuses the lines of the comments: the summary tells of all findings")
            plan = plan.without_anchors()
            answer = self._create(plan)
        comments, listed = len(plan.post), len(plan.off) + len(plan.rest)
        self.done.lines.append(f"review: {_number(comments, 'comment')}, {_number(listed, 'finding')} in the summary")
        user = answer.get("user")
        if user and not is_login(user, self.login):
            self.done.notes.append(f"posted as {user.get('login')}, not as {self.login}: give --login the right name")
        return answer.get("html_url")

    def _create(self, plan: Plan) -> dict[str, Any]:
        body = {
            "commit_id": self.setting.head,
            "event": "COMMENT",
            "body": wording.summary(plan, self.setting, self.digest),
            "comments": [wording.comment(found, self.setting) for found in plan.post],
        }
        return self.api.send("POST", f"{self.pull}/reviews", body, done=self._created)

    def _created(self) -> dict[str, Any] | None:
        for summary in states.summaries_of(self.api, self.pull, self.login):
            if summary.mark.digest == self.digest and summary.commit == self.setting.head:
                return {"id": summary.id, "html_url": summary.url}
        return None

    def _refresh(self, summary: Summary, text: str) -> None:
        if "\n".join(summary.body.splitlines()) != "\n".join(text.splitlines()):
            self.api.send("PUT", f"{self.pull}/reviews/{summary.id}", {"body": text})
            self.done.lines.append("review: nothing new, summary brought up to date")
        else:
            self.done.lines.append("review: nothing new")

    # -- comments that have had their time ------------------------------------------------------------------------

    def _comment_path(self, comment: Comment) -> str:
        return f"/repos/{self.setting.repository}/pulls/comments/{comment.id}"

    def _delete(self, comments: list[Comment]) -> None:
        for comment in comments:
            try:
                self.api.send("DELETE", self._comment_path(comment))
            except Refused as refused:
                if refused.status != 404:
                    raise
        if comments:
            self.done.lines.append(f"{_number(len(comments), 'outdated comment')} deleted")

    def _resolve(self, comments: list[Comment]) -> None:
        """Resolve the threads of comments that were answered; their own text says that the finding is gone."""
        if not comments:
            return
        try:
            threads = self._threads()
        except Refused:
            threads = {}
        for comment in comments:
            thread = threads.get(comment.id)
            try:
                if thread:
                    self.api.mutate(_RESOLVE, thread=thread)
            except Refused:
                self.done.notes.append(
                    "GitHub does not let us resolve a conversation: the comment says that it is over"
                )
            text = wording.gone(comment.mark, comment.body, self.setting.commit)
            self.api.send("PATCH", self._comment_path(comment), {"body": text})
        self.done.lines.append(f"{_number(len(comments), 'answered comment')} marked as gone")

    def _threads(self) -> dict[int, str]:
        """Return the open conversations by the number of their first comment."""
        owner, name = self.setting.repository.split("/")
        found: dict[int, str] = {}
        after = None
        while True:
            data = self.api.query(_THREADS, owner=owner, name=name, number=self.number, after=after)
            page = data["repository"]["pullRequest"]["reviewThreads"]
            for node in page["nodes"]:
                first = node["comments"]["nodes"]
                if first and not node["isResolved"]:
                    found[first[0]["databaseId"]] = node["id"]
            if not page["pageInfo"]["hasNextPage"]:
                return found
            after = page["pageInfo"]["endCursor"]


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
