"""The module tree of published model classes against the models that really are constructed.

Of nemo-automodel's classes a choice of every kind; ``make bench-tree`` compares all of them.
"""

from __future__ import annotations

from typing import Any

import pytest

from automodel_lint.domain.project import Project
from benchmarks import module_tree
from benchmarks.module_tree import Row

CHOSEN = {
    "dense": "LlamaForCausalLM",
    "grouped queries with a bias": "Qwen2ForCausalLM",
    "fused projections": "BaichuanForCausalLM",
    "latent attention and experts": "DeepseekV3ForCausalLM",
    "experts without shared ones": "Qwen3MoeForCausalLM",
    "shared experts": "Glm4MoeForCausalLM",
    "experts and a tied head": "Ernie4_5_MoeForCausalLM",
    "attention sinks": "GptOssForCausalLM",
    "state-space layers": "NemotronHForCausalLM",
    "linear attention": "Qwen3NextForCausalLM",
    "multimodal, vision tower of transformers": "Qwen3VLMoeForConditionalGeneration",
    "multimodal, own towers": "KimiVLForConditionalGeneration",
    "multimodal, two levels of configurations": "Gemma4ForConditionalGeneration",
    "class of transformers": "Qwen2_5OmniThinkerForConditionalGeneration",
    "head for several tokens": "Step3p7ForConditionalGeneration",
    "encoder": "LlamaBidirectionalModel",
    "classifier": "LlamaBidirectionalForSequenceClassification",
}
# For each of these kinds, a name without which the comparison would prove little.
TELLING = {
    "LlamaForCausalLM": "model.layers.1.mlp.down_proj.weight",
    "Qwen2ForCausalLM": "model.layers.0.self_attn.q_proj.bias",
    "DeepseekV3ForCausalLM": "model.layers.0.self_attn.kv_a_proj_with_mqa.weight",
    "Glm4MoeForCausalLM": "model.layers.1.mlp.shared_experts.up_proj.weight",
    "GptOssForCausalLM": "model.layers.0.self_attn.sinks",
    "NemotronHForCausalLM": "model.layers.0.mixer._fp32_params.A_log",
    "Qwen3NextForCausalLM": "model.layers.0.linear_attn._fp32_params.A_log",
    "Qwen3VLMoeForConditionalGeneration": "model.visual.patch_embed.proj.weight",
    "LlamaBidirectionalForSequenceClassification": "score.weight",
}


@pytest.fixture(scope="module")
def records(torch_python: str) -> dict[str, list[dict[str, Any]]]:
    """What really is constructed, by the first architecture name asked for."""
    truth = module_tree.real_names(torch_python, CHOSEN.values())
    return {name: found[0] for name in CHOSEN.values() if (found := module_tree.by_class(truth, [name]))}


@pytest.fixture(scope="module")
def project(torch_python: str) -> Project:
    return module_tree.project_of(torch_python)


@pytest.fixture(scope="module")
def rows(records: dict[str, list[dict[str, Any]]], project: Project) -> dict[str, Row]:
    return {name: module_tree.row(project, found) for name, found in records.items()}


@pytest.mark.parametrize("architecture", CHOSEN.values(), ids=CHOSEN)
def test_tree_has_the_names_of_the_real_model(architecture: str, rows: dict[str, Row]) -> None:
    row = rows[architecture]
    assert row.agrees and row.complete, "\n".join(module_tree.lines(row))


@pytest.mark.parametrize(("architecture", "name"), TELLING.items())
def test_the_real_model_is_of_its_kind(architecture: str, name: str, records: dict[str, list[dict[str, Any]]]) -> None:
    assert any(name in record["parameters"] for record in records[architecture])


def test_a_tied_head_shares_its_parameter(records: dict[str, list[dict[str, Any]]], rows: dict[str, Row]) -> None:
    tied = [n for n, found in records.items() if any("lm_head.weight" in g for r in found for g in r["aliases"])]
    assert tied, "no tied class was chosen"
    assert all(rows[name].agrees for name in tied)


def test_a_difference_is_seen(records: dict[str, list[dict[str, Any]]], project: Project) -> None:
    (first, *_) = records["LlamaForCausalLM"]
    parameters = {n: p for n, p in first["parameters"].items() if not n.endswith("down_proj.weight")}
    moved = parameters.pop("lm_head.weight")
    buffers = {**first["buffers"], "lm_head.weight": moved | {"persistent": True}}
    row = module_tree.row(project, [first | {"parameters": parameters | {"new.weight": moved}, "buffers": buffers}])
    assert row.missed == ["new.weight"]
    assert row.flags == ["lm_head.weight: buffer, in the tree parameter"]
    assert row.phantom == ["model.layers.*.mlp.down_proj.weight"]
    assert module_tree.summary([row]) == "1 classes, 0 without a difference, 1 complete"
    assert any("missed   new.weight" in line for line in module_tree.lines(row))
