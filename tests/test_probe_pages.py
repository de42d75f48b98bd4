"""The examples of the probe's pages: constructed and run, all of them in one checkout and one run of the probe."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from automodel_lint.pages import pages

from . import page_checkout as checkout
from .conftest import EXAMPLE
from .page_framework import MODEL

PACKAGE = "acme_automodel"
MODELS = f"{PACKAGE}/components/models"
PAGES = [page for page in pages().values() if page.is_probed]


@dataclass(frozen=True)
class Laid:
    """An example in a package of its own in the checkout, registered under an architecture of its own."""

    example: checkout.Example
    folder: str
    architecture: str

    @property
    def files(self) -> dict[str, str]:
        """Its files by path, with the ``__init__.py`` that every package has."""
        old = MODEL.rpartition("/")[0]
        placed = {path.replace(old, f"{MODELS}/{self.folder}"): text for path, text in self.example.files.items()}
        module = f"{MODELS}/{self.folder}".replace("/", ".")
        init = f'"""An example."""\n\nfrom {module}.model import {self.cls}\n\n__all__ = ["{self.cls}"]\n'
        return {f"{MODELS}/{self.folder}/__init__.py": init, **placed}

    @property
    def cls(self) -> str:
        """The class that the example is about."""
        return re.search(r"^ModelClass = (\w+)$", self.example.files[MODEL], re.M)[1]

    @property
    def announced(self) -> tuple[checkout.Announced, ...]:
        """What it announces, with the paths that its files have."""
        old, new = MODEL.rpartition("/")[0], f"{MODELS}/{self.folder}"
        return tuple(replace(a, path=a.path.replace(old, new)) for a in self.example.announced)


def _laid(section: str) -> list[Laid]:
    found = []
    for page in PAGES:
        for number, example in enumerate(checkout.examples(page, section)):
            name = f"{page.code}{section}{number}"
            found.append(Laid(example, name.lower(), f"{name}ForCausalLM"))
    return found


BAD, GOOD = _laid("Bad"), _laid("Good")


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example checkout with all examples in it."""
    root = tmp_path_factory.mktemp("pages") / "checkout"
    shutil.copytree(EXAMPLE, root, ignore=shutil.ignore_patterns("__pycache__", ".automodel_lint_cache"))
    entries = []
    for laid in [*BAD, *GOOD]:
        checkout.write(root, laid.files)
        module = f"{MODELS}/{laid.folder}/model".replace("/", ".")
        entries.append(f'MODEL_ARCH_MAPPING["{laid.architecture}"] = ("{module}", "{laid.cls}")\n')
    with (root / PACKAGE / "_transformers" / "registry.py").open("a", encoding="utf-8") as registry:
        registry.write("\n" + "".join(entries))
    return root


@pytest.fixture(scope="session")
def report(root: Path, torch_python: str) -> dict[str, Any]:
    """What the probe says of all examples."""
    chosen = [f"--arch={laid.architecture}" for laid in [*BAD, *GOOD]]
    command = [sys.executable, "-m", "automodel_lint", "probe", str(root), *chosen, f"--python={torch_python}"]
    run = subprocess.run([*command, "--output-format=json"], capture_output=True, text=True, timeout=600)
    assert run.returncode == 1, run.stderr
    return json.loads(run.stdout)


def _found(report: dict[str, Any], laid: Laid) -> list[checkout.Announced]:
    return [
        checkout.Announced(f["path"], f["line"], f["code"], f["severity"], f["message"])
        for f in report["findings"]
        if laid.architecture in f["architectures"]
    ]


def _checks(report: dict[str, Any], laid: Laid) -> dict[str, dict[str, Any]]:
    return next(p["checks"] for p in report["probe"] if laid.architecture in p["architectures"])


@pytest.mark.parametrize("laid", BAD, ids=lambda laid: laid.example.id)
def test_bad(laid: Laid, report: dict[str, Any]) -> None:
    """It gives the findings that it announces, at their lines, and nothing else."""
    problem = checkout.difference(laid.announced, _found(report, laid))
    assert not problem, f"{laid.example.id}\n{problem}\n{json.dumps(_checks(report, laid), indent=1)}"


@pytest.mark.parametrize("laid", GOOD, ids=lambda laid: laid.example.id)
def test_good(laid: Laid, report: dict[str, Any]) -> None:
    """It gives no finding, and passes the check that its page is about: what was not looked at is not good."""
    problem = checkout.difference((), _found(report, laid))
    assert not problem, f"{laid.example.id}\n{problem}"
    check = _checks(report, laid)[laid.example.page.code]
    assert check["status"] == "passed", check


@pytest.mark.parametrize("laid", [*BAD, *GOOD], ids=lambda laid: laid.example.id)
def test_no_check_breaks(laid: Laid, report: dict[str, Any]) -> None:
    """A check that could not look says what kept it, and not that it failed itself."""
    reasons = {code: check["reason"] or "" for code, check in _checks(report, laid).items()}
    broken = {code: why for code, why in reasons.items() if "could not be carried out" in why or "no such check" in why}
    assert not broken


@pytest.mark.parametrize("laid", BAD, ids=lambda laid: laid.example.id)
def test_message_names_the_class(laid: Laid, report: dict[str, Any]) -> None:
    """And no field of it is empty."""
    for finding in _found(report, laid):
        assert f"`{laid.cls}`" in finding.message
        assert "``" not in finding.message and "  " not in finding.message, finding.message


def test_what_is_only_seen_running_is_not_seen_in_the_source(root: Path) -> None:
    """No static rule has anything to say about the code of an example; tests, pages and recipes it has none."""
    folders = {f"{MODELS}/{laid.folder}" for laid in [*BAD, *GOOD]}
    found = checkout.seen(checkout.lint(root, library=False).findings)
    of_code = [f for f in found if not f.code.startswith(("NAM80", "NAM509"))]
    assert not [str(f) for f in of_code if f.path.rpartition("/")[0] in folders]
