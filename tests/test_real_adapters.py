"""The key maps of published adapters against what they really do, in both directions.

Of nemo-automodel's adapters a choice of every kind; ``make bench-adapters`` compares all of them.
"""

from __future__ import annotations

from typing import Any

import pytest

from automodel_lint.domain.project import Project
from automodel_lint.inference.module_tree import matches
from benchmarks import adapter_keys, module_tree
from benchmarks.adapter_keys import Row

CHOSEN = {
    "experts of the shared mixin": "Qwen3MoeForCausalLM",
    "experts under other names": "MiniMaxM2ForCausalLM",
    "a map of suffixes, in place": "GptOssForCausalLM",
    "a table of patterns": "BailingMoeV2ForCausalLM",
    "an adapter in an adapter": "KimiVLForConditionalGeneration",
    "components with prefixes": "NemotronH_Nano_Omni_Reasoning_V3",
    "holders of fp32 tensors": "Qwen3NextForCausalLM",
    "a layout that the config names": "MuseGlimmerForConditionalGeneration",
    "tensors that it drops and makes": "DiffusionGemmaForBlockDiffusion",
    "patterns that rename a class of transformers": "LLaVAOneVision1_5_ForConditionalGeneration",
    "layers behind the last": "DeepseekV4ForCausalLM",
}
# For each of these a pair without which the comparison would prove little: a native name, and what comes out of it.
TELLING = {
    "Qwen3MoeForCausalLM": ("model.layers.*.mlp.experts.down_projs", "model.layers.*.mlp.experts.*.down_proj.weight"),
    "GptOssForCausalLM": ("model.layers.*.mlp.gate.weight", "model.layers.*.mlp.router.weight"),
    "BailingMoeV2ForCausalLM": ("model.embed_tokens.weight", "model.word_embeddings.weight"),
    "KimiVLForConditionalGeneration": ("model.language_model.lm_head.weight", "language_model.lm_head.weight"),
    "DeepseekV4ForCausalLM": ("model.layers.*.mlp.experts.down_projs", "layers.*.ffn.experts.*.w2.weight"),
}
DECIDED = 0.9  # of the names that a tiny model has; but for a class that asks its config about every name
LAYOUTS = ("MuseGlimmerForConditionalGeneration",)


@pytest.fixture(scope="module")
def records(torch_python: str) -> dict[str, list[dict[str, Any]]]:
    """What the adapters really do, by the first architecture name asked for."""
    truth = module_tree.real_names(torch_python, CHOSEN.values(), "truth.adapter_keys")
    return {name: found[0] for name in CHOSEN.values() if (found := module_tree.by_class(truth, [name]))}


@pytest.fixture(scope="module")
def project(torch_python: str) -> Project:
    return module_tree.project_of(torch_python)


@pytest.fixture(scope="module")
def rows(records: dict[str, list[dict[str, Any]]], project: Project) -> dict[str, Row]:
    return {name: made for name, found in records.items() if (made := adapter_keys.row(project, found)) is not None}


@pytest.mark.parametrize("architecture", CHOSEN.values(), ids=CHOSEN)
def test_nothing_that_is_decided_is_wrong(architecture: str, rows: dict[str, Row]) -> None:
    row = rows[architecture]
    assert not row.wrong, "\n".join(adapter_keys.lines(row))
    counts = row.to_hf.counts
    seen = sum(counts.values()) - counts["unseen"]
    assert seen > 10
    assert architecture in LAYOUTS or counts["right"] >= DECIDED * seen, "\n".join(adapter_keys.lines(row))


@pytest.mark.parametrize(("architecture", "pair"), TELLING.items(), ids=list(TELLING))
def test_the_real_adapter_does_what_the_map_says(
    architecture: str, pair: tuple[str, str], records: dict[str, list[dict[str, Any]]], project: Project
) -> None:
    native, hf = pair
    pairs = [pair for record in records[architecture] for pair in record["adapter"]["to_hf"].items()]
    real = [out for name, out in pairs if matches(native, name)]
    assert real and all(adapter_keys.agrees([hf], out) for out in real)
    (adapter,) = module_tree.find(project, architecture)[1].adapters
    assert hf in adapter.to_hf.keys[native].all_names


def test_a_rename_without_its_way_back_is_found(project: Project) -> None:
    (adapter,) = module_tree.find(project, "KimiVLForConditionalGeneration")[1].adapters
    assert [key.name for key in adapter.one_way] == ["model.language_model.lm_head.weight"]


def test_a_wrong_map_is_seen(records: dict[str, list[dict[str, Any]]], project: Project) -> None:
    first, *_ = records["Qwen3MoeForCausalLM"]
    forth = first["adapter"]["to_hf"] | {"lm_head.weight": ["head.weight"]}
    changed = first | {"adapter": first["adapter"] | {"to_hf": forth}}
    row = adapter_keys.row(project, [changed])
    assert row is not None and row.to_hf.counts["wrong"] == 1
    assert row.wrong == ["lm_head.weight: ['lm_head.weight'], really ['head.weight']"]
