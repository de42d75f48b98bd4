"""The whole of the published package in every format: valid, complete, and within the limits of those who show it."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from automodel_lint.findings import Severity
from automodel_lint.fixes.shapes import safety
from automodel_lint.report import Report
from automodel_lint.reporters import github, gitlab, job_summary, junit, rdjson, sarif
from automodel_lint.session import Request, Session

from . import real_package
from .actions_runner import commands
from .test_formats_job_summary import cells, parsed
from .test_formats_other import diagnostics_of, entries_of, suggested, suites_of
from .test_formats_sarif import edited, mended, run_of

VERSION = "0.7.0"


@pytest.fixture(scope="module")
def made() -> Iterator[Report]:
    """The report on the package, made once."""
    try:
        checkout = real_package.unpacked(VERSION)
    except real_package.NotAvailable as reason:
        pytest.fail(f"nemo-automodel {VERSION} is not to be had: {reason}", pytrace=False)
    yield Session(Request([str(checkout)])).run()


def test_there_is_enough_to_try_limits_on(made: Report):
    counts = made.counts()
    assert counts["error"] > 20
    assert counts["warning"] > 100


def test_sarif_is_valid_complete_and_mends(made: Report):
    text = sarif.render(made)
    run = run_of(text)
    assert len(run["results"]) == len(made.findings) < 5000  # of which GitHub shows every one
    assert len(gzip.compress(text.encode())) < 10 * 1024 * 1024
    fixed = 0
    for result, found in zip(run["results"], made.edited(), strict=True):
        place = result["locations"][0]["physicalLocation"]
        path = Path(made.root, found.path)
        assert place["artifactLocation"]["uri"].endswith(found.path)
        assert place["region"]["startLine"] == found.span.line
        assert result["partialFingerprints"]["primaryLocationLineHash"].partition(":")[0]
        for fix in result.get("fixes", []):
            source = path.read_bytes().decode()
            after = mended(source, fix["artifactChanges"][0]["replacements"])
            assert after == edited(source, found.edits or ())
            compile(after, str(path), "exec", dont_inherit=True)
            fixed += 1
    assert fixed == sum(1 for found in made.edited() if found.edits) > 50


def test_gitlab_is_valid_and_complete(made: Report):
    entries = entries_of(gitlab.render(made))
    assert [(entry["check_name"], entry["location"]["lines"]["begin"]) for entry in entries] == [
        (found.code, found.span.line) for found in made.findings
    ]
    assert not any(entry["location"]["path"].startswith(("/", "./", "../")) for entry in entries)


def test_junit_is_valid_and_complete(made: Report, tmp_path: Path):
    suites = suites_of(junit.render(made), tmp_path)
    assert len(suites) == len({found.path for found in made.findings})
    messages = [case.result[0].message for suite in suites for case in suite]
    assert messages == [found.message for found in made.findings]


def test_rdjson_is_valid_complete_and_mends(made: Report):
    diagnostics = diagnostics_of(rdjson.render(made))
    taken = 0
    for diagnostic, found in zip(diagnostics, made.edited(), strict=True):
        assert (diagnostic["code"]["value"], diagnostic["message"]) == (found.code, found.message)
        for suggestion in diagnostic.get("suggestions", []):
            source = Path(made.root, found.path).read_bytes().decode()
            assert suggested(source, suggestion) == edited(source, found.edits or ())
            assert safety(found) == "safe"
            taken += 1
    assert taken > 30


def test_github_shows_the_first_ten_of_each_kind_and_says_how_many_more(made: Report):
    counts = made.counts()
    text = github.render(made)
    heard = commands(text)
    assert [command.name for command in heard] == ["error"] * 10 + ["warning"] * 10
    errors = [found for found in made.findings if found.severity == Severity.ERROR]
    assert [command.data for command in heard[:10]] == [found.message for found in errors[:10]]
    assert all(len(command.data) <= 4096 for command in heard)
    last = text.splitlines()[-1]
    assert last.startswith(f"{counts['error'] - 10} more errors and {counts['warning'] - 10} more warnings without ")


def test_the_job_summary_has_every_finding(made: Report):
    where = {
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "NVIDIA-NeMo/Automodel",
        "GITHUB_SHA": "c" * 40,
    }
    with mock.patch.dict(os.environ, {**where, "GITHUB_WORKSPACE": made.root}):
        text, left_out = job_summary.markdown(made)
    assert left_out == 0
    assert len(text.encode()) < 200_000
    rows = [row for row in cells(text) if row[0].isdigit()]
    assert len(rows) == len(made.findings)
    links = [str(token.attrs["href"]) for token in parsed(text) if token.type == "link_open"]
    places = [link for link in links if link.startswith("https://github.com/NVIDIA-NeMo/Automodel/blob/ccc")]
    rules = [link for link in links if link.startswith("https://automodel-lint.readthedocs.io/rules/NAM")]
    assert len(places) == len(made.findings)
    assert len(rules) == len(links) - len(places)


def test_a_step_prints_no_command_but_the_annotations(made: Report, cli, tmp_path: Path):
    summary = tmp_path / "summary.md"
    done = cli("check", made.root, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 1
    assert done.stderr == ""
    assert len(commands(done.stdout)) == 20
    assert len(done.stdout.splitlines()) == len(made.findings) + 21
    assert summary.stat().st_size > 10_000
    for chosen in ("text", "json", "sarif", "gitlab", "junit", "rdjson"):
        shown = cli("check", made.root, "--output-format", chosen, "-v", GITHUB_ACTIONS="true")
        assert commands(shown.stdout + shown.stderr) == []
        if chosen not in ("text", "junit"):
            json.loads(shown.stdout)
