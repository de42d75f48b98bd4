"""Which pull request is meant: events, forks, one that has moved on, and a result that is of another commit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from automodel_lint.commands import annotate as annotate_command

from .annotate_runs import FIRST, MODEL, OLD, SECOND, Bench, changed, finding, result
from .github_pulls import Pull
from .github_server import TOKEN

CONFIG = finding("NAM206", MODEL, 10)


def _pull_event(number: Any = 5, head: Any = FIRST) -> dict[str, Any]:
    return {"action": "synchronize", "pull_request": {"number": number, "head": {"sha": head}}}


def _run_event(head: str = FIRST, owner: str | None = "acme", branch: str = "topic", **more: Any) -> dict[str, Any]:
    repository = None if owner is None else {"full_name": f"{owner}/models", "owner": {"login": owner}}
    run = {"event": "pull_request", "head_sha": head, "head_branch": branch, "head_repository": repository}
    return {"action": "completed", "workflow_run": {**run, "pull_requests": [], "conclusion": "failure", **more}}


def _fork(bench: Bench) -> Pull:
    """Pull request 8 comes from a fork; its branch has the name of one here."""
    bench.github.pulls[8] = Pull(8, SECOND, {MODEL: OLD}, {MODEL: changed(OLD, 10)}, owner="somebody")
    return bench.github.pulls[8]


# -- events ---------------------------------------------------------------------------------------------------------


def test_the_event_of_a_pull_request_says_which(bench: Bench):
    ran = bench.annotate(result(CONFIG), target=bench.event(_pull_event()))
    assert ran.code == 0 and bench.places() == [(MODEL, 10)]


def test_a_fork_is_found_by_whose_branch_was_run(bench: Bench):
    fork = _fork(bench)
    bench.github.per_page = 1
    target = bench.event(_run_event(SECOND, "somebody"))
    ran = bench.annotate(result(CONFIG, head=SECOND), target=target)
    assert ran.code == 0, ran.err
    assert [c["path"] for c in fork.comments.values()] == [MODEL]
    assert bench.pull.comments == {} and bench.pull.reviews == {}
    posted = [body["commit_id"] for _, path, body in bench.github.writes("POST .*/pulls/8/reviews")]
    assert posted == [SECOND]


def test_a_run_of_another_branch_with_the_same_commit_finds_no_pull_request(bench: Bench):
    _fork(bench)
    ran = bench.annotate(result(CONFIG, head=SECOND), target=bench.event(_run_event(SECOND, "somebody", "other")))
    assert ran.code == 0 and "no open pull request" in ran.err
    assert bench.github.writes() == []


def test_the_number_of_another_pull_request_in_the_result_file_changes_nothing(bench: Bench):
    fork = _fork(bench)
    more = {"number": 5, "pr": 5, "pull_request": {"number": 5}, "repository_name": "acme/other"}
    bench.annotate(result(CONFIG, head=SECOND, **more), target=bench.event(_run_event(SECOND, "somebody")))
    assert len(fork.comments) == 1 and bench.pull.comments == {}


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (_run_event(owner=None), "branch is gone"),
        (_run_event(event="push"), "did not run for a pull request"),
        (_run_event(head=SECOND), "no open pull request has what was linted as its head"),
    ],
    ids=["deleted fork", "push", "moved"],
)
def test_a_run_that_is_about_no_open_pull_request_is_a_note(bench: Bench, event: dict[str, Any], words: str):
    ran = bench.annotate(result(CONFIG, head=None), target=bench.event(event))
    assert (ran.code, ran.out) == (0, "") and words in ran.err
    assert bench.github.writes() == []


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({**_pull_event(), "repository": {"full_name": "acme/other"}}, "about another repository than acme/models"),
        ({"action": "created", "issue": {}}, "no event of pull_request"),
        (_pull_event(number="5; rm"), "has no number"),
        (_pull_event(number=True), "has no number"),
        (_pull_event(head="main"), "names no commit"),
        (_run_event(head="main"), "names no commit"),
        (_run_event(branch=""), "does not say whose branch"),
        ({"repository": None}, "names no repository"),
        ({"workflow_run": [1]}, "not run for a pull request"),
    ],
)
def test_an_event_that_says_something_else_sends_nothing(bench: Bench, event: dict[str, Any], words: str):
    ran = bench.annotate(result(CONFIG), target=bench.event(event))
    assert words in ran.err and ran.err.count("\n") == 1 and ran.out == ""
    assert ran.code == (0 if "workflow_run" in event and "not run" in words else 2)
    assert bench.github.requests == []


# -- the head -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_event", [False, True], ids=["by number", "by event"])
def test_a_pull_request_that_has_moved_on_is_left_alone(bench: Bench, by_event: bool):
    bench.pull.push(SECOND, bench.pull.head_files)
    target = bench.event(_pull_event()) if by_event else ("--pr", "5")
    ran = bench.annotate(result(CONFIG), target=target)
    assert ran.code == 0 and "another head by now" in ran.err
    assert bench.github.writes() == []


def test_one_that_moves_on_while_we_read_gets_no_review(bench: Bench):
    answer = bench.github.answer

    def moving(method: str, path: str, *rest: Any) -> Any:
        if path.endswith("/reviews"):
            bench.pull.push(SECOND, bench.pull.head_files)
        return answer(method, path, *rest)

    bench.patch.setattr(bench.github, "answer", moving)
    ran = bench.annotate(result(CONFIG))
    assert ran.code == 0 and "moved on meanwhile" in ran.err
    assert bench.pull.reviews == {} and bench.pull.comments == {}


def test_one_that_moves_on_while_we_read_keeps_its_comments(bench: Bench):
    bench.annotate(result(CONFIG))
    answer = bench.github.answer

    def moving(method: str, path: str, *rest: Any) -> Any:
        if path.endswith("/reviews"):
            bench.pull.push(SECOND, bench.pull.head_files)
        return answer(method, path, *rest)

    bench.patch.setattr(bench.github, "answer", moving)
    ran = bench.annotate(result())
    assert ran.code == 0 and "moved on meanwhile" in ran.err
    assert bench.places() == [(MODEL, 10)]


def test_a_result_of_another_commit_than_the_event_is_refused(bench: Bench):
    bench.pull.push(SECOND, bench.pull.head_files)
    ran = bench.annotate(result(CONFIG, head=FIRST), target=bench.event(_pull_event(head=SECOND)))
    assert ran.code == 2 and "check out github.event.pull_request.head.sha" in ran.err
    assert bench.github.requests == []


def test_a_result_that_names_no_commit_needs_an_event(bench: Bench):
    ran = bench.annotate(result(CONFIG, head=None))
    assert ran.code == 2 and "does not say which commit" in ran.err
    assert bench.annotate(result(CONFIG, head=None), target=bench.event(_pull_event())).code == 0
    assert bench.places() == [(MODEL, 10)]


def test_a_closed_pull_request_is_left_alone(bench: Bench):
    bench.pull.state = "closed"
    ran = bench.annotate(result(CONFIG))
    assert ran.code == 0 and "is not open" in ran.err and bench.github.writes() == []


def test_a_pull_request_that_is_not_there_is_refused(bench: Bench):
    ran = bench.annotate(result(CONFIG), target=("--pr", "77"))
    assert ran.code == 2 and "404" in ran.err


# -- the command line -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--repo", "acme/models"), "either --pr NUMBER or --event FILE"),
        (("--repo", "acme/models", "--pr", "5", "--event", "x"), "either --pr NUMBER or --event FILE"),
        (("--pr", "5"), "give --repo OWNER/NAME"),
        (("--repo", "acme/models/../..", "--pr", "5"), "names no repository"),
        (("--repo", "acme/..", "--pr", "5"), "names no repository"),
        (("--repo", "acme/models", "--pr", "0"), "--pr"),
        (("--repo", "acme/models", "--event", "missing.json"), "cannot be read"),
    ],
)
def test_wrong_use_is_one_line(cli, tmp_path: Path, arguments: tuple[str, ...], words: str):
    (tmp_path / "r.json").write_text(json.dumps(result(CONFIG)))
    env = {"GITHUB_TOKEN": TOKEN, "GITHUB_API_URL": "http://127.0.0.1:9", "GITHUB_REPOSITORY": ""}
    done = cli("annotate", "r.json", *arguments, cwd=tmp_path, **env)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and words in done.stderr, done.stderr


def test_without_a_token_nothing_is_sent(bench: Bench):
    bench.patch.delenv("GITHUB_TOKEN")
    bench.patch.delenv("GH_TOKEN", raising=False)
    ran = bench.annotate(result(CONFIG))
    assert ran.code == 2 and "no token" in ran.err and bench.github.requests == []


def test_without_pygithub_the_line_says_what_to_install(bench: Bench):
    find_spec = annotate_command.importlib.util.find_spec
    bench.patch.setattr(
        annotate_command.importlib.util, "find_spec", lambda name, *a: None if name == "github" else find_spec(name, *a)
    )
    ran = bench.annotate(result(CONFIG))
    assert ran.code == 2 and ran.err.count("\n") == 1
    assert "pip install 'automodel-lint[github]'" in ran.err


def test_no_other_command_imports_pygithub():
    code = (
        "import sys, automodel_lint.commands as c; [c.command_line.get_command(None, n) for n in c.COMMANDS];"
        "print([m for m in ('github', 'requests') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# -- the dry run ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [True, False], ids=["with a token", "without one"])
def test_a_dry_run_prints_what_would_be_sent_and_writes_nothing(bench: Bench, token: bool):
    if not token:
        bench.patch.delenv("GITHUB_TOKEN")
        bench.patch.delenv("GH_TOKEN", raising=False)
    ran = bench.annotate(result(CONFIG, finding("NAM201", MODEL, 15)), "--dry-run")
    assert ran.code == 0, ran.err
    assert bench.github.writes() == [] and TOKEN not in ran.out + ran.err
    written = json.loads(ran.out)
    assert [(w["method"], w["path"]) for w in written] == [
        ("POST", "/repos/acme/models/check-runs"),
        ("POST", "/repos/acme/models/pulls/5/reviews"),
    ]
    bench.patch.setenv("GITHUB_TOKEN", TOKEN)
    bench.annotate(result(CONFIG, finding("NAM201", MODEL, 15)))
    assert [body for _, _, body in bench.github.writes()] == [w["body"] for w in written], "just that is sent then"


def test_a_dry_run_of_the_second_push_says_what_is_taken_away(bench: Bench):
    bench.annotate(result(CONFIG, finding("NAM205", MODEL, 20)))
    first, second = bench.pull.comments
    bench.pull.add_comment(7, "somebody", MODEL, 20, "why?", answers=second)
    bench.github.forget_requests()
    ran = bench.annotate(result(), "--dry-run")
    assert bench.github.writes() == []
    written = json.loads(ran.out)
    assert [w["method"] for w in written] == ["POST", "PUT", "DELETE", "POST", "PATCH"]
    assert written[2]["path"].endswith(f"/comments/{first}") and written[3]["path"] == "/graphql"


def test_a_dry_run_of_many_findings_prints_all_batches(bench: Bench):
    many = [finding("NAM206", f"acme/m{n:03}.py", 3) for n in range(120)]
    written = json.loads(bench.annotate(result(*many), "--dry-run").out)
    assert [len(w["body"]["output"]["annotations"]) for w in written[:3]] == [50, 50, 20]
    assert written[1]["path"] == "/repos/acme/models/check-runs/NEW"
