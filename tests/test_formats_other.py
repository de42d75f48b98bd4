"""GitLab's Code Quality, JUnit and reviewdog's rdjson: as those who read them want them."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import junitparser
import pytest

from automodel_lint.config import Config
from automodel_lint.findings import Edit, Severity, Span
from automodel_lint.fixes.shapes import safety
from automodel_lint.repairs import Repair
from automodel_lint.reporters import gitlab, junit, rdjson
from automodel_lint.reporters.workflow import harmless
from automodel_lint.session import Request, Session

from .actions_runner import commands
from .conftest import ROOT
from .reports import finding, report
from .test_formats_sarif import edited
from .test_work_tree import git

SCHEMAS = ROOT / "tests" / "schemas"
MODELS = "acme_automodel/components/models"


def schema(name: str) -> dict[str, Any]:
    return json.loads((SCHEMAS / name).read_text(encoding="utf-8"))


def entries_of(text: str) -> list[dict[str, Any]]:
    """Return the entries of a Code Quality report of which GitLab shows every one."""
    data = json.loads(text)
    for entry in data:
        jsonschema.Draft7Validator(schema("gitlab-codeclimate.json")).validate(entry)
        assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
    assert len({entry["fingerprint"] for entry in data}) == len(data)  # GitLab keeps one of a kind
    return data


def diagnostics_of(text: str) -> list[dict[str, Any]]:
    """Return the diagnostics of an rdjson text in which reviewdog knows every key."""
    known = schema("reviewdog-DiagnosticResult.json")
    for definition in known["definitions"].values():
        definition["additionalProperties"] = False
    data = json.loads(text)
    jsonschema.Draft4Validator(known).validate(data)
    assert data["source"]["name"] == "automodel-lint"
    return data["diagnostics"]


def suites_of(text: str, folder: Path) -> list[junitparser.TestSuite]:
    """Return the suites of a JUnit file, whose counts are those of their cases."""
    path = folder / "junit.xml"
    path.write_text(text, encoding="utf-8")
    whole = junitparser.JUnitXml.fromfile(str(path))
    told = (whole.tests, whole.failures, whole.skipped)
    suites = list(whole)
    for suite in suites:
        counts = (suite.tests, suite.failures, suite.errors, suite.skipped)
        time = suite.time
        suite.update_statistics()
        suite.time = time
        assert (suite.tests, suite.failures, suite.errors, suite.skipped) == counts
        assert len({(case.classname, case.name) for case in suite}) == suite.tests > 0
    assert told == tuple(sum(getattr(s, name) for s in suites) for name in ("tests", "failures", "skipped"))
    return suites


@pytest.fixture
def listed(example: Path, cli) -> Any:
    """The findings of the example, as JSON has them."""
    return json.loads(cli("check", example, "--output-format", "json").stdout)["findings"]


# -- gitlab ----------------------------------------------------------------------------------------------------------


def test_gitlab_gets_every_finding_of_the_example(example: Path, cli, listed: Any):
    done = cli("check", example, "--output-format", "gitlab")
    assert done.returncode == 1
    severities = {"error": "major", "warning": "minor", "info": "info"}
    assert entries_of(done.stdout) == [
        {
            "description": f"{found['code']} {found['message']}",
            "check_name": found["code"],
            "fingerprint": found["fingerprint"],
            "severity": severities[found["severity"]],
            "location": {"path": found["path"], "lines": {"begin": found["line"], "end": found["end_line"]}},
        }
        for found in listed
    ]


def test_gitlab_gets_an_empty_list_of_a_clean_run(example: Path, cli):
    assert entries_of(cli("check", example, "--select", "NAM109", "--output-format", "gitlab").stdout) == []


def test_gitlab_gets_paths_of_its_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root = tmp_path / "inner"
    root.mkdir()
    monkeypatch.setenv("CI_PROJECT_DIR", str(tmp_path))
    (entry,) = entries_of(gitlab.render(report(root, finding(severity=Severity.INFO))))
    assert entry["location"]["path"] == "inner/acme/model.py"
    assert entry["severity"] == "info"


def test_like_findings_of_two_checkouts_stay_two(example: Path, cli):
    other = example.parent / "other"
    subprocess.run(["cp", "-r", example, other], check=True)
    paths = [folder / MODELS / "poplar" / "model.py" for folder in (example, other)]
    entries = entries_of(cli("check", *paths, "--output-format", "gitlab").stdout)
    alone = entries_of(cli("check", paths[0], "--output-format", "gitlab").stdout)
    assert len(entries) == 2 * len(alone)


# -- junit -----------------------------------------------------------------------------------------------------------


def test_junit_has_a_suite_for_each_file_and_a_failure_for_each_finding(
    example: Path, cli, listed: Any, tmp_path: Path
):
    suites = suites_of(cli("check", example, "--output-format", "junit").stdout, tmp_path)
    assert [suite.name for suite in suites] == list(dict.fromkeys(found["path"] for found in listed))
    cases = [case for suite in suites for case in suite]
    for case, found in zip(cases, listed, strict=True):
        (failure,) = case.result
        assert isinstance(failure, junitparser.Failure)
        assert (failure.message, failure.type) == (found["message"], found["severity"])
        assert case.name.startswith(f"{found['code']} {found['name']}")
        assert (case._elem.get("file"), case._elem.get("line")) == (found["path"], str(found["line"]))
        assert f"{found['path']}:{found['line']}:{found['column']}: {found['code']} {found['message']}" in failure.text


def test_a_clean_run_has_a_test_that_passes(example: Path, cli, tmp_path: Path):
    done = cli("check", example, "--select", "NAM109", "--output-format", "junit")
    ((case,),) = suites_of(done.stdout, tmp_path)
    assert case.is_passed
    assert (case.classname, case.name) == ("automodel-lint", "no findings")


@pytest.mark.parametrize(
    ("option", "failing"),
    [((), {"NAM202", "NAM209", "NAM106"}), (("--fail-on", "error"), {"NAM202"})],
)
def test_a_test_fails_where_the_run_does(example: Path, cli, tmp_path: Path, option: Any, failing: set[str]):
    (example / "automodel-lint.toml").write_text('package = "acme_automodel"\n[severity]\nNAM209 = "warning"\n')
    done = cli("check", example, "--select", "NAM202,NAM209,NAM106", "--output-format", "junit", *option)
    assert done.returncode == 1
    cases = [case for suite in suites_of(done.stdout, tmp_path) for case in suite]
    assert {case.name[:6] for case in cases} == {"NAM202", "NAM209", "NAM106"}
    for case in cases:
        kind = junitparser.Failure if case.name[:6] in failing else junitparser.Skipped
        assert [type(result) for result in case.result] == [kind]


def test_like_findings_are_tests_of_their_own(tmp_path: Path):
    (suite,) = suites_of(junit.render(report(tmp_path, finding(), finding(span=Span(9, 1, 9, 2)))), tmp_path)
    assert [case.name for case in suite] == [f"NAM206 tie-guard-config Acme{n}" for n in ("", " (2)")]


def test_what_xml_cannot_hold_shows_as_an_escape(tmp_path: Path):
    message = "a\x00b\x1b[31mc\ufffed\udc80e <&\"'> ]]> ü𐐀\n::error::f"
    text = junit.render(report(tmp_path, finding("x\x01.py", message, symbol="S\x0cT")))
    assert text.isascii()
    (suite,) = suites_of(text, tmp_path)
    (case,) = suite
    shown = "a\\x00b\\x1b[31mc\\ufffed\\udc80e <&\"'> ]]> ü𐐀\n::error::f"
    assert case.result[0].message == shown
    assert shown in case.result[0].text
    assert (suite.name, case.name) == ("x\\x01.py", "NAM206 tie-guard-config S\\x0cT")


def test_the_probe_has_a_suite_for_each_class_and_a_test_for_each_check(tmp_path: Path):
    def told(status: str, reason: str | None = None) -> dict[str, Any]:
        return {"status": status, "reason": reason, "figure": None}

    first = {"NAM901": told("passed"), "NAM902": told("finding"), "NAM903": told("not-probed", "no GPU\x00")}
    second = {"NAM901": told("finding"), "NAM902": told("finding"), "NAM903": told("passed")}
    probe = [
        {"class": "m:Acme", "architectures": ["Acme"], "config": None, "seconds": 1.5, "checks": first},
        {"class": "m:Other", "architectures": ["Other", "Alias"], "config": None, "seconds": 2, "checks": second},
    ]
    found = [
        finding(code="NAM902", message="one"),
        finding(code="NAM902", message="two", span=Span(5, 1, 5, 2), architectures=("Acme", "Alias")),
        finding(code="NAM920", message="of no check", architectures=("Third",)),
    ]
    acme, other, rest = suites_of(junit.render(report(tmp_path, *found, probe=probe)), tmp_path)
    assert (acme.name, acme.time) == ("m:Acme", 1.5)
    results = [(case.name[:6], case.result[0].message if case.result else "passed") for case in acme]
    assert results == [("NAM901", "passed"), ("NAM902", "one"), ("NAM902", "two"), ("NAM903", "no GPU\\x00")]
    assert isinstance(list(acme)[3].result[0], junitparser.Skipped)
    silenced, shared, passed = other  # silenced by a comment or the baseline: nothing to fail for, nothing passed
    assert isinstance(silenced.result[0], junitparser.Skipped)
    assert shared.result[0].message == "two"  # what a base class of both has wrong
    assert passed.is_passed
    assert [case.result[0].message for case in rest] == ["of no check"]


def test_a_warning_below_the_limit_is_skipped_with_its_message(tmp_path: Path):
    made = report(tmp_path, finding(severity=Severity.WARNING), config=Config(fail_on=Severity.ERROR))
    ((case,),) = suites_of(junit.render(made), tmp_path)
    assert isinstance(case.result[0], junitparser.Skipped)
    assert case.result[0].message == "warning: `Acme` is wrong: write it right"


# -- rdjson ----------------------------------------------------------------------------------------------------------


def test_reviewdog_gets_every_finding_of_the_example(example: Path, cli, listed: Any):
    diagnostics = diagnostics_of(cli("check", example, "--output-format", "rdjson").stdout)
    for diagnostic, found in zip(diagnostics, listed, strict=True):
        place = f"{found['path']}:{found['line']}:{found['column']}"
        suggestions = diagnostic.pop("suggestions", [])
        assert diagnostic == {
            "message": found["message"],
            "severity": found["severity"].upper(),
            "location": {
                "path": found["path"],
                "range": {
                    "start": {"line": found["line"], "column": found["column"]},
                    "end": {"line": found["end_line"], "column": found["end_column"]},
                },
            },
            "code": {"value": found["code"], "url": found["url"]},
            "original_output": f"{place}: {found['code']} {found['message']}",
        }
        assert len(suggestions) <= 1
        assert not suggestions or found["fix"]["safety"] == "safe"
    assert len(diagnostics) > 30


def test_reviewdog_gets_an_empty_list_of_a_clean_run(example: Path, cli):
    assert diagnostics_of(cli("check", example, "--select", "NAM109", "--output-format", "rdjson").stdout) == []


def test_a_suggestion_makes_all_edits_of_a_safe_repair(example: Path):
    made = Session(Request([str(example)])).run()
    several = 0
    for diagnostic, found in zip(diagnostics_of(rdjson.render(made)), made.edited(), strict=True):
        suggestions = diagnostic.get("suggestions", [])
        far = found.edits is not None and found.edits[-1].span.end_line - found.edits[0].span.line >= 30
        assert len(suggestions) == (found.edits is not None and safety(found) == "safe" and not far)
        for suggestion in suggestions:
            text = (example / found.path).read_text(encoding="utf-8")
            assert suggested(text, suggestion) == edited(text, found.edits or ()) != text
            several += len(found.edits or ()) > 1
    assert several


def suggested(text: str, suggestion: dict[str, Any]) -> str:
    """Return a text with a suggestion taken: its columns count bytes."""
    lines = [line.encode() for line in re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)]
    start, end = (
        sum(map(len, lines[: place["line"] - 1])) + place["column"] - 1
        for place in (suggestion["range"]["start"], suggestion["range"]["end"])
    )
    data = b"".join(lines)
    return (data[:start] + suggestion["text"].encode() + data[end:]).decode()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_columns_count_bytes_and_what_stays_between_edits_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
):
    source = f'x = "𐐀é"; old = 1{end}kept = "ü"{end}y = "é"; old = 2{end}'
    made = report(
        tmp_path, finding("a.py", span=Span(1, 11, 3, 11), repair=Repair("Rename", ())), files={"a.py": source.encode()}
    )
    edits = (Edit(Span(1, 11, 1, 14), "new"), Edit(Span(3, 10, 3, 13), "new"))
    monkeypatch.setattr(made, "edited", lambda: [replace(made.findings[0], edits=edits)])
    (diagnostic,) = diagnostics_of(rdjson.render(made))
    assert diagnostic["location"]["range"]["start"] == {"line": 1, "column": 15}
    (suggestion,) = diagnostic["suggestions"]
    assert suggested(source, suggestion) == source.replace("old", "new")


def test_edits_far_apart_are_no_suggestion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made = report(tmp_path, finding("a.py", repair=Repair("Rename", ())), files={"a.py": b"x\n" * 50})
    for last, expected in ((30, 1), (31, 0)):
        edits = (Edit(Span(1, 1, 1, 2), "y"), Edit(Span(last, 1, last, 2), "y"))
        monkeypatch.setattr(made, "edited", lambda edits=edits: [replace(made.findings[0], edits=edits)])
        (diagnostic,) = diagnostics_of(rdjson.render(made))
        assert len(diagnostic.get("suggestions", [])) == expected


def test_reviewdog_gets_paths_of_the_repository(tmp_path: Path):
    root = tmp_path / "inner"
    root.mkdir()
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "one")
    (diagnostic,) = diagnostics_of(rdjson.render(report(root, finding())))
    assert diagnostic["location"]["path"] == "inner/acme/model.py"


# -- all -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chosen", ["json", "sarif", "gitlab", "rdjson", "junit"])
def test_a_workflow_command_in_a_message_is_spelled_otherwise_and_means_the_same(tmp_path: Path, chosen: str):
    message = "a ##[error]b\n\t::error::c"
    text = importlib.import_module(f"automodel_lint.reporters.{chosen}").render(
        report(tmp_path, finding(message=message))
    )
    assert commands(text) == []
    assert harmless(text) == text  # so that printing it in a workflow does not change the data
    if chosen == "junit":
        failure = ElementTree.fromstring(text).find(".//failure")
        assert failure.get("message") == message
        assert message in failure.text
    else:
        assert json.dumps(message)[1:-1] in json.dumps(json.loads(text))


@pytest.mark.parametrize("chosen", ["sarif", "gitlab", "junit", "rdjson"])
def test_a_file_gets_what_would_be_printed(example: Path, cli, tmp_path: Path, chosen: str):
    target = tmp_path / "report"
    arguments = ("check", example, "--select", "NAM206", "--output-format", chosen)
    done = cli(*arguments, "--output-file", target)
    assert (done.returncode, done.stdout) == (1, "")
    times = re.compile(r' time="[\d.]+"')
    assert times.sub("", target.read_text()) == times.sub("", cli(*arguments).stdout)


@pytest.mark.parametrize("chosen", ["github", "sarif", "gitlab", "junit", "rdjson"])
def test_what_is_left_after_a_repair_is_reported(example: Path, cli, chosen: str):
    done = cli("check", example, "--fix", "--select", "NAM106,NAM202", "--output-format", chosen)
    assert done.returncode == 1
    assert "NAM202" in done.stdout
    assert "NAM106" not in done.stdout
