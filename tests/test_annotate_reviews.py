"""``annotate`` push by push: what is posted, what stands, what is taken away; nothing is posted twice."""

from __future__ import annotations

import pytest

from .annotate_runs import FIRST, MODEL, OLD, SECOND, Bench, changed, finding, result
from .github_server import BOT

CONFIG = finding("NAM206", MODEL, 10)
LATE = finding("NAM205", MODEL, 20)
ELSEWHERE = finding("NAM201", MODEL, 15)


def test_the_first_push_gets_one_review_with_comments_on_changed_lines_and_the_rest_in_its_body(bench: Bench):
    ran = bench.annotate(result(CONFIG, LATE, ELSEWHERE))
    assert (ran.code, ran.err) == (0, "")
    assert "2 errors and 1 warning" in ran.out
    assert len(bench.pull.reviews) == 1
    assert sorted(bench.places()) == [(MODEL, 10), (MODEL, 20)]
    body = bench.summary()
    assert f"[`{MODEL}:15`](https://github.com/acme/models/blob/{FIRST}/{MODEL}#L15)" in body
    assert f"{MODEL}:10" not in body, "what has a comment is not told twice"
    for code, name, severity in (
        ("NAM206", "tie-guard-config", "error"),
        ("NAM205", "tie-guard-not-first", "warning"),
        ("NAM201", "tie-support-missing", "error"),
    ):
        url = f"https://automodel-lint.readthedocs.io/rules/{code}-{name}"
        assert f"| [{code}]({url}) | {name} | {severity} | 1 |" in body
        assert f"<details><summary>{code} {name}" in body


def test_a_comment_says_the_rule_what_to_write_and_why(bench: Bench):
    bench.annotate(result(CONFIG))
    (body,) = bench.bodies()
    assert body.startswith(f"<!-- automodel-lint:v1 NAM206 {CONFIG['fingerprint']} -->\n\n**error** [NAM206 tie-guard")
    assert "The guard must get the constructor's own config parameter as it came." in body
    assert "**What to do:** pass that config as it came." in body
    assert "until Automodel #&#8203;2805 handed" in body, "no reference to an issue of this repository"


def test_the_same_result_posts_nothing_twice(bench: Bench):
    bench.annotate(result(CONFIG, LATE, ELSEWHERE))
    bench.github.forget_requests()
    ran = bench.annotate(result(CONFIG, LATE, ELSEWHERE))
    assert ran.code == 0
    assert bench.github.writes() == []


def test_the_same_findings_after_a_push_that_changes_nothing_of_them_get_no_second_review(bench: Bench):
    bench.annotate(result(CONFIG, ELSEWHERE))
    bench.pull.push(SECOND, {MODEL: "one more\n" + bench.pull.head_files[MODEL]})
    moved = [{**CONFIG, "line": 11}, {**ELSEWHERE, "line": 16}]
    bench.annotate(result(*moved, head=SECOND))
    assert len(bench.pull.reviews) == 1
    assert bench.places() == [(MODEL, 11)]
    assert f"blob/{SECOND}/{MODEL}#L16" in bench.summary(), "the summary says what is so now"


def test_a_second_push_with_one_finding_fixed_and_one_new(bench: Bench):
    bench.annotate(result(CONFIG, LATE))
    text = changed(OLD, 20, 25, 30)
    bench.pull.push(SECOND, {MODEL: text})
    new = finding("NAM203", MODEL, 25)
    ran = bench.annotate(result(LATE, new, head=SECOND))
    assert ran.code == 0
    assert sorted(bench.places()) == [(MODEL, 20), (MODEL, 25)]
    assert not any("NAM206" in body for body in bench.bodies()), "its line is as it was: the comment is deleted"
    older, newer = bench.pull.reviews.values()
    assert older["body"] == f"_Outdated: a [newer summary]({newer['html_url']}) tells what is found now._"
    assert "2 commented on the lines, 0 listed here" in newer["body"]
    (posted,) = [b for _, path, b in bench.github.writes("POST .*reviews") if b["commit_id"] == SECOND]
    assert [comment["line"] for comment in posted["comments"]] == [25], "only the new one is posted"


def test_an_answered_comment_is_resolved_and_not_deleted(bench: Bench):
    for number in range(1, 6):  # more conversations than come in one page
        bench.pull.add_comment(number, "somebody", MODEL, 30, "a word")
    bench.annotate(result(CONFIG, LATE))
    first = next(n for n, c in bench.pull.comments.items() if "NAM206" in c["body"])
    bench.pull.add_comment(7, "somebody", MODEL, 10, "but why?", answers=first)
    bench.pull.push(SECOND, {MODEL: changed(OLD, 20, 30)})
    bench.annotate(result(LATE, head=SECOND))
    assert bench.pull.resolved == {f"T{first}"}
    body = bench.pull.comments[first]["body"]
    assert body.startswith("<!-- automodel-lint:v1 gone NAM206") and "No longer found." in body
    assert bench.pull.comments[7]["body"] == "but why?"
    bench.github.forget_requests()
    bench.annotate(result(LATE, head=SECOND))
    assert bench.github.writes() == []


def test_where_resolving_is_refused_the_comment_says_that_it_is_over(bench: Bench):
    bench.github.may_resolve = False
    bench.annotate(result(CONFIG))
    first = next(iter(bench.pull.comments))
    bench.pull.add_comment(7, "somebody", MODEL, 10, "but why?", answers=first)
    ran = bench.annotate(result())
    assert ran.code == 0 and "does not let us resolve" in ran.err
    assert "No longer found." in bench.pull.comments[first]["body"]
    assert "finds nothing any more" in bench.summary()


def test_a_finding_that_comes_back_is_told_again(bench: Bench):
    bench.annotate(result(CONFIG))
    bench.annotate(result())
    assert bench.places() == []
    bench.annotate(result(CONFIG))
    assert bench.places() == [(MODEL, 10)]


def test_a_force_push_replaces_comments_that_lost_their_line(bench: Bench):
    bench.annotate(result(CONFIG, LATE))
    before = set(bench.pull.comments)
    bench.pull.push(SECOND, {MODEL: changed(OLD, 10, 20, how="rewritten")}, forced=True)
    bench.annotate(result(CONFIG, LATE, head=SECOND))
    assert not before & set(bench.pull.comments), "the old ones are gone"
    assert sorted(bench.places()) == [(MODEL, 10), (MODEL, 20)], "and no finding has two"
    bench.github.forget_requests()
    bench.annotate(result(CONFIG, LATE, head=SECOND))
    assert bench.github.writes() == []


def test_after_a_force_push_an_answered_comment_stays_the_place_of_its_finding(bench: Bench):
    bench.annotate(result(CONFIG))
    first = next(iter(bench.pull.comments))
    bench.pull.add_comment(7, "somebody", MODEL, 10, "on purpose", answers=first)
    bench.pull.push(SECOND, {MODEL: changed(OLD, 10, how="rewritten")}, forced=True)
    bench.annotate(result(CONFIG, head=SECOND))
    assert set(bench.pull.comments) == {first, 7}
    assert len(bench.pull.reviews) == 1


def test_others_comments_are_never_touched_not_even_those_that_quote_a_mark_of_ours(bench: Bench):
    mark = f"<!-- automodel-lint:v1 NAM206 {CONFIG['fingerprint']} -->"
    bench.pull.add_comment(7, "somebody", MODEL, 10, f"{mark}\n\nlooks like yours")
    bench.pull.add_comment(8, BOT, MODEL, 10, f"another bot of Actions says\n\n{mark}")
    bench.pull.add_comment(9, BOT, MODEL, 10, f"> {mark}")
    untouched = {n: dict(c) for n, c in bench.pull.comments.items()}
    theirs = f"<!-- automodel-lint:v1 summary {'0' * 16} inline {CONFIG['fingerprint']} -->\n\nmine, not yours"
    bench.pull.reviews[3] = {"id": 3, "user": {"login": "somebody"}, "state": "COMMENTED", "body": theirs}
    bench.annotate(result(CONFIG))
    assert len(bench.pull.comments) == 4, "the finding gets our own comment"
    bench.annotate(result())
    assert bench.pull.comments == untouched
    assert bench.pull.reviews[3]["body"] == theirs


def test_an_answer_that_its_writer_began_with_our_mark_is_an_answer(bench: Bench):
    """A person runs the command with a token of their own, and answers by hand under the same name."""
    bench.github.login, bench.github.app = "a-person", False
    bench.annotate(result(CONFIG))
    (first,) = bench.pull.comments
    mark = f"<!-- automodel-lint:v1 NAM206 {CONFIG['fingerprint']} -->"
    bench.pull.add_comment(7, "a-person", MODEL, 10, f"{mark} is what it says", answers=first)
    bench.annotate(result())
    assert set(bench.pull.comments) == {first, 7}
    assert bench.pull.comments[7]["body"].endswith("is what it says")


def test_a_comment_that_a_person_deleted_is_not_posted_again(bench: Bench):
    bench.annotate(result(CONFIG, LATE))
    first = next(iter(bench.pull.comments))
    del bench.pull.comments[first]
    bench.pull.push(SECOND, bench.pull.head_files)
    bench.annotate(result(CONFIG, LATE, head=SECOND))
    assert first not in bench.pull.comments and len(bench.pull.comments) == 1
    assert len(bench.pull.reviews) == 1


def test_without_findings_only_the_check_run_speaks(bench: Bench):
    ran = bench.annotate(result())
    assert ran.code == 0
    assert [path for _, path, _ in bench.github.writes()] == ["/repos/acme/models/check-runs"]
    (run,) = bench.github.check_runs.values()
    assert (run["status"], run["conclusion"], run["output"]["title"]) == ("completed", "success", "No findings")


def test_a_listed_finding_gets_a_comment_once_its_line_is_changed(bench: Bench):
    bench.annotate(result(ELSEWHERE))
    assert bench.places() == []
    bench.pull.push(SECOND, {MODEL: changed(OLD, 10, 15, 20, 30)})
    bench.annotate(result(ELSEWHERE, head=SECOND))
    assert bench.places() == [(MODEL, 15)]


@pytest.mark.parametrize("deleted", [False, True], ids=["without a patch", "deleted"])
def test_a_file_that_github_shows_no_lines_of_is_told_in_the_summary(bench: Bench, deleted: bool):
    if deleted:
        bench.pull.push(SECOND, {})
    else:
        bench.pull.without_patch.add(MODEL)
    ran = bench.annotate(result(CONFIG, head=bench.pull.head))
    assert ran.code == 0
    assert bench.places() == []
    assert f"{MODEL}:10" in bench.summary()


def test_findings_of_rules_that_this_version_does_not_know_are_counted_and_their_comments_stay(bench: Bench):
    newer = finding("NAM999", MODEL, 20)
    mark = f"<!-- automodel-lint:v1 NAM999 {newer['fingerprint']} -->"
    bench.pull.add_comment(7, BOT, MODEL, 20, mark)
    ran = bench.annotate(result(CONFIG, newer))
    assert "1 finding of rules that this version does not know" in ran.err
    assert "1 finding of rules that this version does not know" in bench.summary()
    assert 7 in bench.pull.comments


def test_who_we_are_is_asked_of_github_or_given(bench: Bench):
    bench.github.login = "lint-app[bot]"
    bench.annotate(result(CONFIG))
    bench.github.login, bench.github.app = "a-person", False
    bench.annotate(result())
    assert bench.places() == [(MODEL, 10)], "the app's comment is not the person's"
    bench.github.login = "lint-app[bot]"
    bench.annotate(result(), "--login", "lint-app[bot]")
    assert bench.places() == []


def test_posting_under_another_name_than_believed_is_said(bench: Bench):
    ran = bench.annotate(result(CONFIG), "--login", "somebody")
    assert f"posted as {BOT}, not as somebody: give --login" in ran.err


def test_pages_of_comments_reviews_and_files_are_all_read(bench: Bench):
    bench.github.per_page = 2
    files = {f"acme/m{n}.py": OLD for n in range(7)}
    bench.pull.base = files
    bench.pull.push(SECOND, {path: changed(OLD, 5) for path in files})
    found = [finding("NAM206", path, 5) for path in files]
    for n in range(5):
        bench.pull.add_review(50 + n, iter(()), "somebody", "", {"body": "hm", "commit_id": FIRST, "comments": []})
    bench.annotate(result(*found, head=SECOND))
    assert len(bench.places()) == 7
    bench.github.forget_requests()
    bench.annotate(result(*found, head=SECOND))
    assert bench.github.writes() == []
    bench.annotate(result(head=SECOND))
    assert bench.places() == []
