"""Whatever one class does to its process costs that class only: the run ends, everybody else's results are whole."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from .conftest import EXAMPLE

PACKAGE = "acme_automodel"
GOOD = ("fir", "larch")
# What a model's module does while it is imported, and what must be said of the class.
NOTE = "import os, pathlib, time\npathlib.Path(os.environ['ACME_PIDS'], '{}').write_text(str(os.getpid()))\n"
EVIL = {
    "raises": ("raise RuntimeError('no such luck')", "RuntimeError: no such luck"),
    "raises_oddly": ("class Odd(BaseException): pass\nraise Odd('strange')", "Odd: strange"),
    "exits": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "exits_hard": ("import os; os._exit(0)", "the process ended itself with exit code 0"),
    "crashes": ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "the process was killed by SIGSEGV"),
    "loops": (NOTE.format("loops") + "while True: pass", "stopped after 8 s"),
    "hoards": ("import torch\nheld = []\nwhile True: held.append(torch.empty(1 << 26))", "ran out of memory"),
    "shouts": ("for _ in range(400): print('x' * 100_000)\nraise RuntimeError('hoarse')", "RuntimeError: hoarse"),
    "forks": (
        f"import os\nif os.fork() == 0:\n    {NOTE.format('forks').replace(chr(10), '; ')}time.sleep(600)\n"
        "import time; time.sleep(1)\nraise RuntimeError('parent')",
        "RuntimeError: parent",
    ),
    "waits": (NOTE.format("waits") + "time.sleep(600)", "the process was killed by SIGKILL"),
}
OWN_DOING = {
    "raises",
    "raises_oddly",
    "exits",
    "exits_hard",
    "crashes",
    "shouts",
    "forks",
}  # a fault of the class: NAM901


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example framework with two good models and one for each evil deed."""
    root = tmp_path_factory.mktemp("limits") / "checkout"
    shutil.copytree(EXAMPLE, root, ignore=shutil.ignore_patterns("__pycache__", ".automodel_lint_cache"))
    models = root / PACKAGE / "components" / "models"
    entries = []
    for name in GOOD:
        cls = f"{name.capitalize()}ForCausalLM"
        entries.append(f'        ("{cls}", ("{PACKAGE}.components.models.{name}.model", "{cls}")),\n')
    for name, (deed, _) in EVIL.items():
        (models / name).mkdir()
        (models / name / "__init__.py").write_text("", encoding="utf-8")
        text = f"{deed}\n\n\nclass {name}ForCausalLM:\n    pass\n"
        (models / name / "model.py").write_text(text, encoding="utf-8")
        module = f"{PACKAGE}.components.models.{name}.model"
        entries.insert(1, f'        ("{name}ForCausalLM", ("{module}", "{name}ForCausalLM")),\n')
    registry = root / PACKAGE / "_transformers" / "registry.py"
    listed = (
        f"from collections import OrderedDict\n\nMODEL_ARCH_MAPPING = OrderedDict(\n    [\n{''.join(entries)}    ]\n)\n"
    )
    registry.write_text(f"from collections import OrderedDict\n\n{listed}", encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def pids(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where deeds write down their process."""
    return tmp_path_factory.mktemp("pids")


@pytest.fixture(scope="module")
def outcome(checkout: Path, torch_python: str, pids: Path) -> dict[str, Any]:
    """What a run with all of them says; the child that waits is killed from outside."""
    command = [sys.executable, "-m", "automodel_lint", "probe", str(checkout), "--python", torch_python]
    command += ["--checks", "NAM901,NAM902", "--timeout", "8", "--memory", "2", "--jobs", "2"]
    command += ["--output-format", "json"]
    environment = {**os.environ, "ACME_PIDS": str(pids)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        deadline = time.monotonic() + 90
        while not (pids / "waits").exists() and run.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.2)
        os.kill(int((pids / "waits").read_text()), signal.SIGKILL)
        out, errors = run.communicate(timeout=120)
    assert run.returncode == 1, errors
    assert len(out) < 1_000_000
    return json.loads(out)


def _class(outcome: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [row for row in outcome["probe"] if row["class"].endswith(f":{name}")]
    return found


@pytest.mark.parametrize("name", GOOD)
def test_a_good_class_is_probed_to_the_end(outcome: dict[str, Any], name: str) -> None:
    checks = _class(outcome, f"{name.capitalize()}ForCausalLM")["checks"]
    assert {code: check["status"] for code, check in checks.items()} == {"NAM901": "passed", "NAM902": "passed"}


@pytest.mark.parametrize("name", EVIL)
def test_a_bad_class_is_named_with_the_cause(outcome: dict[str, Any], name: str) -> None:
    checks = _class(outcome, f"{name}ForCausalLM")["checks"]
    findings = [f for f in outcome["findings"] if f["symbol"] == f"{name}ForCausalLM"]
    cause = EVIL[name][1]
    if name in OWN_DOING:
        assert checks["NAM901"]["status"] == "finding"
        assert [f["code"] for f in findings] == ["NAM901"] and cause in findings[0]["message"]
        assert findings[0]["path"].endswith(f"{name}/model.py")
    else:
        assert checks["NAM901"]["status"] == "not-probed" and cause in checks["NAM901"]["reason"]
        assert not findings
    assert checks["NAM902"]["status"] == "not-probed" and checks["NAM902"]["reason"]


def test_nothing_is_left_running(outcome: dict[str, Any], pids: Path) -> None:
    """Neither the children that had no end nor the grandchild that one of them left behind."""
    assert outcome
    assert {path.name for path in pids.iterdir()} == {"waits", "loops", "forks"}
    for path in pids.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.read_text()), 0)


def test_an_interpreter_without_torch_is_one_line(checkout: Path, cli: Any) -> None:
    done = cli("probe", checkout, "--python", sys.executable, "--checks", "NAM901")
    assert done.returncode == 2
    assert done.stdout == "" and len(done.stderr.strip().splitlines()) == 1 and "torch" in done.stderr


def test_a_registry_that_ends_the_process_costs_nobody(
    checkout: Path, torch_python: str, tmp_path: Path, cli: Any
) -> None:
    """What is imported once for all classes is left to each of them."""
    copy = tmp_path / "checkout"
    shutil.copytree(checkout, copy)
    registry = copy / PACKAGE / "_transformers" / "registry.py"
    registry.write_text(f"import os\n\nos._exit(3)\n{registry.read_text(encoding='utf-8')}", encoding="utf-8")
    names = [word for name in GOOD for word in ("--arch", f"{name.capitalize()}ForCausalLM")]
    done = cli("probe", copy, "--python", torch_python, *names, "--checks", "NAM901,NAM902", "--output-format", "json")
    assert done.returncode == 0, done.stderr
    statuses = {check["status"] for row in json.loads(done.stdout)["probe"] for check in row["checks"].values()}
    assert statuses == {"passed"}


def test_a_worker_that_is_killed_is_started_again(checkout: Path, torch_python: str, tmp_path: Path) -> None:
    """The class under way is named; those that had their turn keep their results, the others get theirs."""
    command = [sys.executable, "-m", "automodel_lint", "probe", str(checkout), "--python", torch_python, "--jobs", "1"]
    command += ["--arch", "FirForCausalLM", "--arch", "waitsForCausalLM", "--arch", "LarchForCausalLM"]
    command += ["--checks", "NAM901", "--output-format", "json"]
    environment = {**os.environ, "ACME_PIDS": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        deadline = time.monotonic() + 90
        while not (tmp_path / "waits").exists() and run.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.2)
        child = int((tmp_path / "waits").read_text())
        status = Path(f"/proc/{child}/stat").read_text(encoding="utf-8")
        os.kill(int(status.rpartition(")")[2].split()[1]), signal.SIGKILL)
        out, errors = run.communicate(timeout=120)
    assert run.returncode == 0, errors
    found = json.loads(out)
    assert [_class(found, f"{n.capitalize()}ForCausalLM")["checks"]["NAM901"]["status"] for n in GOOD] == ["passed"] * 2
    waits = _class(found, "waitsForCausalLM")["checks"]["NAM901"]
    assert waits["status"] == "not-probed" and "the probe's own process ended" in waits["reason"]
    time.sleep(0.5)
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
