"""The action and the example workflows: valid by GitHub's published schemas; their steps run as on a runner."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from .conftest import ROOT

ACTION = ROOT / "action.yml"
WORKFLOWS = sorted((ROOT / "docs" / "workflows").glob("*.yml"))


def validated(path: Path, schema: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("path", [ACTION, *WORKFLOWS], ids=lambda path: path.name)
def test_it_is_valid_by_the_published_schema(path: Path, tmp_path: Path):
    schema = "github-actions" if path == ACTION else "github-workflows"
    done = validated(path, schema)
    assert done.returncode == 0, done.stdout
    broken = tmp_path / path.name
    broken.write_text(path.read_text().replace("runs", "walks"))
    assert validated(broken, schema).returncode == 1


def test_both_workflows_are_there_and_name_each_other():
    lint, annotate = (data(ROOT / "docs" / "workflows" / name) for name in ("lint.yml", "annotate.yml"))
    assert annotate[True]["workflow_run"]["workflows"] == [lint["name"]]
    (download,) = [s for s in annotate["jobs"]["annotate"]["steps"] if "download-artifact" in s.get("uses", "")]
    assert download["with"]["name"] == data(ACTION)["inputs"]["result-name"]["default"]


def test_only_the_workflow_that_reads_nothing_but_data_may_write():
    lint, annotate = (data(ROOT / "docs" / "workflows" / name) for name in ("lint.yml", "annotate.yml"))
    assert lint["permissions"] == {"contents": "read"}
    assert annotate["permissions"] == {}
    (job,) = annotate["jobs"].values()
    assert job["permissions"]["contents"] == "read"
    checkout = next(s for s in job["steps"] if "actions/checkout" in s.get("uses", ""))
    assert checkout["with"]["persist-credentials"] is False
    scripts = " ".join(s.get("run", "") for s in job["steps"])
    assert set(re.findall(r"(?:^|\s)(pip install|automodel-lint \w+|python|bash|make)\b", scripts)) == {
        "pip install",
        "automodel-lint annotate",
    }


@pytest.mark.parametrize("path", [ACTION, *WORKFLOWS], ids=lambda path: path.name)
def test_no_expression_is_pasted_into_a_script(path: Path):
    found = data(path)
    steps = found["runs"]["steps"] if path == ACTION else [s for job in found["jobs"].values() for s in job["steps"]]
    scripts = [step["run"] for step in steps if "run" in step]
    assert scripts or path.name == "lint.yml"
    assert not [script for script in scripts if "${{" in script]


def data(path: Path) -> dict[Any, Any]:
    return yaml.safe_load(path.read_text())


class Runner:
    """Runs the scripts of the action's steps with the environment that a runner gives them."""

    def __init__(self, home: Path):
        self.home = home
        self.steps = {step.get("name"): step for step in data(ACTION)["runs"]["steps"]}

    def run(self, name: str, inputs: dict[str, str], cwd: Path, outputs: dict[str, str] | None = None):
        step = self.steps[name]
        output = self.home / "output"
        output.write_text("")
        defaults = {key: str(value["default"]) for key, value in data(ACTION)["inputs"].items()}
        given = {**defaults, **inputs}
        env = {
            key: re.sub(r"\$\{\{ (\w+)\.(?:lint\.outputs\.)?([\w-]+) \}\}", self._lookup(given, outputs or {}), value)
            for key, value in step["env"].items()
        }
        self.summary = self.home / "summary.md"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=cwd,
            env={
                **os.environ,
                **env,
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "GITHUB_ACTIONS": "true",
                "GITHUB_ACTION_PATH": str(ROOT),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(self.summary),
                "GITHUB_WORKSPACE": str(cwd),
                "RUNNER_TEMP": str(self.home),
            },
            capture_output=True,
            text=True,
            timeout=300,
        )
        return done, dict(line.split("=", 1) for line in output.read_text().splitlines())

    @staticmethod
    def _lookup(inputs: dict[str, str], outputs: dict[str, str]):
        return lambda match: {"inputs": inputs, "steps": outputs}[match[1]][match[2]]


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    home = tmp_path_factory.mktemp("runner") / "temp folder"
    home.mkdir()
    runner = Runner(home)
    done, _ = runner.run("Install automodel-lint", {}, home)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("automodel-lint ")
    return runner


def test_findings_are_shown_and_kept_and_fail_the_job(runner: Runner, example: Path):
    done, outputs = runner.run("Lint", {"sarif": "true"}, example)
    assert done.returncode == 0, done.stderr
    assert outputs["exit-code"] == "1"
    result = json.loads(Path(outputs["result"]).read_text())
    assert result["summary"]["errors"] == 60
    assert len(json.loads(Path(outputs["sarif"]).read_text())["runs"][0]["results"]) == len(result["findings"])
    assert "::error " in done.stdout
    assert "NAM206" in runner.summary.read_text()
    assert runner.run("Verdict", {}, example, outputs)[0].returncode == 1


def test_without_findings_the_job_passes(runner: Runner, example: Path):
    done, outputs = runner.run("Lint", {"args": "--select NAM109\n--no-cache"}, example)
    assert outputs["exit-code"] == "0", done.stdout
    assert "sarif" not in outputs
    assert json.loads(Path(outputs["result"]).read_text())["findings"] == []
    assert runner.run("Verdict", {}, example, outputs)[0].returncode == 0


def test_what_cannot_be_linted_leaves_no_result_and_fails_the_job(runner: Runner, tmp_path: Path):
    done, outputs = runner.run("Lint", {"sarif": "true"}, tmp_path)
    assert outputs == {"exit-code": "2"}
    assert "no registry" in done.stderr
    assert runner.run("Verdict", {}, tmp_path, outputs)[0].returncode == 2


def test_several_paths_are_several(runner: Runner, example: Path):
    one, two = "acme_automodel/components/models/yew", "acme_automodel/components/models/linden"
    _, outputs = runner.run("Lint", {"paths": f"{one}  {two}\n"}, example)
    found = json.loads(Path(outputs["result"]).read_text())["findings"]
    assert {part.split("/")[3] for part in (f["path"] for f in found) if part.startswith("acme")} >= {"yew", "linden"}


@pytest.mark.parametrize("text", ["$(touch hacked)", "; touch hacked", "`touch hacked`", "--version; touch hacked"])
@pytest.mark.parametrize("name", ["paths", "args"])
def test_inputs_are_never_run(runner: Runner, example: Path, name: str, text: str):
    _, outputs = runner.run("Lint", {name: text}, example)
    assert not (example / "hacked").exists()
    assert outputs["exit-code"] in ("0", "2")  # --version is answered before the rest is looked at
    assert not list(runner.home.glob("hacked"))


def test_a_linted_package_cannot_take_the_linters_place(runner: Runner, example: Path):
    """The folder that is linted is the current one: a module of that name there must not be imported."""
    shutil.copytree(example / "acme_automodel", example / "click")
    (example / "automodel_lint.py").write_text("raise SystemExit('taken over')\n")
    done, outputs = runner.run("Lint", {"args": "--select NAM103"}, example)
    assert outputs["exit-code"] == "1", done.stderr
    assert "taken over" not in done.stdout + done.stderr
