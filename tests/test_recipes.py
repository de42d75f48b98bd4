"""Recipes through the whole linter: which files are some, what a path brings in, comments, formats, cache."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from automodel_lint import engine
from automodel_lint.commands.output import FORMATS
from automodel_lint.domain.recipe import UNKNOWN, Recipe, recipes
from automodel_lint.findings import Finding
from automodel_lint.fixes.repairing import repaired
from automodel_lint.fixes.suppressing import suppressed
from automodel_lint.request import Request, UsageError
from automodel_lint.session import Session, sessions

from .page_checkout import lay, write
from .page_recipes import RECIPE

FAULTY = """\
recipe: TrainRecipeForNextToken
rng:
  _target_: nemo_automodel.components.training.rng.StatefulRng
  seed: 1
loss_fn:
  _target_: nemo_automodel.components.loss.MaskedLoss
  ignore: 3
"""
BOTH = [(3, "NAM811"), (7, "NAM812")]
RULES = ["NAM811", "NAM812", "NAM813", "NAM814", "NAM815", "NAM0"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return lay(tmp_path, {RECIPE: FAULTY})


def _request(root: Path, *paths: str, **more) -> Request:
    given = [str(root / path) for path in paths or (".",)]
    return Request(**{"paths": given, "select": RULES, "cache": False, **more})


def _findings(request: Request) -> list[Finding]:
    return [finding for session in sessions(request) for finding in session.run().findings]


def _found(request: Request) -> list[tuple[int, str]]:
    return [(f.span.line, f.code) for f in _findings(request)]


# -- which files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [".", "examples", RECIPE, "examples/llm_finetune"])
def test_every_path_around_a_recipe_brings_it_in(path: str, root: Path) -> None:
    assert _found(_request(root, path)) == BOTH
    assert {f.path for f in _findings(_request(root, path))} == {RECIPE}


def test_a_recipe_elsewhere_is_linted_when_it_is_asked_for(root: Path) -> None:
    write(root, {"runs/mine.yml": FAULTY})
    assert _found(_request(root)) == BOTH  # those of the example alone
    for path in ("runs", "runs/mine.yml"):
        assert {f.path for f in _findings(_request(root, path))} == {"runs/mine.yml"}
        assert _found(_request(root, path)) == BOTH


NO_RECIPES: Mapping[str, str] = {
    ".github/workflows/ci.yml": "on: push\njobs:\n  a: {runs-on: x}\n  a: {runs-on: y}\n",
    "compose.yaml": "services:\n  web:\n\timage: x\n",
    "deploy/pods.yaml": "kind: Pod\n---\nkind: Pod\n",
    "deploy/chart/values.yaml": "name: {{ .Values.name }}\n",
    "examples/k8s/job.yaml": "kind: Job\nkind: Job\n",
    "recipes/meta.yaml": "recipe: libfoo\nrecipe: libfoo\n",
}


def test_other_yaml_is_none_of_ours(root: Path) -> None:
    write(root, dict(NO_RECIPES))
    (root / RECIPE).unlink()
    assert not _findings(_request(root))
    assert not _findings(_request(root, *NO_RECIPES, force_exclude=True))


def test_files_are_listed(root: Path) -> None:
    report = Session(_request(root, "examples")).run()
    assert report.files == ["examples/llm_finetune/lines/acme_lines.yaml", RECIPE]


def test_a_source_layout_and_a_plug_in(tmp_path: Path) -> None:
    """The examples lie beside ``src``; a plug-in's recipes name the framework, which is not at hand."""
    files = {
        "pyproject.toml": '[project]\nname = "plug"\n[project.entry-points."nemo_automodel.architectures"]\n'
        'PlugForCausalLM = "plug.model:PlugForCausalLM"\n',
        "src/plug/__init__.py": "",
        "src/plug/model.py": "class PlugForCausalLM:\n    pass\n",
        "examples/run.yaml": "recipe: TrainRecipe\na: {_target_: plug.gone.x}\nb: {_target_: nemo_automodel.gone.x}\n",
    }
    write(tmp_path, files)
    assert _found(_request(tmp_path, select=["NAM811"])) == [(2, "NAM811")]


# -- buffers, comments, repairs ---------------------------------------------------------------------------------------


def test_a_buffer_that_is_not_saved(root: Path) -> None:
    """Of a recipe that is on disk otherwise, and of one that does not exist."""
    for name in (RECIPE, "examples/llm_finetune/brand_new.yaml"):
        path = str(root / name)
        text = FAULTY.replace("StatefulRng", "StatefulRNG").encode()
        request = _request(root, overlay={path: text}, only=frozenset({path}))
        assert _found(request) == BOTH[1:]


def test_comments_silence(root: Path) -> None:
    text = FAULTY.replace("StatefulRng", "StatefulRng  # noqa: NAM811")
    text = text.replace("  ignore", "  # automodel-lint: ignore[NAM812] it is read\n  ignore")
    (root / RECIPE).write_text(text)
    assert _found(_request(root)) == []
    (root / RECIPE).write_text(text.replace("StatefulRng ", "StatefulRNG ").replace("ignore: 3", "reduction: sum"))
    assert _found(_request(root)) == [(3, "NAM001"), (7, "NAM001")]


def test_what_is_left_can_be_silenced_and_stale_comments_go(root: Path) -> None:
    report, files = suppressed(_request(root), "as upstream has it")
    assert not report.findings
    ((path, (_, new)),) = files.items()
    assert new.decode().count("# automodel-lint: ignore[NAM81") == 2
    (root / RECIPE).write_text(new.decode().replace("StatefulRng", "StatefulRNG"))
    outcome = repaired(_request(root), unsafe=False)
    assert [f.code for f in outcome.fixed] == ["NAM001"] and not outcome.report.findings
    assert path.endswith(RECIPE)


def test_per_path_ignores_and_exclude(root: Path) -> None:
    (root / "automodel-lint.toml").write_text('[per-path-ignores]\n"examples/**" = ["NAM812"]\n')
    assert _found(_request(root)) == BOTH[:1]
    (root / "automodel-lint.toml").write_text('exclude = ["examples/llm_finetune/"]\n')
    assert not _found(_request(root))


def test_baseline(root: Path, cli) -> None:
    assert cli("baseline", cwd=root).returncode == 0
    (root / "automodel-lint.toml").write_text('baseline = "automodel-lint-baseline.json"\n')
    (root / RECIPE).write_text("# a line more\n" + FAULTY.replace("ignore: 3", "ignore: 3\n  ignored: 4"))
    assert _found(_request(root)) == [(9, "NAM812")]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_shows_recipes(name: str, root: Path, cli) -> None:
    done = cli("check", RECIPE, "--output-format", name, "--no-cache", cwd=root, GITHUB_ACTIONS="")
    assert done.returncode == 1, done.stderr
    assert "acme_new.yaml" in done.stdout and "NAM811" in done.stdout
    if name == "json":
        first = json.loads(done.stdout)["findings"][0]
        assert (first["path"], first["line"], first["column"], first["end_column"]) == (RECIPE, 3, 13, 63)


# -- cache ------------------------------------------------------------------------------------------------------------


def test_an_unchanged_recipe_is_not_parsed_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = _request(root, cache=True)
    assert _found(request) == BOTH
    asked: list[str] = []
    real = engine.Engine._about_recipe
    monkeypatch.setattr(
        engine.Engine, "_about_recipe", lambda self, path: (asked.append(Path(path).name), real(self, path))[1]
    )
    assert _found(request) == BOTH and not asked
    (root / RECIPE).write_text(FAULTY + "seed: 1\n")
    assert _found(request) == BOTH and asked == ["acme_new.yaml"]


def test_a_verdict_depends_on_the_code_that_is_named(root: Path) -> None:
    request = _request(root, cache=True)
    assert _found(request) == BOTH
    rng = root / "nemo_automodel/components/training/rng.py"
    rng.write_text(rng.read_text().replace("StatefulRNG", "StatefulRng"))
    assert (3, "NAM811") not in _found(request)
    train = root / "nemo_automodel/recipes/llm/train.py"
    train.write_text(train.read_text() + '\n\ndef read(cfg):\n    return cfg.get("loss_fn.ignore")\n')
    assert (7, "NAM812") not in _found(request)
    assert {f.path for f in _findings(request)} == {"examples/llm_finetune/lines/acme_lines.yaml"}


def test_a_warm_run_does_without_yaml(root: Path) -> None:
    code = (
        "import sys; from automodel_lint.cli import main; import automodel_lint.commands.check as check\n"
        "check._leave = lambda code: print('yaml' in sys.modules, code)\n"
        "sys.argv = ['automodel-lint', 'check', '-q']; main()"
    )
    runs = [subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True) for _ in range(2)]
    assert "True 1" in runs[0].stdout and "False 1" in runs[1].stdout, runs


# -- new recipes ------------------------------------------------------------------------------------------------------

UNSAID = """\
recipe: TrainRecipeForNextToken
model:
  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained
optimizer:
  _target_: torch.optim.AdamW
"""


def _git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def repository(root: Path) -> Path:
    """A branch ``topic`` off ``main`` with an old recipe, a committed new one, and one that git does not know."""
    (root / RECIPE).unlink()
    write(root, {"examples/old.yaml": UNSAID})
    _git(root, "init", "-q", "-b", "main")
    _git(root, "add", "-A")
    _git(root, "commit", "-qm", "one")
    _git(root, "checkout", "-qb", "topic")
    (root / "examples/old.yaml").rename(root / "examples/moved.yaml")
    write(root, {"examples/new.yaml": UNSAID.replace("AdamW", "Adam")})
    _git(root, "add", "-A")
    _git(root, "commit", "-qm", "two")
    write(root, {"examples/unknown.yaml": UNSAID + "seed: 1\n"})
    return root


ASKED = ["NAM80"]  # a prefix does not ask old recipes


def _about_dtype(request: Request) -> set[str]:
    return {f.path for f in _findings(request) if f.code == "NAM804"}


def test_only_new_recipes_are_asked_for_fp32_weights(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    new = {"examples/new.yaml", "examples/unknown.yaml"}
    request = _request(repository, select=ASKED)
    assert not _about_dtype(request)
    assert _about_dtype(replace(request, base_revision="main")) == new
    assert _about_dtype(replace(request, select=["NAM804"])) == {*new, "examples/moved.yaml"}
    (repository / "automodel-lint.toml").write_text('base-revision = "main"\n')
    assert _about_dtype(request) == new
    assert _about_dtype(_request(repository, "examples/new.yaml", select=ASKED)) == {"examples/new.yaml"}


def test_the_branch_that_a_pull_request_goes_to(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    assert _about_dtype(_request(repository, select=ASKED)) == {"examples/new.yaml", "examples/unknown.yaml"}
    monkeypatch.setenv("GITHUB_BASE_REF", "gone")  # a shallow clone knows no other branch
    assert not _about_dtype(_request(repository, select=ASKED))


@pytest.mark.parametrize("revision", ["gone", "--output=x", "main:examples"])
def test_a_base_revision_that_is_none(revision: str, repository: Path) -> None:
    with pytest.raises(UsageError, match="git knows no such revision"):
        _findings(_request(repository, select=ASKED, base_revision=revision))


# -- the thing --------------------------------------------------------------------------------------------------------

THING = """\
recipe: {_target_: nemo_automodel.recipes.llm.train.TrainRecipeForNextToken}
distributed: {tp_size: 2, ep_size: "4", dp_size: none, cp_size: "${CP}"}
lr: 1e-5
base: &base
  _target_: a.b
  x: 1
more:
  - <<: *base
    y: [{_target_: c.d}]
  - collate_fn: e.f
"""


def test_what_a_recipe_says(tmp_path: Path) -> None:
    root = lay(tmp_path, {RECIPE: THING})
    project = Session(_request(root)).project()
    assert [r.relative for r in recipes(project)] == ["examples/llm_finetune/lines/acme_lines.yaml", RECIPE]
    recipe = Recipe(project, str(root / RECIPE))
    assert recipe.entry is not None and recipe.entry.value.endswith("TrainRecipeForNextToken")
    sizes = {axis: found[0] if (found := recipe.axis(axis)) else None for axis in ("tp", "ep", "dp", "cp", "pp")}
    assert sizes == {"tp": 2, "ep": 4, "dp": None, "cp": None, "pp": None}
    assert recipe.get("lr").value == 1e-5  # a text for YAML, a number for the framework's loader
    assert recipe.get("distributed.cp_size").value is UNKNOWN
    assert recipe.get("distributed.tp_size.x") is None and recipe.get("none") is None
    found = {(target.path, target.text, target.is_called, tuple(target.arguments)) for target in recipe.targets}
    assert found == {
        (("recipe",), "nemo_automodel.recipes.llm.train.TrainRecipeForNextToken", True, ()),
        (("base",), "a.b", True, ("x",)),
        (("more", 0), "a.b", True, ("x", "y")),
        (("more", 0, "y", 0), "c.d", True, ()),
        (("more", 1, "collate_fn"), "e.f", False, ()),
    }
