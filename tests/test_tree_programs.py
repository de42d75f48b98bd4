"""Random constructors: what the module tree claims about them is true of every model that they really make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from automodel_lint.domain.project import Project

from . import tree_cases, tree_compare
from .tree_programs import Program

SEEDS = range(80)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("random") / "programs"
    found.mkdir()
    (found / "__init__.py").touch()
    for seed in SEEDS:
        (found / f"program_{seed}.py").write_text(Program(seed).text, encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def constructed(folder: Path, torch_python: str) -> dict[str, Any]:
    return tree_cases.constructed(torch_python, folder)["packages"][0]


@pytest.fixture(scope="module")
def project(folder: Path) -> Project:
    return tree_compare.project_of(folder, [])


@pytest.mark.parametrize("seed", tree_cases.marked(SEEDS))
def test_nothing_is_claimed_that_is_not_so(seed: int, constructed: dict[str, Any], project: Project) -> None:
    name = f"program_{seed}"
    tree = tree_compare.tree_of(project, name, "Model")
    found = tree_compare.differences(tree, constructed[name]["Model"], "float64")
    wrong = [line for line in found if not tree_compare.is_only_vague(line)]
    assert not wrong, "\n" + "\n".join(wrong) + "\n\n" + Program(seed).text


def test_programs_differ_in_what_they_build(constructed: dict[str, Any]) -> None:
    models = [record for classes in constructed.values() for record in classes["Model"]]
    assert len(models) == 48 * len(SEEDS)
    assert not [record["error"] for record in models if "error" in record]
    assert len({tuple(sorted(record["tensors"])) for record in models}) > 5 * len(SEEDS)
