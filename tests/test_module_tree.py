"""The module tree against the truth: every small model of ``tree_models`` is really constructed and compared."""

from __future__ import annotations

import ast
import copy
from typing import Any

import pytest

from automodel_lint.domain.project import Project
from automodel_lint.inference.construction import torch_specs
from automodel_lint.inference.module_tree import ModuleTree

from . import tree_cases, tree_compare
from .tree_cases import MODELS, OF_LIBRARIES, cases, marked, opaque, table

each_model = pytest.mark.parametrize(("module", "cls"), marked(cases()))
Truth = dict[str, Any]


@pytest.fixture(scope="module")
def truth(torch_python: str) -> Truth:
    return tree_cases.constructed(torch_python, MODELS)


@pytest.fixture(scope="module")
def project(truth: Truth) -> Project:
    """The models with the sources of torch and transformers at hand."""
    return tree_compare.project_of(MODELS, truth["site"])


@pytest.fixture(scope="module")
def bare() -> Project:
    """The models alone."""
    return tree_compare.project_of(MODELS, [])


def _differences(tree: ModuleTree, truth: Truth, module: str, cls: str, unknown: list[str]) -> list[str]:
    records = truth["packages"][0][module][cls]
    unfollowed = table(MODELS / f"{module}.py", "UNFOLLOWED")
    return tree_compare.differences(tree, records, truth["default"], unknown, unfollowed)


@each_model
def test_tree_is_what_is_constructed(module: str, cls: str, truth: Truth, project: Project) -> None:
    tree = tree_compare.tree_of(project, module, cls)
    found = _differences(tree, truth, module, cls, opaque(module, cls))
    assert not found, "\n" + "\n".join(found)


@each_model
def test_tree_without_the_sources_of_libraries(module: str, cls: str, truth: Truth, bare: Project) -> None:
    tree = tree_compare.tree_of(bare, module, cls)
    of_library = module in OF_LIBRARIES
    unknown = [node.fqn for node in tree.opaque] if of_library else opaque(module, cls)
    found = _differences(tree, truth, module, cls, unknown)
    assert not found, "\n" + "\n".join(found)


def test_every_leaf_of_the_table_is_compared() -> None:
    source = ast.parse((MODELS / "torch_leaves.py").read_text(encoding="utf-8"))
    used = {n.attr for n in ast.walk(source) if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "nn"}
    known = {key.removeprefix("torch.nn.") for key in torch_specs._SPECS if key.startswith("torch.nn.")}
    assert known | torch_specs._EMPTY <= used, sorted((known | torch_specs._EMPTY) - used)


def test_modules_without_cases_are_only_shared_parts() -> None:
    without = {path.stem for path in MODELS.glob("*.py")} - {module for module, _ in cases()}
    assert without == {"__init__", "configs"}


# -- the comparison itself --------------------------------------------------------------------------------------------


def _changed(records: list[Truth], change: Any) -> list[Truth]:
    records = copy.deepcopy(records)
    for record in records:
        change(record)
    return records


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r["tensors"].pop("embed.weight"), "phantom   embed.weight"),
        (lambda r: r["tensors"].update(new=r["tensors"]["embed.weight"]), "missed    new"),
        (lambda r: r["tensors"]["embed.weight"].update(kind="buffer"), "differs   embed.weight: kind"),
        (lambda r: r["tensors"]["embed.weight"].update(persistent=False), "differs   embed.weight: persistent"),
        (lambda r: r["tensors"]["embed.weight"].update(trainable=False), "differs   embed.weight: trainable"),
        (lambda r: r["tensors"]["embed.weight"].update(dtype="float32"), "differs   embed.weight: dtype"),
        (lambda r: r["tensors"]["embed.weight"].update(shape=[1, 2]), "differs   embed.weight: shape"),
        (lambda r: r["modules"].update(norm="RMSNorm"), "class     norm"),
        (lambda r: r["modules"].pop("norm"), "module phantom   norm"),
        (lambda r: r["modules"].update(new="Linear"), "module missed    new"),
        (lambda r: r["shared"].append("norm"), "shared    norm"),
        (lambda r: r.update(error="TypeError: no"), "not constructed: TypeError: no"),
    ],
)
def test_comparison_sees_a_difference(change: Any, said: str, truth: Truth, project: Project) -> None:
    tree = tree_compare.tree_of(project, "submodules", "Nested")
    records = truth["packages"][0]["submodules"]["Nested"]
    assert not tree_compare.differences(tree, records, truth["default"])
    found = tree_compare.differences(tree, _changed(records, change), truth["default"])
    assert any(line.startswith(said) for line in found), found


def test_comparison_sees_wrong_conditions(truth: Truth, project: Project) -> None:
    tree = tree_compare.tree_of(project, "conditionals", "Sides")
    records = truth["packages"][0]["conditionals"]["Sides"]
    assert not tree_compare.differences(tree, records, truth["default"])
    with_bias = [r for r in records if r["config"]["fields"]["bias"]]
    assert "always    one.weight is conditional in the tree" in tree_compare.differences(tree, with_bias, "float64")
    without = _changed(records[:1], lambda r: r["tensors"].pop("flag.weight"))
    found = tree_compare.differences(tree, [*records, *without], "float64")
    assert "sometimes flag.weight is unconditional in the tree" in found


def test_comparison_wants_opaque_nodes_where_they_are_announced(truth: Truth, project: Project) -> None:
    tree = tree_compare.tree_of(project, "submodules", "Nested")
    records = truth["packages"][0]["submodules"]["Nested"]
    assert tree_compare.differences(tree, records, "float64", ["norm"]) == ["not opaque norm"]
