"""In GitHub Actions: annotations within what GitHub takes, and what is printed and written where."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from automodel_lint.findings import Severity, Span
from automodel_lint.reporters import concise, github
from automodel_lint.reporters.workflow import shortened

from .actions_runner import commands
from .reports import finding, report
from .test_work_tree import git

MODELS = "acme_automodel/components/models"
PATHS = ("--select", "NAM206,NAM106")  # three errors and two warnings of the example


def test_a_command_is_the_line_that_github_documents(tmp_path: Path):
    made = report(tmp_path, finding("a,b:c.py", "100%\r\nwrong: a, b"))
    assert github.render(made) == (
        "::error file=a%2Cb%3Ac.py,line=2,endLine=2,col=7,endColumn=11,title=NAM206 tie-guard-config::"
        "100%25%0D%0Awrong: a, b\n"
    )


def test_a_span_of_several_lines_has_no_columns(tmp_path: Path):
    (command,) = commands(github.render(report(tmp_path, finding(span=Span(2, 7, 4, 3)))))
    assert (command.properties["line"], command.properties["endLine"]) == ("2", "4")
    assert not {"col", "endColumn"} & set(command.properties)


def test_each_severity_has_its_kind_and_the_most_severe_come_first(tmp_path: Path):
    made = report(tmp_path, *(finding(severity=severity) for severity in Severity))
    assert [command.name for command in commands(github.render(made))] == ["error", "warning", "notice"]


def test_ten_of_each_kind_and_a_line_that_says_how_many_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    found = [finding(severity=severity, message=f"{n}") for severity in Severity for n in range(10 + severity)]
    text = github.render(report(tmp_path, *found))
    heard = commands(text)
    assert [(c.name, c.data) for c in heard] == [
        (kind, f"{n}") for kind in ("error", "warning", "notice") for n in range(10)
    ]
    *_, last = text.splitlines()
    assert last == "2 more errors and 1 more warning without annotation: GitHub takes ten of a kind from a step"
    assert commands(last) == []
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    assert github.render(report(tmp_path, *found)).endswith(" from a step; see the job summary\n")


@pytest.mark.parametrize("character", ["a", "%", "\n", "𐐀"])
def test_a_message_has_4096_characters_at_most(tmp_path: Path, character: str):
    (command,) = commands(github.render(report(tmp_path, finding(message=f"x{character * 5000}"))))
    assert len(command.data.encode("utf-16-le")) / 2 in (4096, 4095)  # no half of a pair
    assert command.data.rstrip("…").strip("x") == character * (len(command.data) - 2)
    assert command.data.endswith("…")
    fits = "x" * 4096
    assert shortened(fits) == fits


def test_a_file_outside_of_the_repository_is_named_in_the_message(tmp_path: Path):
    (command,) = commands(github.render(report(tmp_path / "inner", finding("/etc/settings.toml"))))
    assert command.data.startswith("/etc/settings.toml:2: ")
    assert "file" not in command.properties


def test_paths_are_those_of_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root = tmp_path / "repository" / "part" / "checkout"
    root.mkdir(parents=True)

    def told() -> str:
        (command,) = commands(github.render(report(root, finding())))
        return command.properties["file"]

    assert told() == "acme/model.py"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "elsewhere"))
    assert told() == "acme/model.py"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert told() == "repository/part/checkout/acme/model.py"
    # What is checked out into a folder of the workspace is told from there, as the pull request does.
    git(tmp_path / "repository", "init", "--quiet")
    git(tmp_path / "repository", "commit", "--quiet", "--allow-empty", "-m", "one")
    assert told() == "part/checkout/acme/model.py"
    settings = finding(str(tmp_path / "repository" / "pyproject.toml"))
    (command,) = commands(github.render(report(root, settings)))
    assert command.properties["file"] == "pyproject.toml"


def test_a_finding_is_one_line_whatever_its_message(tmp_path: Path):
    assert concise.render(report(tmp_path, finding("a\nb.py", "c\r\nd"))) == "a\\nb.py:2:7: NAM206 c\\r\\nd\n"


@pytest.fixture
def step(tmp_path: Path) -> dict[str, str]:
    """The environment of a step."""
    return {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}


def summary_of(step: dict[str, str]) -> str:
    return Path(step["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")


def test_without_a_format_a_step_gets_text_annotations_and_a_summary(example: Path, cli, step: dict[str, str]):
    done = cli("check", example, *PATHS, **step)
    text = cli("check", example, *PATHS, "--output-format", "concise").stdout
    annotations = cli("check", example, *PATHS, "--output-format", "github").stdout
    assert done.returncode == 1
    assert done.stdout == text + annotations
    assert len(text.splitlines()) == len(commands(annotations)) == 5
    assert summary_of(step).startswith("## automodel-lint\n\nFound 3 errors, 2 warnings in ")


def test_a_chosen_format_is_what_a_step_gets(example: Path, cli, step: dict[str, str]):
    for chosen in ("text", "concise", "json"):
        done = cli("check", example, *PATHS, "--output-format", chosen, **step)
        plain = cli("check", example, *PATHS, "--output-format", chosen)
        assert _timeless(done.stdout) == _timeless(plain.stdout)
        assert commands(done.stdout) == []
    assert not Path(step["GITHUB_STEP_SUMMARY"]).exists()
    step["GITHUB_ACTIONS"] = "false"
    assert _timeless(cli("check", example, *PATHS, **step).stdout) == _timeless(cli("check", example, *PATHS).stdout)


def _timeless(text: str) -> str:
    return re.sub(r"\d+\.\d+", "", text)


def test_a_clean_step_prints_nothing_and_says_so_in_the_summary(example: Path, cli, step: dict[str, str]):
    done = cli("check", example, "--select", "NAM109", **step)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "No findings in 22 registered classes" in summary_of(step)


def test_the_github_format_may_be_asked_for_anywhere(example: Path, cli, step: dict[str, str]):
    del step["GITHUB_ACTIONS"]
    done = cli("check", example, *PATHS, "--output-format", "github", **step)
    assert len(commands(done.stdout)) == len(done.stdout.splitlines()) == 5
    assert "Found 3 errors" in summary_of(step)


def test_a_file_takes_the_text_and_the_step_the_annotations(example: Path, cli, step: dict[str, str], tmp_path: Path):
    target = tmp_path / "report.txt"
    done = cli("check", example, *PATHS, "--output-file", target, **step)
    assert len(commands(done.stdout)) == len(done.stdout.splitlines()) == 5
    assert target.read_text() == cli("check", example, *PATHS, "--output-format", "concise").stdout
    cli("check", example, *PATHS, "--output-format", "github", "--output-file", target, **step)
    assert target.read_text() == done.stdout


def test_counts_and_files_come_without_annotations(example: Path, cli, step: dict[str, str]):
    assert cli("check", example, *PATHS, "--statistics", **step).stdout == "    3  NAM206  tie-guard-config\n" + (
        "    2  NAM106  package-reexport\n"
    )
    files = cli("check", example, "--show-files", **step)
    assert files.stdout == cli("check", example, "--show-files").stdout
    assert not Path(step["GITHUB_STEP_SUMMARY"]).exists()


@pytest.mark.parametrize("chosen", ["github", "sarif", "gitlab", "junit", "rdjson"])
@pytest.mark.parametrize("command", ["check", "probe"])
def test_counts_are_refused_in_a_form_that_lists(example: Path, cli, command: str, chosen: str):
    done = cli(command, example, "--statistics", "--output-format", chosen)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"automodel-lint: --statistics gives counts as text or concise or json; {chosen} lists findings\n"
    )


def test_what_is_left_after_a_repair_is_annotated(example: Path, cli, step: dict[str, str]):
    before = cli("check", example, "--diff", **step)
    assert before.stdout == cli("check", example, "--diff").stdout
    done = cli("check", example, "--fix", "--select", "NAM106,NAM202", **step)
    assert {command.properties["title"][:6] for command in commands(done.stdout)} == {"NAM202"}
    assert "Repaired 2 findings" in summary_of(step)


def test_a_repaired_text_has_standard_output_to_itself(example: Path, cli, step: dict[str, str]):
    path = example / MODELS / "elm" / "model.py"
    done = cli("check", "--fix", "-", "--stdin-filename", path, stdin=path.read_text(), **step)
    assert done.stdout == cli("check", "--fix", "-", "--stdin-filename", path, stdin=path.read_text()).stdout
    assert commands(done.stderr)


@pytest.mark.parametrize("place", ["a folder", "missing/summary.md"])
def test_a_summary_that_cannot_be_written_is_one_line(example: Path, cli, tmp_path: Path, place: str):
    (tmp_path / "a folder").mkdir()
    step = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / place)}
    done = cli("check", example, *PATHS, **step)
    assert done.returncode == 1
    assert len(commands(done.stdout)) == 5
    assert re.fullmatch(r"automodel-lint: .*: the job summary cannot be written: [A-Z].*\n", done.stderr)


def test_several_checkouts_are_told_from_the_repository_that_holds_them(example: Path, cli, step: dict[str, str]):
    other = example.parent / "other"
    subprocess.run(["cp", "-r", example, other], check=True)
    step["GITHUB_WORKSPACE"] = str(example.parent)
    paths = [folder / MODELS / "poplar" / "model.py" for folder in (example, other)]
    done = cli("check", *paths, "--select", "NAM206", **step)
    assert {c.properties["file"] for c in commands(done.stdout)} == {
        f"{folder}/{MODELS}/poplar/model.py" for folder in ("checkout", "other")
    }


def test_a_plain_run_imports_no_other_format(example: Path, cli):
    code = (
        "import sys; sys.argv = ['automodel-lint', 'check', sys.argv[1], '--output-format', 'concise', '--exit-zero'];"
        "sys.modules['pytest'] = None\n"
        "from automodel_lint.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "formats = ('github', 'sarif', 'gitlab', 'junit', 'rdjson', 'job_summary', 'workflow', 'repository', 'json')\n"
        "print([m for m in ('xml', *(f'automodel_lint.reporters.{f}' for f in formats)) if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(example)], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n[]\n")
