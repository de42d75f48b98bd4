"""A GitHub that limits, refuses, fails and dawdles: ``annotate`` waits as told, repeats what does no harm, gives up."""

from __future__ import annotations

import time

import pytest

from automodel_lint.pull_request import github as github_room

from .annotate_runs import FIRST, MODEL, Bench, finding, result
from .github_server import TOKEN

CONFIG = finding("NAM206", MODEL, 10)
LATE = finding("NAM205", MODEL, 20)
REVIEWS = "/pulls/5/reviews"
LIMIT = "You have exceeded a secondary rate limit"


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were waited, which take no time."""
    seconds: list[float] = []
    monkeypatch.setattr(github_room.time, "sleep", seconds.append)
    return seconds


def _review_posts(bench: Bench) -> int:
    return len(bench.github.writes(f"POST .*{REVIEWS}"))


# -- limits ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_limit_is_waited_for_as_long_as_the_server_says(bench: Bench, waits: list[float], status: int, method: str):
    bench.github.fault(method, REVIEWS, status, headers={"Retry-After": "7"}, message=LIMIT)
    ran = bench.annotate(result(CONFIG))
    assert ran.code == 0, ran.err
    assert waits == [7.0]
    assert len(bench.places()) == 1


def test_the_hourly_limit_is_waited_for_until_it_is_reset(bench: Bench, waits: list[float]):
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Limit": "60", "X-RateLimit-Reset": str(int(time.time()) + 40)}
    bench.github.fault("GET", "/pulls/5/files", 403, headers=headers, message="API rate limit exceeded for user")
    assert bench.annotate(result(CONFIG)).code == 0
    assert len(waits) == 1 and 35 <= waits[0] <= 42


def test_a_limit_without_a_time_is_waited_for_a_minute(bench: Bench, waits: list[float]):
    bench.github.fault("POST", REVIEWS, 403, message=LIMIT)
    assert bench.annotate(result(CONFIG)).code == 0
    assert waits == [60.0]


def test_a_limit_of_graphql_is_no_answer_about_who_we_are(bench: Bench, waits: list[float]):
    bench.github.login = "lint-app[bot]"
    limited = {"data": None, "errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}
    bench.github.fault("POST", "/graphql", 200, data=limited)
    ran = bench.annotate(result(CONFIG))
    assert ran.code == 0 and ran.err == "" and waits == [60.0]


def test_a_limit_that_lasts_longer_than_our_patience_is_given_up_at_once(bench: Bench, waits: list[float]):
    bench.github.fault("POST", REVIEWS, 429, headers={"Retry-After": "3600"}, times=99)
    ran = bench.annotate(result(CONFIG), "--patience", "100")
    assert ran.code == 2 and waits == []
    assert ran.err.count("\n") == 1 and "does not answer within 100 seconds of patience" in ran.err
    assert "check run: failure" in ran.out, "what was done before is told"
    bench.github.faults.clear()
    assert bench.annotate(result(CONFIG)).code == 0
    assert len(bench.places()) == 1 and len(bench.github.check_runs) == 1


def test_many_short_limits_use_the_patience_up(bench: Bench, waits: list[float]):
    bench.github.fault("GET", "/pulls/5/files", 429, headers={"Retry-After": "30"}, times=99)
    ran = bench.annotate(result(CONFIG), "--patience", "100")
    assert ran.code == 2 and waits == [30.0, 30.0, 30.0]


# -- failures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_reading_is_tried_again_with_growing_pauses(bench: Bench, waits: list[float], status: int):
    bench.github.fault("GET", "/pulls/5/comments", status, times=3)
    assert bench.annotate(result(CONFIG)).code == 0
    assert len(waits) == 3 and waits[2] == 2 * waits[1] == 4 * waits[0]


def test_a_review_that_was_made_although_the_server_failed_is_not_made_twice(bench: Bench):
    bench.github.fault("POST", REVIEWS, 502, after=True)
    ran = bench.annotate(result(CONFIG, LATE))
    assert ran.code == 0, ran.err
    assert (_review_posts(bench), len(bench.pull.reviews), len(bench.places())) == (1, 1, 2)


def test_a_review_that_was_not_made_is_tried_again(bench: Bench):
    bench.github.fault("POST", REVIEWS, 502, times=2)
    assert bench.annotate(result(CONFIG, LATE)).code == 0
    assert (_review_posts(bench), len(bench.pull.reviews), len(bench.places())) == (3, 1, 2)


def test_a_review_that_was_made_by_a_server_that_dawdled_is_not_made_twice(bench: Bench):
    bench.github.fault("POST", REVIEWS, after=True, delay=2, status=500)
    ran = bench.annotate(result(CONFIG, LATE), "--timeout", "1")
    assert ran.code == 0, ran.err
    assert (_review_posts(bench), len(bench.pull.reviews), len(bench.places())) == (1, 1, 2)


def test_a_server_that_answers_too_slowly_is_given_up(bench: Bench):
    bench.github.fault("GET", "/pulls/5/files", delay=3, times=99)
    ran = bench.annotate(result(CONFIG), "--timeout", "1", "--patience", "2")
    assert ran.code == 2 and ran.err.count("\n") == 1 and "Timeout" in ran.err
    assert len([r for r in bench.github.requests if r[1].endswith("/files")]) <= 3, "waiting in vain is waiting, too"
    assert bench.github.writes() == []


def test_a_server_that_is_not_there_is_given_up(bench: Bench, waits: list[float]):
    bench.patch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    ran = bench.annotate(result(CONFIG), "--patience", "3")
    assert ran.code == 2 and ran.err.count("\n") == 1 and "ConnectionError" in ran.err


def test_a_run_that_was_given_up_half_way_is_finished_by_the_next(bench: Bench):
    bench.annotate(result(CONFIG, LATE))
    bench.github.fault("DELETE", "/pulls/comments", 500, times=99)
    ran = bench.annotate(result(LATE), "--patience", "0")
    assert ran.code == 2 and len(bench.places()) == 2
    bench.github.faults.clear()
    assert bench.annotate(result(LATE)).code == 0
    assert bench.places() == [(MODEL, 20)]


def test_a_comment_that_somebody_else_deleted_meanwhile_is_no_failure(bench: Bench):
    bench.annotate(result(CONFIG))
    bench.github.fault("DELETE", "/pulls/comments", 500, after=True)
    ran = bench.annotate(result())
    assert ran.code == 0, ran.err
    assert bench.places() == []


# -- refusals -------------------------------------------------------------------------------------------------------


def test_where_anchors_are_refused_the_summary_tells_everything_once(bench: Bench):
    bench.github.fault("POST", REVIEWS, 422, message="Line could not be resolved")
    ran = bench.annotate(result(CONFIG, LATE))
    assert ran.code == 0 and "GitHub refuses the lines" in ran.err
    assert (len(bench.pull.reviews), bench.places()) == (1, [])
    assert f"{MODEL}:10" in bench.summary() and f"{MODEL}:20" in bench.summary()
    bench.github.forget_requests()
    bench.annotate(result(CONFIG, LATE))
    assert bench.github.writes() == []


def test_a_summary_that_is_refused_too_is_the_end(bench: Bench):
    bench.github.fault("POST", REVIEWS, 422, times=99)
    ran = bench.annotate(result(CONFIG))
    assert ran.code == 2 and "refuses POST" in ran.err and "422" in ran.err
    assert _review_posts(bench) == 2


def test_a_token_that_may_not_write_checks_still_reviews(bench: Bench):
    bench.github.may_check = False
    ran = bench.annotate(result(CONFIG))
    assert ran.code == 0 and "no check run" in ran.err
    assert bench.places() == [(MODEL, 10)]


def test_a_check_run_whose_content_is_refused_does_not_stop_the_review(bench: Bench):
    bench.github.fault("POST", "check-runs", 422, message="Invalid request")
    ran = bench.annotate(result(CONFIG))
    assert ran.code == 0 and "no check run: GitHub refuses its content" in ran.err
    assert bench.places() == [(MODEL, 10)]


@pytest.mark.parametrize("status", [403, 404])
def test_a_token_that_may_not_review_ends_with_one_line(bench: Bench, status: int):
    bench.github.fault("POST", REVIEWS, status, message="Resource not accessible by integration", times=99)
    ran = bench.annotate(result(CONFIG))
    assert ran.code == 2 and str(status) in ran.err and "Resource not accessible" in ran.err
    assert _review_posts(bench) == 1, "a refusal is not tried again"


def test_what_github_says_is_no_command_to_the_runner(bench: Bench):
    bench.github.fault("POST", REVIEWS, 403, message="no\n::set-env name=A::b ##[error] \x1b[31m", times=9)
    ran = bench.annotate(result(CONFIG))
    assert ran.code == 2 and ran.err.count("\n") == 1
    assert "::" not in ran.err and "##[" not in ran.err and "\x1b" not in ran.err


def test_a_wrong_token_is_said_and_never_shown(bench: Bench):
    bench.patch.setenv("GITHUB_TOKEN", "wrong-token")
    ran = bench.annotate(result(CONFIG))
    assert ran.code == 2 and "401" in ran.err and "wrong-token" not in ran.out + ran.err


def test_the_token_is_not_shown_even_where_github_repeats_it(bench: Bench):
    bench.github.fault("POST", REVIEWS, 403, message=f"token {TOKEN} is bad")
    ran = bench.annotate(result(CONFIG))
    assert ran.code == 2 and TOKEN not in ran.out + ran.err


def test_a_link_to_another_server_is_not_followed(bench: Bench):
    link = '<http://localhost:1/repos/acme/models/pulls/5/files?page=2>; rel="next"'
    bench.github.fault("GET", "/pulls/5/files", 200, headers={"Link": link}, data=[])
    ran = bench.annotate(result(CONFIG))
    assert ran.code == 2 and "another server" in ran.err


@pytest.mark.parametrize("path", ["/pulls/5$", "/pulls/5/files", "/pulls/5/reviews", "/check-runs"])
@pytest.mark.parametrize("data", ["<html>a proxy says hello</html>", [1, 2], {}], ids=["text", "numbers", "nothing"])
def test_an_answer_that_is_not_githubs_ends_with_one_line(bench: Bench, path: str, data: object):
    bench.github.fault("GET", path, 200, data=data, times=9)
    ran = bench.annotate(result(CONFIG))
    assert ran.code == 2 and ran.err.count("\n") == 1, ran.err


# -- check runs -----------------------------------------------------------------------------------------------------


def _many(count: int) -> list[dict]:
    return [finding("NAM206", f"acme/m{n:03}.py", 3) for n in range(count)]


def test_120_findings_are_annotated_in_batches_of_50(bench: Bench):
    bench.annotate(result(*_many(120)))
    (run,) = bench.github.check_runs.values()
    assert [len(b["output"]["annotations"]) for _, _, b in bench.github.writes("check-runs")] == [50, 50, 20]
    assert [b["status"] for _, _, b in bench.github.writes("check-runs")] == ["in_progress", "in_progress", "completed"]
    assert len({a["path"] for a in run["annotations"]}) == 120
    assert (run["conclusion"], run["head_sha"], run["output"]["title"]) == ("failure", FIRST, "120 errors")
    assert bench.summary().count("\n- ") == 120


def test_of_120_findings_on_changed_lines_50_get_comments_and_the_others_are_listed(bench: Bench):
    found = _many(120)
    bench.pull.head_files |= {f["path"]: "a\nb\nc\n" for f in found}
    worse = finding("NAM205", "acme/m000.py", 1)
    bench.annotate(result(*found, worse))
    assert len(bench.places()) == 50 and not any("NAM205" in body for body in bench.bodies()), "errors come first"
    assert "On changed lines, without a comment (71)" in bench.summary()
    bench.github.forget_requests()
    bench.annotate(result(*found, worse))
    assert bench.github.writes() == []


@pytest.mark.parametrize("after", [False, True], ids=["not taken", "taken all the same"])
def test_a_batch_whose_answer_got_lost_is_not_there_twice(bench: Bench, after: bool):
    bench.github.fault("PATCH", "check-runs", 502, after=after)
    bench.github.fault("POST", "check-runs", 502, after=after)
    assert bench.annotate(result(*_many(120))).code == 0
    (run,) = bench.github.check_runs.values()
    assert len(run["annotations"]) == 120 and run["status"] == "completed"


@pytest.mark.parametrize("left_after", [1, 2])
def test_a_check_run_that_was_left_half_way_is_completed(bench: Bench, left_after: int):
    fault = bench.github.fault("PATCH", "check-runs", 500, after=left_after == 2, times=99)
    assert bench.annotate(result(*_many(120)), "--patience", "0").code == 2
    (run,) = bench.github.check_runs.values()
    assert len(run["annotations"]) == 50 * left_after and run["status"] == "in_progress"
    bench.github.faults.remove(fault)
    assert bench.annotate(result(*_many(120))).code == 0
    (run,) = bench.github.check_runs.values()
    assert len({a["path"] for a in run["annotations"]}) == len(run["annotations"]) == 120
    assert run["conclusion"] == "failure"


@pytest.mark.parametrize(
    ("code", "threshold", "conclusion"),
    [
        ("NAM206", "error", "failure"),
        ("NAM205", "error", "neutral"),
        ("NAM205", "warning", "failure"),
        ("NAM603", "warning", "neutral"),
        ("NAM603", "info", "failure"),
    ],
)
def test_the_conclusion_is_from_the_threshold_on_a_failure(bench: Bench, code: str, threshold: str, conclusion: str):
    bench.annotate(result(finding(code, MODEL, 10)), "--fail-on", threshold)
    (run,) = bench.github.check_runs.values()
    assert run["conclusion"] == conclusion
