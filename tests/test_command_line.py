"""The command line as a person uses it: words, formats, exit codes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from automodel_lint import __version__
from automodel_lint.pages import pages

from .conftest import ROOT

MODELS = "acme_automodel/components/models"


def test_version(cli):
    for flag in ("--version", "-V"):
        assert cli(flag).stdout == f"automodel-lint {__version__}\n"


def test_version_imports_next_to_nothing():
    code = "import sys; sys.argv = ['automodel-lint', '--version']; from automodel_lint.cli import main; main()"
    code += "; print(sorted(m for m in ('click', 'rich', 'astroid', 'ast', 'json') if m in sys.modules))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n[]\n")


def test_a_warm_run_imports_neither_inference_nor_rules(example: Path, cli):
    cli("check", example)
    code = f"""
import sys
sys.argv = ["automodel-lint", "check", {str(example)!r}, "--output-format", "concise", "--exit-zero"]
sys.modules["pytest"] = None
from automodel_lint.cli import main
try:
    main()
except SystemExit:
    pass
heavy = ("automodel_lint.inference.names", "automodel_lint.rules", "automodel_lint.domain.project", "astroid", "rich")
print([m for m in heavy if m in sys.modules], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) > 30
    assert done.stderr.endswith("[]\n")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 1),
        (["--exit-zero"], 0),
        (["--select", "NAM103"], 1),
        (["--select", "NAM109"], 0),
        (["--select", "NAM106"], 1),
        (["--select", "NAM106", "--fail-on", "error"], 0),
        (["--ignore", "NAM"], 0),
        (["--select", "NAM", "--ignore", "NAM"], 0),
        (["--select", "NAM103", "--ignore", "NAM1"], 1),
        (["--no-such-option"], 2),
        (["--output-format", "no-such-format"], 2),
        (["--select", "XYZ1"], 2),
        (["--installed", "x"], 2),
    ],
)
def test_exit_codes(example: Path, cli, arguments: list[str], code: int):
    done = cli("check", example, *arguments)
    assert done.returncode == code, done.stderr


def test_unknown_codes_and_commands_name_the_closest(example: Path, cli):
    assert "unknown rule code 'NAM26'" in cli("check", example, "--select", "NAM26").stderr
    assert "did you mean 'check'" in cli("chekc").stderr
    assert "did you mean 'tie-guard-config'" in cli("explain", "tie-guard-confg").stderr


def test_concise(example: Path, cli):
    done = cli("check", "--output-format", "concise", cwd=example)
    lines = done.stdout.splitlines()
    assert len(lines) > 30
    assert all(re.fullmatch(r"[\w/.]+:\d+:\d+: NAM\d{3} \S.*", line) for line in lines)
    assert lines == sorted(lines, key=lambda line: (line.split(":")[0], int(line.split(":")[1])))


def test_json_fits_its_schema(example: Path, cli):
    schema = json.loads((ROOT / "docs" / "findings.schema.json").read_text())
    data = json.loads(cli("check", example, "--output-format", "json").stdout)
    jsonschema.validate(data, schema)
    assert data["version"] == 1
    assert data["root"] == str(example)
    assert data["summary"]["errors"] + data["summary"]["warnings"] == len(data["findings"])
    clean = json.loads(cli("check", example, "--output-format", "json", "--select", "NAM109").stdout)
    jsonschema.validate(clean, schema)
    assert clean["findings"] == []
    broken = {**data, "findings": [{**data["findings"][0], "severity": "fatal"}]}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema)


def test_text_groups_by_class_and_underlines(example: Path, cli):
    done = cli("check", "--select", "NAM207,NAM106", cwd=example)
    lines = done.stdout.splitlines()
    assert "\x1b" not in done.stdout
    heading = lines.index("ElmForCausalLM")
    assert re.fullmatch(rf"  error   NAM207 tie-guard-class  {MODELS}/elm/model.py:\d+:9", lines[heading + 1])
    code = next(i for i, line in enumerate(lines) if "| " in line and "reject_unsupported" in line)
    marks = lines[code + 1]
    assert set(marks[marks.index("|") + 1 :].strip()) == {"^"}
    assert marks.index("^") == lines[code].index("reject_unsupported")
    warning = next(i for i, line in enumerate(lines) if line.startswith("  warning NAM106"))
    assert warning > code, "errors come first"
    assert "|" not in lines[warning + 1]
    assert re.match(r"Found 1 error, 2 warnings in 22 registered classes, \d+ files \(\d+\.\d s\)\.", lines[-2])
    assert lines[-1] == "3 can be repaired with `--fix`."


def test_verbose_frames_warnings_and_quiet_drops_the_summary(example: Path, cli):
    verbose = cli("check", "--select", "NAM205", "-v", cwd=example).stdout
    assert "^^^" in verbose
    quiet = cli("check", "--select", "NAM205", "-q", cwd=example).stdout
    assert "Found" not in quiet
    assert "NAM205" in quiet


def test_no_findings_says_so(example: Path, cli):
    assert cli("check", example, "--select", "NAM109").stdout.startswith("No findings in 22 registered classes, ")


def test_colours_when_forced(example: Path, cli):
    assert "\x1b[31merror" in cli("check", example, FORCE_COLOR="1").stdout


def test_statistics(example: Path, cli):
    lines = cli("check", example, "--statistics").stdout.splitlines()
    counts = [int(line.split()[0]) for line in lines]
    assert counts == sorted(counts, reverse=True)
    assert sum(counts) == len(cli("check", example, "--output-format", "concise").stdout.splitlines())
    data = json.loads(cli("check", example, "--statistics", "--output-format", "json").stdout)
    assert sum(row["count"] for row in data) == sum(counts)


def test_show_files(example: Path, cli):
    done = cli("check", example, "--show-files")
    assert done.returncode == 0
    recipes = (example / "examples").rglob("*.yaml")
    expected = sorted(str(p.relative_to(example)) for p in (*(example / "acme_automodel").rglob("*.py"), *recipes))
    assert done.stdout.splitlines() == expected
    one = cli("check", example / MODELS / "fir", "--show-files").stdout.splitlines()
    assert one == [f"{MODELS}/fir/__init__.py", f"{MODELS}/fir/config.py", f"{MODELS}/fir/model.py"]


def test_a_file_brings_its_package_and_registry_lines(example: Path, cli):
    done = cli("check", f"{MODELS}/poplar/model.py", "--output-format", "concise", cwd=example)
    paths = {line.split(":")[0] for line in done.stdout.splitlines()}
    assert paths == {
        f"{MODELS}/poplar/model.py",
        f"{MODELS}/poplar/__init__.py",
        "acme_automodel/_transformers/registry.py",
    }
    registry = [line for line in done.stdout.splitlines() if "registry.py" in line]
    assert all("poplar" in line for line in registry)


def test_a_registry_file_brings_what_its_edit_can_break(example: Path, cli):
    done = cli("check", "acme_automodel/_transformers/registry.py", "--output-format", "concise", cwd=example)
    codes = {line.split()[1] for line in done.stdout.splitlines()}
    assert {"NAM101", "NAM102", "NAM103", "NAM104", "NAM107"} <= codes
    assert "NAM205" not in codes


def test_standard_input(example: Path, cli):
    path = example / MODELS / "fir" / "model.py"
    text = path.read_text()
    clean = cli("check", "-", "--stdin-filename", path, stdin=text)
    assert (clean.returncode, clean.stderr) == (0, "")
    broken = text.replace("(type(self), config)", "(FirForCausalLM, config)")
    assert broken != text
    for name, cwd in ((path, None), (f"{MODELS}/fir/model.py", example)):
        done = cli("check", "-", "--stdin-filename", name, "--output-format", "concise", stdin=broken, cwd=cwd)
        assert [line.split()[1] for line in done.stdout.splitlines()] == ["NAM207"]
    assert cli("check", "-", stdin=text).returncode == 2
    assert path.read_text() == text


def test_output_file(example: Path, cli, tmp_path: Path):
    target = tmp_path / "report.txt"
    done = cli("check", example, "--output-format", "concise", "--output-file", target)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(target.read_text().splitlines()) > 30


def test_explain(cli):
    by_code, by_name = cli("explain", "NAM206"), cli("explain", "tie-guard-config")
    assert by_code.stdout == by_name.stdout == pages()["NAM206"].text
    data = json.loads(cli("explain", "nam206", "--output-format", "json").stdout)
    assert (data["code"], data["severity"]) == ("NAM206", "error")
    assert cli("explain", "NAM999").returncode == 2


def test_rules(cli):
    lines = cli("rules").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(pages())
    data = json.loads(cli("rules", "--select", "NAM3", "--output-format", "json").stdout)
    assert [row["code"] for row in data] == [f"NAM30{number}" for number in range(1, 9)]


def test_the_readme_has_the_table_of_rules(cli):
    table = cli("rules", "--output-format", "markdown").stdout.strip()
    readme = (ROOT / "README.md").read_text()
    assert readme.partition("<!-- rules -->")[2].partition("<!-- rules -->")[0].strip() == table


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(cli, shell: str):
    script = cli("completion", shell).stdout
    assert "_AUTOMODEL_LINT_COMPLETE" in script
    words = {"COMP_WORDS": "automodel-lint che", "COMP_CWORD": "che" if shell == "fish" else "1"}
    answered = cli(**words, _AUTOMODEL_LINT_COMPLETE=f"{shell}_complete").stdout
    assert "check" in answered


def test_installed_and_python(example: Path, cli, tmp_path: Path):
    """A package on another interpreter's path gives the findings that its checkout gives."""
    (example / "acme_automodel" / "__init__.py").touch()
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={example} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    installed = cli(
        "check",
        "--installed",
        "acme_automodel",
        "--python",
        python,
        "--output-format",
        "concise",
        "--no-cache",
        cwd=tmp_path,
    )
    there = cli("check", example, "--output-format", "concise", "--no-cache")
    assert installed.stdout == there.stdout
    assert installed.stdout


def test_init_writes_settings_and_tells_ruff(tmp_path: Path, cli):
    (tmp_path / "fancy" / "_transformers").mkdir(parents=True)
    (tmp_path / "fancy" / "_transformers" / "registry.py").write_text("MODEL_ARCH_MAPPING = {}\n")
    project = tmp_path / "pyproject.toml"
    project.write_text('[project]\nname = "x"  # kept\n\n[tool.ruff.lint]\nselect = ["E"]\nexternal = ["ABC"]\n')
    assert cli("init", tmp_path).returncode == 0
    text = project.read_text()
    assert text.startswith('[project]\nname = "x"  # kept\n')
    assert 'external = ["ABC", "NAM"]' in text
    assert "[tool.automodel-lint]" in text
    assert 'package = "fancy"' in text
    assert cli("check", tmp_path).returncode == 0
    again = cli("init", tmp_path)
    assert "has settings already" in again.stdout
    assert project.read_text() == text


def test_init_without_a_pyproject(tmp_path: Path, cli):
    (tmp_path / "ruff.toml").write_text("line-length = 100\n")
    assert cli("init", tmp_path).returncode == 0
    assert 'package = "nemo_automodel"' in (tmp_path / "automodel-lint.toml").read_text()
    assert '[lint]\nexternal = ["NAM"]' in (tmp_path / "ruff.toml").read_text()


def test_init_leaves_a_broken_file_alone(tmp_path: Path, cli):
    project = tmp_path / "pyproject.toml"
    project.write_text("[tool.ruff\n")
    done = cli("init", tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert project.read_text() == "[tool.ruff\n"
    assert [p.name for p in tmp_path.iterdir()] == ["pyproject.toml"]
