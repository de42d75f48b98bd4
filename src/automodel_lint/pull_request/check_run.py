"""A check run on the head of the pull request, with every finding as an annotation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from automodel_lint.findings import Severity
from automodel_lint.pages import pages
from automodel_lint.pull_request.github import GitHub, Refused
from automodel_lint.pull_request.markdown import unwrapped
from automodel_lint.pull_request.result import Found
from automodel_lint.pull_request.wording import Setting, counted, how_to, table

NAME = "automodel-lint"
BATCH = 50  # what GitHub takes at once
LEVELS = {Severity.ERROR: "failure", Severity.WARNING: "warning", Severity.INFO: "notice"}
NEW = "NEW"  # stands for the number of a run that a dry run does not make


@dataclass
class CheckRun:
    """What is shown on a commit; ``digest`` tells one result from another."""

    api: GitHub
    setting: Setting
    findings: Sequence[Found]
    threshold: Severity
    digest: str

    @property
    def conclusion(self) -> str:
        """``failure`` from the threshold on, ``neutral`` if all is below it, ``success`` if nothing is found."""
        if any(pages()[found.code].severity >= self.threshold for found in self.findings):
            return "failure"
        return "neutral" if self.findings else "success"

    def post(self) -> str:
        """Make the run, or finish one that was left half-way, and return what was done in words.

        Raises:
            Refused, GivenUp: if it could not be made.
        """
        annotations = [annotation(found) for found in self.findings]
        try:
            run = self._present()
        except Refused as refused:
            if refused.status not in (403, 404):
                raise
            run = None
        if run and run["status"] == "completed":
            return f"{run['conclusion']}, made before"
        if run is None:
            last = len(annotations) <= BATCH
            body = {"name": NAME, "head_sha": self.setting.head, "external_id": self.digest}
            body |= self._body(annotations[:BATCH], last)
            run = self.api.send("POST", self._path("check-runs"), body, done=self._present)
            sent = BATCH
        else:
            sent = run["output"]["annotations_count"]
            if sent >= len(annotations):  # all but the end was done
                self._update(run, [], last=True)
        for start in range(sent, len(annotations), BATCH):
            self._update(run, annotations[start : start + BATCH], last=start + BATCH >= len(annotations))
        return f"{self.conclusion}, {len(annotations)} annotation{'s' * (len(annotations) != 1)}"

    def _update(self, run: dict[str, Any], annotations: list[dict[str, Any]], last: bool) -> None:
        """Add annotations; the server adds them a second time if it is told a second time."""
        path = self._path(f"check-runs/{run.get('id', NEW)}")
        before = self.api.get(path)["output"]["annotations_count"] if "id" in run else 0

        def done() -> dict[str, Any] | None:
            now = self.api.get(path)
            arrived = now["output"]["annotations_count"] >= before + len(annotations)
            return now if arrived and (now["status"] == "completed") >= last else None

        self.api.send("PATCH", path, self._body(annotations, last), done=done)

    def _body(self, annotations: list[dict[str, Any]], last: bool) -> dict[str, Any]:
        text = "\n\n".join([table(self.findings), *self.setting.left_out] if self.findings else self.setting.left_out)
        title = counted(self.findings)
        output = {"title": title[0].upper() + title[1:] if self.findings else "No findings"}
        output |= {"summary": text or "Every contract that the source decides is kept.", "annotations": annotations}
        state = {"status": "completed", "conclusion": self.conclusion} if last else {"status": "in_progress"}
        return {**state, "output": output}

    def _present(self) -> dict[str, Any] | None:
        path = self._path(f"commits/{self.setting.head}/check-runs")
        runs = self.api.all(path, "check_runs", check_name=NAME, filter="all")
        ours = [run for run in runs if run.get("external_id") == self.digest]
        return max(ours, key=lambda run: run["id"], default=None)

    def _path(self, rest: str) -> str:
        return f"/repos/{self.setting.repository}/{rest}"


def annotation(found: Found) -> dict[str, Any]:
    """Return a finding as the API takes it."""
    page = pages()[found.code]
    advice = how_to(page)
    return {
        "path": found.path,
        "start_line": found.line,
        "end_line": found.line,
        "annotation_level": LEVELS[page.severity],
        "title": f"{page.code} {page.name}",
        "message": page.summary + (f" What to do: {advice}." if advice else ""),
        "raw_details": unwrapped(page.sections["Why it matters"]),
    }
