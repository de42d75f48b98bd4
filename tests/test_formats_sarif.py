"""SARIF: valid, within what code scanning takes, and its fixes mend."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from automodel_lint.findings import Edit, Severity, Span
from automodel_lint.fixes.shapes import safety
from automodel_lint.pages import pages
from automodel_lint.repairs import Repair
from automodel_lint.reporters import sarif
from automodel_lint.reporters.line_hash import line_hashes
from automodel_lint.session import Request, Session

from .conftest import ROOT
from .reports import finding, report
from .test_work_tree import git

SCHEMA = json.loads((ROOT / "tests" / "schemas" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))


def run_of(text: str) -> dict[str, Any]:
    """Return the only run of a SARIF text that is valid and that GitHub takes."""
    data = json.loads(text)
    jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.FormatChecker()).validate(data)
    (run,) = data["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules) <= 25_000
    for rule in rules:
        assert len(rule["name"]) <= 255
        assert max(len(rule[f"{kind}Description"]["text"]) for kind in ("short", "full")) <= 1024
        assert len(rule["properties"]["tags"]) <= 10
        assert "security-severity" not in rule["properties"]
    assert len(run["results"]) <= 25_000
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert len(result["locations"]) == 1
    return run


def test_the_example(example: Path, cli):
    done = cli("check", example, "--output-format", "sarif")
    run = run_of(done.stdout)
    listed = json.loads(cli("check", example, "--output-format", "json").stdout)["findings"]
    assert done.returncode == 1
    assert len(run["results"]) == len(listed) > 30
    levels = {"error": "error", "warning": "warning", "info": "note"}
    for result, found in zip(run["results"], listed, strict=True):
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert (result["ruleId"], result["message"]["text"]) == (found["code"], found["message"])
        assert result["level"] == levels[found["severity"]]
        assert place["artifactLocation"] == {"uri": found["path"], "uriBaseId": "%SRCROOT%"}
        places = ("startLine", "startColumn", "endLine", "endColumn")
        assert [place["region"][key] for key in places] == [
            found[key] for key in ("line", "column", "end_line", "end_column")
        ]
        assert result["partialFingerprints"]["automodelLint/v1"] == found["fingerprint"]
        assert ("fixes" in result) == (found["fix"] is not None)
        names = [logical["fullyQualifiedName"] for logical in location.get("logicalLocations", [])]
        assert names == ([found["symbol"]] if found["symbol"] else [])


def test_a_rule_is_told_as_its_page_tells_it(tmp_path: Path):
    run = run_of(sarif.render(report(tmp_path, finding(severity=Severity.INFO))))
    page = pages()["NAM206"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert (rule["id"], rule["name"], rule["helpUri"]) == (page.code, page.name, page.url)
    assert rule["shortDescription"]["text"] == page.summary
    assert rule["defaultConfiguration"] == {"level": "error"}
    assert rule["properties"]["problem.severity"] == "error"
    help_ = rule["help"]["markdown"]
    assert help_.startswith(f"# [{page.code} {page.name}]({page.url})\n\n## What it checks\n")
    assert [line for line in help_.splitlines() if line.startswith("## ")] == [f"## {name}" for name in page.sections]
    assert "```toml" not in help_
    (result,) = run["results"]
    assert result["level"] == "note"  # as the settings of the run have it


@pytest.mark.parametrize("page", pages().values(), ids=lambda page: page.code)
def test_every_page_makes_a_rule(tmp_path: Path, page: Any):
    (rule,) = run_of(sarif.render(report(tmp_path, finding(code=page.code))))["tool"]["driver"]["rules"]
    assert "\n## Bad\n" in rule["help"]["markdown"]


def test_a_clean_run_is_a_run(example: Path, cli):
    run = run_of(cli("check", example, "--select", "NAM109", "--output-format", "sarif").stdout)
    assert run["results"] == []
    assert run["invocations"] == [{"executionSuccessful": True}]


def test_more_than_github_takes_is_cut_to_the_most_severe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert sarif.MOST_RESULTS == 25_000
    monkeypatch.setattr(sarif, "MOST_RESULTS", 3)
    severities = [Severity.INFO, Severity.ERROR, Severity.WARNING, Severity.ERROR]
    run = run_of(sarif.render(report(tmp_path, *(finding(severity=severity) for severity in severities))))
    assert [result["level"] for result in run["results"]] == ["error", "error", "warning"]
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["message"]["text"].startswith("1 of the less severe findings are left out")


def test_paths_are_addresses_in_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root = tmp_path / "some where"
    root.mkdir()
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "one")
    odd = "a b/ü:%20#?.py"
    made = report(root, finding(odd), finding("/etc/x y.toml"), finding("\udc80.py"))
    run = run_of(sarif.render(made))
    inside, outside, no_text = (r["locations"][0]["physicalLocation"]["artifactLocation"] for r in run["results"])
    assert inside == {"uri": "some%20where/a%20b/%C3%BC%3A%2520%23%3F.py", "uriBaseId": "%SRCROOT%"}
    assert unquote(inside["uri"]) == f"some where/{odd}"
    assert outside == {"uri": "file:///etc/x%20y.toml"}
    assert no_text["uri"] == "some%20where/%80.py"
    assert "versionControlProvenance" not in run
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://g.example")
    monkeypatch.setenv("GITHUB_REPOSITORY", "me/it")
    (details,) = run_of(sarif.render(made))["versionControlProvenance"]
    assert details == {
        "repositoryUri": "https://g.example/me/it",
        "revisionId": git(tmp_path, "rev-parse", "HEAD"),
        "mappedTo": {"uriBaseId": "%SRCROOT%"},
    }


def test_columns_are_counted_in_utf_16_as_declared(tmp_path: Path):
    made = report(tmp_path, finding("a.py", span=Span(1, 3, 1, 5)), files={"a.py": "𐐀éab = 1\n".encode()})
    run = run_of(sarif.render(made))
    assert run["columnKind"] == "utf16CodeUnits"
    region = run["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 1, "startColumn": 4, "endLine": 1, "endColumn": 6}


def test_no_text_of_the_source_is_a_link(tmp_path: Path):
    run = run_of(sarif.render(report(tmp_path, finding(message="see [here](https://x.example), a[0] (b)"))))
    assert run["results"][0]["message"]["text"] == "see \\[here](https://x.example), a[0] (b)"


def mended(text: str, replacements: list[dict[str, Any]]) -> str:
    """Return a text with SARIF's replacements made, columns taken as UTF-16 code units."""
    lines = [line.encode("utf-16-le") for line in re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)]

    def offset(line: int, column: int) -> int:
        return sum(map(len, lines[: line - 1])) + 2 * (column - 1)

    data = b"".join(lines)
    for replacement in reversed(replacements):
        region = replacement["deletedRegion"]
        start = offset(region["startLine"], region["startColumn"])
        end = offset(region["endLine"], region["endColumn"])
        data = data[:start] + replacement["insertedContent"]["text"].encode("utf-16-le") + data[end:]
    return data.decode("utf-16-le")


def test_the_fixes_make_the_edits_of_the_repairs(example: Path):
    made = Session(Request([str(example)])).run()
    run = run_of(sarif.render(made))
    seen = set()
    for result, found in zip(run["results"], made.edited(), strict=True):
        if found.edits is None:
            assert "fixes" not in result
            continue
        ((change,),) = (fix["artifactChanges"] for fix in result["fixes"])
        assert change["artifactLocation"] == result["locations"][0]["physicalLocation"]["artifactLocation"]
        text = (example / found.path).read_text(encoding="utf-8")
        assert mended(text, change["replacements"]) == edited(text, found.edits) != text
        description = result["fixes"][0]["description"]["text"]
        assert found.repair is not None and description.startswith(found.repair.title)
        assert ("(unsafe" in description) == (safety(found) == "unsafe")
        seen.add(safety(found))
    assert seen == {"safe", "unsafe"}


def edited(text: str, edits: tuple[Edit, ...]) -> str:
    """Return a text with edits made."""
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)

    def offset(line: int, column: int) -> int:
        return sum(map(len, lines[: line - 1])) + column - 1

    for edit in reversed(edits):
        start, end = offset(edit.span.line, edit.span.column), offset(edit.span.end_line, edit.span.end_column)
        text = text[:start] + edit.text + text[end:]
    return text


def test_a_fix_behind_wide_characters_hits_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    source = 'x = "𐐀é"; old = 1\n'
    made = report(tmp_path, finding("a.py", repair=Repair("Rename", ())), files={"a.py": source.encode()})
    column = source.index("old") + 1
    edits = (Edit(Span(1, column, 1, column + 3), "new"),)
    (one,) = made.findings
    monkeypatch.setattr(made, "edited", lambda: [replace(one, edits=edits)])
    fix = run_of(sarif.render(made))["results"][0]["fixes"][0]
    assert mended(source, fix["artifactChanges"][0]["replacements"]) == 'x = "𐐀é"; new = 1\n'


# Published with the action that computes the fingerprint (github/codeql-action, src/fingerprints.test.ts).
SHORT = "271789c17abda88f:1 54703d4cd895b18:1 180aee12dab6264:1 a23a3dc5e078b07b:1".split()
GREETINGS = """e9496ae3ebfced30:1 fb7c023a8b9ccb3f:1 ce8ba1a563dcdaca:1 e20e36e16fcb0cc8:1 b3edc88f2938467e:1
c8e28b0b4002a3a0:1 c129715d7a2bc9a3:1""".split()
REPEATED = """a7f2ff13bc495cf2:1 a7f2ff13bc495cf2:2 a7f2ff13bc495cf2:3 a7f2ff13bc495cf2:4 a7f2ff13bc495cf2:5
a7f2ff13bc495cf2:6 a7f2ff1481e87703:1 a9cf91f7bbf1862b:1 55ec222b86bcae53:1 cc97dc7b1d7d8f7b:1
c129715d7a2bc9a3:1""".split()
PUBLISHED = [
    ("", ["c129715d7a2bc9a3:1"]),
    (" a\nb\n  \t\tc\n d", SHORT),
    (" hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n", GREETINGS),
    (" hello; \t\nworld!!!\r\r\r  \t\tGreetings\r End\r", GREETINGS),
    (" hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n", GREETINGS),
    (" hello; \t\nworld!!!\r\n\n\r  \t\tGreetings\r End\r\n", GREETINGS),
    ("Lorem ipsum dolor sit amet.\n" * 10, REPEATED),
]


@pytest.mark.parametrize(("text", "hashes"), PUBLISHED)
def test_the_hash_of_a_line_is_the_one_that_the_upload_computes(text: str, hashes: list[str]):
    assert line_hashes(text.encode()) == hashes


def test_a_finding_has_the_hash_of_its_line(tmp_path: Path):
    files = {"a.py": b"a\nb\n  c\nd"}
    spans = [Span(3, 3, 3, 4), Span(9, 1, 9, 1)]
    made = report(tmp_path, *(finding("a.py", span=span) for span in spans), finding("b.py"), files=files)
    hashes = [r["partialFingerprints"].get("primaryLocationLineHash") for r in run_of(sarif.render(made))["results"]]
    assert hashes == ["180aee12dab6264:1", None, None]


def test_wide_characters_count_as_the_action_counts_them():
    """It takes a text's UTF-16 code units; here computed straight from the definition."""
    units = [0xD801, 0xDC00, 0x0A, 0x62, 0xFFFF, *[0] * 97]
    expected = sum(unit * 37 ** (99 - place) for place, unit in enumerate(units[:100])) % 2**64
    assert line_hashes("𐐀\n b".encode())[0] == f"{expected:x}:1"
