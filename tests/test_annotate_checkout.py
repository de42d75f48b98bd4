"""``annotate --checkout``: our own look suggests repairs; a hostile checkout is only read."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from automodel_lint.pull_request import own_lint
from automodel_lint.reporters.json import as_data
from automodel_lint.request import Request
from automodel_lint.session import Session

from .annotate_runs import Bench, Ran
from .clean_example import clean, edited, lay
from .github_pulls import Pull
from .mutations import Edit, model
from .test_work_tree import git

FIR, SPRUCE = model("fir"), model("spruce")
GUARD = "        reject_unsupported_tie_word_embeddings(type(self), config)\n"
SUPER = "        super().__init__()\n"
LATE = Edit(FIR, GUARD + SUPER, SUPER + GUARD)
SECRET = "ghs_TheSecretOfTheRunner"


@dataclass
class Checkout:
    """A git checkout of the head of pull request 5, and its honest result."""

    bench: Bench
    root: Path
    data: dict[str, Any]

    def annotate(self, *arguments: object) -> Ran:
        return self.bench.annotate(self.data, "--checkout", self.root, *arguments)

    def suggestions(self) -> list[str]:
        return [body for body in self.bench.bodies() if "```suggestion\n" in body]


Make = Callable[..., Checkout]


@pytest.fixture
def checkout(bench: Bench, tmp_path: Path) -> Make:
    """Lays files, commits them, lints them, and makes them the head of the pull request."""

    def made(
        files: dict[str, str], base: dict[str, str] | None = None, links: dict[str, str] | None = None
    ) -> Checkout:
        root = lay(tmp_path / "head", files)
        for path, target in (links or {}).items():
            (root / path).unlink(missing_ok=True)
            (root / path).symlink_to(target)
        git(root, "init", "--quiet")
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "-m", "head")
        head = git(root, "rev-parse", "HEAD")
        bench.github.pulls[5] = Pull(5, head, clean() if base is None else base, files)
        report = Session(Request(paths=[str(root)], python=sys.executable, cache=False)).run()
        return Checkout(bench, root, json.loads(json.dumps(as_data(report))))

    return made


def test_a_safe_repair_becomes_a_suggestion_of_whole_lines(checkout: Make):
    here = checkout(edited(clean(), [LATE]))
    ran = here.annotate()
    assert ran.code == 0 and ran.err == ""
    (suggestion,) = here.suggestions()
    assert f"```suggestion\n{GUARD}{SUPER}```" in suggestion
    (posted,) = [b["comments"] for _, _, b in here.bench.github.writes("POST .*/reviews")]
    lines = edited(clean(), [LATE])[FIR].splitlines(keepends=True)
    first, last = posted[0]["start_line"], posted[0]["line"]
    assert "".join(lines[first - 1 : last]) == SUPER + GUARD
    fixed = "".join([*lines[: first - 1], GUARD, SUPER, *lines[last:]])
    assert fixed == clean()[FIR], "taken, it gives the repaired file"


def test_every_suggestion_taken_alone_mends_its_finding(checkout: Make, tmp_path: Path):
    """The whole example, with every fault that it has."""
    from .clean_example import whole

    here = checkout(whole())
    assert here.annotate().code == 0
    (posted,) = [b["comments"] for _, _, b in here.bench.github.writes("POST .*/reviews")]
    with_suggestion = [c for c in posted if "```suggestion" in c["body"]]
    assert len(with_suggestion) >= 12
    for number, comment in enumerate(with_suggestion):
        text = comment["body"].partition("```suggestion\n")[2].partition("\n```")[0]
        lines = whole()[comment["path"]].splitlines()
        lines[comment.get("start_line", comment["line"]) - 1 : comment["line"]] = text.split("\n")
        taken = {**whole(), comment["path"]: "\n".join(lines) + "\n"}
        root = lay(tmp_path / f"taken{number}", taken)
        report = Session(Request(paths=[str(root)], python=sys.executable, cache=False)).run()
        assert comment["body"][25:].split()[1] not in {f.fingerprint for f in report.findings}, comment["body"]


def test_linted_and_posted_by_the_commands_themselves(checkout: Make, cli):
    """Two processes as two workflows run them; what one prints is what the other reads."""
    here = checkout(edited(clean(), [LATE]))
    linted = cli("check", here.root, "--output-format", "json", "--output-file", "result.json", cwd=here.root.parent)
    assert linted.returncode == 1
    event = here.bench.event({"pull_request": {"number": 5, "head": {"sha": here.bench.pull.head}}})
    arguments = ("annotate", "result.json", *event, "--repo", "acme/models", "--checkout", "head")
    done = cli(*arguments, cwd=here.root.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 warning" in done.stdout and "review: 1 comment, 0 findings in the summary" in done.stdout
    assert len(here.suggestions()) == 1
    here.bench.github.forget_requests()
    assert cli(*arguments, cwd=here.root.parent).returncode == 0
    assert here.bench.github.writes() == []


def test_without_a_checkout_there_are_no_suggestions(checkout: Make):
    here = checkout(edited(clean(), [LATE]), base={})
    here.bench.annotate(here.data)
    assert here.bench.bodies() and not here.suggestions()


def test_a_repair_in_several_places_is_left_to_the_command_line(checkout: Make):
    """The guard is put at the top of a constructor, and its import at the top of the file."""
    used = "    reject_unsupported_tie_word_embeddings,\n"
    here = checkout(edited(clean(), [Edit(FIR, GUARD, ""), Edit(FIR, used, "")]), base={})
    here.annotate()
    assert not here.suggestions()
    assert any("`automodel-lint check --fix --select NAM203` repairs it" in body for body in here.bench.bodies())


def test_a_repair_that_wants_a_human_look_is_neither_suggested_nor_named(checkout: Make):
    policy = "    tie_word_embeddings_support: TieSupport = TieSupport.UNTIED_ONLY\n"
    here = checkout(edited(clean(), [Edit(SPRUCE, policy, "")]), base={})
    (found,) = here.data["findings"]
    assert (found["code"], found["fix"]["safety"]) == ("NAM201", "unsafe")
    here.annotate()
    (body,) = here.bench.bodies()
    assert "```suggestion" not in body and "repairs it" not in body


def test_a_finding_that_we_do_not_find_is_told_without_a_suggestion(checkout: Make):
    """It may be one of the probe, or need libraries that are not at hand here."""
    here = checkout(edited(clean(), [LATE]), base={})
    (real,) = here.data["findings"]
    here.data["findings"] = [{**real, "line": 1}, {**real, "code": "NAM905", "line": 3}]
    assert here.annotate().err == ""
    bodies = dict(zip((line for _, line in here.bench.places()), here.bench.bodies(), strict=True))
    assert set(bodies) > {3} and 1 not in bodies, "where we find it too, the line is ours, not the file's"
    assert "NAM905" in bodies[3] and "```suggestion" not in bodies[3]
    assert all("```suggestion" in body for line, body in bodies.items() if line != 3)


def test_a_finding_that_has_to_be_asked_for_is_looked_for(checkout: Make):
    here = checkout(edited(clean(), [LATE]), base={})
    (found,) = here.data["findings"]
    settings = (here.root / "pyproject.toml").read_text()
    (here.root / "pyproject.toml").write_text(f'{settings}ignore = ["NAM2"]\n')
    assert here.annotate().err == "", "a rule that the settings leave out was selected by hand"
    assert found["fingerprint"] in here.bench.bodies()[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda root: git(root, "commit", "--quiet", "--allow-empty", "-m", "another"), "not a checkout of"),
        (lambda root: (root / ".git").rename(root / "git"), "no work tree"),
        (lambda root: (root / "pyproject.toml").write_text("[tool.automodel-lint]\nfoo = '::error::x'\n"), "linted"),
        (lambda root: (root / "pyproject.toml").write_text("[tool.automodel-lint]\npackage = 'gone'\n"), "linted"),
        (lambda root: (root / "pyproject.toml").write_text(f"[tool.automodel-lint]\na = {'[' * 9999}"), "linted"),
    ],
    ids=["another commit", "no git", "broken settings", "no package", "settings nested without end"],
)
def test_a_checkout_that_is_of_no_use_sends_nothing(checkout: Make, change: Callable[[Path], Any], words: str):
    here = checkout(edited(clean(), [LATE]))
    change(here.root)
    ran = here.annotate()
    assert ran.code == 2 and words in ran.err and ran.err.count("\n") == 1 and "::" not in ran.err
    assert here.bench.github.writes() == []


def test_a_folder_inside_of_a_work_tree_is_no_checkout(checkout: Make):
    here = checkout(edited(clean(), [LATE]))
    ran = here.bench.annotate(here.data, "--checkout", here.root / "acme_automodel")
    assert ran.code == 2 and "no work tree" in ran.err


def test_lines_that_github_shows_otherwise_get_no_suggestion(checkout: Make):
    """The work tree was changed after it was checked out."""
    here = checkout(edited(clean(), [LATE]), base={})
    path = here.root / FIR
    path.write_text(path.read_text().replace(SUPER, SUPER.replace("\n", "  # changed\n")))
    assert here.annotate().code == 0
    assert here.bench.bodies() and not here.suggestions()


# -- hostile checkouts ----------------------------------------------------------------------------------------------


def test_the_interpreter_that_the_settings_name_is_not_run(checkout: Make, tmp_path: Path):
    trap, sprung = tmp_path / "head" / "trap.sh", tmp_path / "sprung"
    files = {**edited(clean(), [LATE]), "trap.sh": f"#!/bin/sh\ntouch {sprung}\necho '[]'\n"}
    settings = files["pyproject.toml"] + 'python = "./trap.sh"\n'
    here = checkout({**files, "pyproject.toml": settings})
    trap.chmod(0o755)
    assert here.annotate().code == 0
    assert here.suggestions() and not sprung.exists()


@pytest.mark.parametrize("where", ["inside", "beside"])
def test_modules_of_the_checkout_are_not_imported(checkout: Make, tmp_path: Path, where: str):
    """Neither as ours, if the command is run in it, nor as the package that is linted."""
    sprung = tmp_path / "sprung"
    trap = f"open({str(sprung)!r}, 'w')\n"
    files = edited(clean(), [LATE])
    names = ("json.py", "github.py", "sitecustomize.py", "conftest.py", "astroid.py")
    files |= {name: trap for name in names} | {"acme_automodel/__init__.py": trap}
    here = checkout(files)
    here.bench.patch.chdir(here.root if where == "inside" else tmp_path)
    assert here.annotate().code == 0
    assert here.bench.bodies() and not sprung.exists()


def test_asking_an_interpreter_imports_nothing_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """An interpreter that was named is asked for its search path; a json.py that lies about is not."""
    sprung = tmp_path / "sprung"
    root = lay(tmp_path / "head", {**clean(), "json.py": f"open({str(sprung)!r}, 'w')\n"})
    other = tmp_path / "python"
    other.symlink_to(sys.executable)
    monkeypatch.chdir(root)
    Session(Request(paths=["."], python=str(other), cache=False))
    assert not sprung.exists()


@pytest.mark.parametrize("whole", [True, False], ids=["a link to a file", "a link to a folder"])
def test_what_a_link_leads_to_outside_is_not_shown(checkout: Make, tmp_path: Path, whole: bool):
    """The linked file has a fault with a repair that would repeat lines of it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    text = edited(clean(), [LATE])[FIR].replace(SUPER + GUARD, SUPER + GUARD.replace(")\n", f")  # {SECRET}\n"))
    assert SECRET in text
    (outside / "model.py").write_text(text)
    for name in ("__init__.py", "config.py"):
        path = f"{os.path.dirname(FIR)}/{name}"
        (outside / name).write_text(clean().get(path, ""))
    files = dict(clean())
    if whole:
        files[FIR] = text  # what the diff shows is at the author's pleasure: even the same lines are not offered
        here = checkout(files, base={}, links={FIR: str(outside / "model.py")})
    else:
        files = {path: text for path, text in files.items() if not path.startswith(os.path.dirname(FIR) + "/")}
        here = checkout({**files, "x.txt": ""}, base={}, links={os.path.dirname(FIR): str(outside)})
        here.bench.pull.head_files = {**files, FIR: text}
    assert any(f["path"] == FIR for f in here.data["findings"]), "the linting step has followed the link"
    ran = here.annotate()
    assert ran.code == 0 and not here.suggestions()
    assert SECRET not in here.bench.github.everything_written() + ran.out + ran.err


@pytest.mark.parametrize(
    "settings",
    [
        'package = "../outside"',
        'package = "{outside}"',
        'package = "linked"',
        'package = "acme_automodel"\nbaseline = "../outside/baseline.json"',
    ],
)
def test_settings_that_lead_outside_are_refused(checkout: Make, tmp_path: Path, settings: str):
    here = checkout(edited(clean(), [LATE]))
    outside = lay(tmp_path / "outside", {"_transformers/registry.py": "MODEL_ARCH_MAPPING = {}\n"})
    (outside / "baseline.json").write_text('{"version": 1, "findings": {}}')
    (here.root / "linked").symlink_to(outside)
    (here.root / "pyproject.toml").write_text(f"[tool.automodel-lint]\n{settings.format(outside=outside)}\n")
    ran = here.annotate()
    assert ran.code == 2 and "cannot be linted" in ran.err
    assert here.bench.github.writes() == []


def test_a_package_in_a_folder_above_is_not_taken_for_that_of_the_checkout(checkout: Make, tmp_path: Path):
    """As where a job has checked out the base around the head."""
    here = checkout(edited(clean(), [LATE]), base={})
    assert here.annotate().code == 0 and len(here.bench.bodies()) == 1
    lay(tmp_path, clean())
    for path in ("acme_automodel", "pyproject.toml"):
        (here.root / path).rename(here.root / f"not-{path}")
    ran = here.annotate()
    assert ran.code == 2 and "cannot be linted" in ran.err
    assert len(here.bench.bodies()) == 1, "no comment is taken for outdated"


def test_a_checkout_that_is_the_source_folder_of_a_project_around_it_is_refused(checkout: Make, tmp_path: Path):
    here = checkout(edited(clean(), [LATE]), base={})
    here.root = here.root.rename(tmp_path / "src")
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'around'\n")
    ran = here.annotate()
    assert ran.code == 2 and "cannot be linted" in ran.err


def test_a_tree_that_is_confined_sees_nothing_outside(tmp_path: Path):
    inside, outside = tmp_path / "in", tmp_path / "in-between"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "a.py").write_text("x = 1\n")
    (inside / "link.py").symlink_to(outside / "a.py")
    (inside / "here.py").symlink_to(inside / "a.py")
    tree = own_lint._Confined(str(inside), [str(inside)])
    assert tree.read(str(inside / "a.py")) == tree.read(str(inside / "here.py")) == b"x = 1\n"
    for path in (inside / "link.py", outside / "a.py", inside / ".." / "in-between" / "a.py"):
        assert tree.read(str(path)) is None
    assert tree.entries(str(outside)) is None and tree.entries(str(inside)) is not None
