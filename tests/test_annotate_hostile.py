"""A result file from somebody hostile: refused with one line, or harmless; none of its text is posted."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from automodel_lint.pages import pages
from automodel_lint.pull_request import result as results

from .annotate_runs import FIRST, MODEL, Bench, finding, result

EVIL = "<img src=x onerror=alert(1)> @everyone #1 ](javascript:alert(1)) `rm` ::error::owned"
GOOD = finding("NAM206", MODEL, 10)


def _without(key: str) -> dict[str, Any]:
    return {k: v for k, v in GOOD.items() if k != key}


def _repository(**more: Any) -> dict[str, Any]:
    return result(GOOD) | {"repository": {"commit": FIRST, "prefix": "", **more}}


REFUSED = {
    "no object": ([], "it has no findings"),
    "findings that are no list": (result() | {"findings": {"a": 1}}, "it has no findings"),
    "another version": (result(GOOD) | {"version": 2}, "version must be 1"),
    "a version that is no number": (result(GOOD) | {"version": True}, "version must be 1"),
    "a finding that is a text": (result(EVIL), "findings[0] must be an object"),
    "a line that is a text": (result(GOOD | {"line": EVIL}), "findings[0].line must be a number"),
    "a line that is a truth value": (result(GOOD | {"line": True}), "findings[0].line must be a number"),
    "line 0": (result(GOOD | {"line": 0}), "findings[0].line must be a number"),
    "a line beyond all files": (result(GOOD | {"line": 10**9}), "findings[0].line must be a number"),
    "a code with markup": (result(GOOD | {"code": f"NAM206{EVIL}"}), "findings[0].code is no code"),
    "a code with a line end": (result(GOOD | {"code": "NAM206\n"}), "findings[0].code is no code"),
    "a fingerprint that ends the mark": (result(GOOD | {"fingerprint": "--><b>"}), "fingerprint is no fingerprint"),
    "a fingerprint in capitals": (result(GOOD | {"fingerprint": "A" * 16}), "fingerprint is no fingerprint"),
    "no path": (result(_without("path")), "findings[0].path must be a text"),
    "a path that climbs out": (result(GOOD | {"path": "acme/../../etc/passwd"}), "findings[0].path must be relative"),
    "a path with an empty part": (result(GOOD | {"path": "acme//model.py"}), "findings[0].path must be relative"),
    "a path with a backslash": (result(GOOD | {"path": "..\\secret"}), "findings[0].path has a backslash"),
    "a path with a line end": (result(GOOD | {"path": f"a\n{EVIL}"}), "findings[0].path has a control character"),
    "a path that reads backwards": (result(GOOD | {"path": "a\u202eyp.ledom"}), "path has a control character"),
    "half a character": (result(GOOD | {"path": "a\ud800"}), "findings[0].path has a control character"),
    "a path into .git": (result(GOOD | {"path": ".git/config"}), "findings[0].path lies outside"),
    "a path without end": (result(GOOD | {"path": "a" * 1025}), "findings[0].path must have 1 to 1024 characters"),
    "a commit that is none": (_repository(commit=EVIL), "repository.commit must be the full name"),
    "a prefix that climbs out": (_repository(prefix="../other"), "repository.prefix must be relative"),
    "an absolute prefix": (_repository(prefix="/etc"), "repository.prefix must be relative"),
    "no prefix": (_repository(prefix=None), "repository.prefix must be a text"),
    "a repository that is a list": (result(GOOD) | {"repository": [EVIL]}, "repository must be an object"),
    "a number that is none": (b'{"version": 1, "findings": [], "x": NaN}', "a number is none"),
    "a key twice": (b'{"version": 1, "findings": [], "version": 1}', "a key is there twice"),
    "a number without end": (b'{"version": 1, "findings": [], "x": ' + b"9" * 100_000 + b"}", "a number is too long"),
    "half a file": (json.dumps(result(GOOD)).encode()[:-9], "not valid JSON"),
    "an empty file": (b"", "not valid JSON"),
    "no UTF-8": (b'{"version": 1, "findings": ["\xff"]}', "not in UTF-8"),
    "a file nested without end": (b'{"findings":' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested too deeply"),
    "a huge file": (b" " * (results.LARGEST_FILE + 1), "larger than 10,000,000 bytes"),
    "too many findings": (
        result(*(GOOD | {"fingerprint": f"{n:016x}"} for n in range(results.MOST_FINDINGS + 1))),
        "findings are more than 2,000",
    ),
}


@pytest.mark.parametrize(("data", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_result_is_refused_with_one_line_that_quotes_nothing(bench: Bench, data: Any, words: str):
    ran = bench.annotate(data)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.count("\n") == 1 and words in ran.err, ran.err
    assert "onerror" not in ran.err and "passwd" not in ran.err
    assert bench.github.requests == [], "nothing was asked, nothing was sent"


def test_no_text_of_the_file_is_posted(bench: Bench):
    """Every field that a result has, and some that it has not, say something hostile."""
    words = ("name", "severity", "message", "symbol", "help", "url", "fix", "title", "column", "end_line", "body")
    evil = [
        finding(code, MODEL, line, **dict.fromkeys(words, EVIL))
        for code, line in (("NAM206", 10), ("NAM205", 20), ("NAM201", 15))
    ]
    evil[0]["fix"] = {"safety": "safe", "title": EVIL, "edits": [{"line": 10, "column": 1, "text": EVIL}]}
    data = result(*evil, tool={"name": EVIL}, root=EVIL, summary={"errors": EVIL}, probe=[EVIL], pull_request=6)
    ran = bench.annotate(data)
    assert ran.code == 0
    written = bench.github.everything_written()
    for word in ("onerror", "javascript:", "@everyone", "::error::", "rm`"):
        assert word not in written + ran.out + ran.err
    assert "suggestion" not in written, "an edit of the file is never offered"
    assert "**warning** [NAM205" in written, "severity comes from the page"


def test_a_path_of_any_characters_is_shown_as_it_is_and_links_to_itself(bench: Bench):
    path = "acme/`x` | <b>ä</b> [a](b) #1 @you %41 & 100%.py"
    bench.annotate(result(finding("NAM206", path, 3)))
    shown = f"[``{path}:3``]"
    assert shown in bench.summary()
    target = bench.summary().partition(shown)[2].partition(")")[0]
    quoted = "acme/%60x%60%20%7C%20%3Cb%3E%C3%A4%3C/b%3E%20%5Ba%5D%28b%29%20%231%20%40you%20%2541%20%26%20100%25.py"
    assert target == f"(https://github.com/acme/models/blob/{FIRST}/{quoted}#L3"


def test_a_path_that_needs_escaping_gets_comments(bench: Bench):
    path = "acme/`x` #1?&.py"
    bench.pull.head_files[path] = "a\nb\n"
    bench.annotate(result(finding("NAM206", path, 2)))
    assert bench.places() == [(path, 2)]
    bench.github.forget_requests()
    bench.annotate(result(finding("NAM206", path, 2)))
    assert bench.github.writes() == []


def test_the_longest_paths_do_not_break_the_limit_of_a_body(bench: Bench):
    found = [finding("NAM206", f"{'ä' * 1000}/{n}.py", 3) for n in range(300)]
    ran = bench.annotate(result(*found))
    assert ran.code == 0, ran.err
    assert len(bench.summary()) <= 65_536
    assert "more, which the check run" in bench.summary()
    bench.github.forget_requests()
    bench.annotate(result(*found))
    assert bench.github.writes() == [], "what was cut is not taken for new"


def test_as_many_findings_of_as_many_rules_as_are_taken_fit_into_one_summary(bench: Bench):
    codes = sorted(pages())
    found = [finding(codes[n % len(codes)], f"acme/m{n}.py", 3) for n in range(results.MOST_FINDINGS)]
    ran = bench.annotate(result(*found))
    assert ran.code == 0, ran.err
    assert 60_000 < len(bench.summary()) <= 65_536, "as much as there is room for"
    bench.github.forget_requests()
    bench.annotate(result(*found))
    assert bench.github.writes() == []


def test_files_outside_of_what_was_linted_are_counted(bench: Bench):
    """``check`` names a settings file above the root by an absolute path."""
    ran = bench.annotate(result(GOOD, finding("NAM003", "/home/runner/work/pyproject.toml", 3)))
    assert ran.code == 0 and "1 finding in files outside" in ran.err
    assert "/home/runner" not in bench.github.everything_written()


def test_a_finding_that_is_there_twice_is_told_once(bench: Bench):
    bench.annotate(result(GOOD, GOOD, GOOD | {"line": 20}))
    assert bench.places() == [(MODEL, 10)]


def test_paths_are_put_together_with_the_place_of_the_linted_folder(bench: Bench):
    bench.pull.head_files["sub/acme/model.py"] = "a\nb\n"
    data = result(finding("NAM206", MODEL, 2)) | {"repository": {"commit": FIRST, "prefix": "sub"}}
    bench.annotate(data)
    assert bench.places() == [("sub/acme/model.py", 2)]


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe"])
def test_a_result_that_is_no_file_is_refused(bench: Bench, kind: str, tmp_path: Path, cli):
    path = tmp_path / "other.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    done = cli("annotate", path, "--repo", "acme/models", "--pr", "5", timeout=30)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"automodel-lint: {path}: no such file\n"
