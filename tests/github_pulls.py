"""A pull request as GitHub keeps it: which lines can be commented on, and what a push does to comments."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator
from typing import Any

Files = dict[str, str]


def commit(name: str) -> str:
    """Return a name of a commit that always stands for the same word."""
    return hashlib.sha1(name.encode()).hexdigest()


class Pull:
    """One pull request from ``owner``'s ``branch``: the texts of its files at the base and at the head."""

    def __init__(self, number: int, head: str, base: Files, files: Files, owner: str = "acme", branch: str = "topic"):
        self.number, self.owner, self.branch, self.state = number, owner, branch, "open"
        self.base, self.head, self.commits = base, head, [head]
        self.head_files = files
        self.comments: dict[int, dict[str, Any]] = {}
        self.reviews: dict[int, dict[str, Any]] = {}
        self.resolved: set[str] = set()
        self.without_patch: set[str] = set()

    def push(self, head: str, files: Files, forced: bool = False) -> None:
        """Move the branch. A comment whose line is still shown goes with it; others, or all if ``forced``, lose it."""
        self.head, self.head_files = head, files
        self.commits = [head] if forced else [*self.commits, head]
        for comment in self.comments.values():
            shown = self._shown(comment["path"])
            found = [line for line, text in shown.items() if text == comment["_text"]]
            comment["line"] = None if forced or not found else min(found, key=lambda n: abs(n - comment["_line"]))
            comment["_line"] = comment["line"] or comment["_line"]

    # -- what the API shows -----------------------------------------------------------------------------------

    def as_json(self, repository: str) -> dict[str, Any]:
        head = {"sha": self.head, "ref": self.branch, "repo": {"full_name": f"{self.owner}/models"}}
        base = {"ref": "main", "repo": {"full_name": repository}}
        return {"number": self.number, "state": self.state, "head": head, "base": base}

    def files(self) -> list[dict[str, Any]]:
        found = []
        for path in sorted({*self.base, *self.head_files}):
            patch = self._patch(path)
            if patch:
                status = "removed" if path not in self.head_files else "modified" if path in self.base else "added"
                file = {"filename": path, "status": status, "patch": patch}
                if path in self.without_patch:
                    del file["patch"]
                found.append(file)
        return found

    def _patch(self, path: str) -> str:
        old, new = (texts.get(path, "").splitlines() for texts in (self.base, self.head_files))
        return "\n".join(list(difflib.unified_diff(old, new, lineterm=""))[2:])

    def _shown(self, path: str) -> dict[int, str]:
        """The lines of the new text that the diff shows, by an own look at the two texts."""
        old, new = (texts.get(path, "").splitlines() for texts in (self.base, self.head_files))
        if path in self.without_patch:
            return {}
        lines: dict[int, str] = {}
        for group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(3):
            for _, _, _, start, end in group:
                lines |= {number + 1: new[number] for number in range(start, end)}
        return lines

    def can_stand(self, comment: dict[str, Any]) -> bool:
        """Tell whether GitHub takes the anchor of a comment."""
        shown = self._shown(comment["path"])
        first = comment.get("start_line", comment["line"])
        whole = all(line in shown for line in range(first, comment["line"] + 1))
        ordered = "start_line" not in comment or comment["start_line"] < comment["line"]
        return comment["side"] == "RIGHT" and whole and ordered

    # -- reviews ----------------------------------------------------------------------------------------------

    def add_review(self, number: int, ids: Iterator[int], login: str, url: str, body: dict[str, Any]) -> dict[str, Any]:
        review = {
            "id": number,
            "user": {"login": login},
            "body": body["body"],
            "state": "COMMENTED",
            "commit_id": body["commit_id"],
            "html_url": f"{url}/pull/{self.number}#pullrequestreview-{number}",
        }
        self.reviews[number] = review
        for comment in body["comments"]:
            self.add_comment(next(ids), login, comment["path"], comment["line"], comment["body"])
        return review

    def add_comment(
        self, number: int, login: str, path: str, line: int, body: str, answers: int | None = None
    ) -> dict[str, Any]:
        text = self._shown(path).get(line)
        comment = {"id": number, "path": path, "line": line, "body": body, "user": {"login": login}}
        comment |= {"_text": text, "_line": line}
        if answers is not None:
            comment["in_reply_to_id"] = answers
        self.comments[number] = comment
        return comment

    def threads(self) -> list[dict[str, Any]]:
        return [
            {"id": f"T{n}", "isResolved": f"T{n}" in self.resolved, "comments": {"nodes": [{"databaseId": n}]}}
            for n, comment in self.comments.items()
            if "in_reply_to_id" not in comment
        ]

    def resolve(self, thread: str) -> None:
        self.resolved.add(thread)
