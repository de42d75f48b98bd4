"""Tiny configurations: the arithmetic of shrinking without torch, and real classes that run on what comes out of it."""

from __future__ import annotations

import json
import subprocess
import textwrap
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from automodel_lint.probe.worker.tiny.layers import make_plan
from automodel_lint.probe.worker.tiny.shrinking import Shrinker, sections
from automodel_lint.probe.worker.tiny_config import merge, tiny_config

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "vocab_size": 32000,
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "rope_parameters": {"rope_type": "yarn", "original_max_position_embeddings": 8192, "factor": 4},
}
MOE: dict[str, Any] = {
    **LLAMA,
    "moe_intermediate_size": 2048,
    "shared_expert_intermediate_size": 5632,
    "num_experts": 64,
    "num_experts_per_tok": 8,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
}


def shrink(node: dict[str, Any], **options: Any) -> dict[str, Any]:
    return Shrinker(**options).shrink(node)


def test_no_two_widths_are_equal() -> None:
    tiny = shrink(MOE)
    heads = {f"{name} x head_dim": tiny[name] * tiny["head_dim"] for name in tiny if name.endswith("_heads")}
    names = [name for name in tiny if name.endswith(("_size", "_dim", "_rank", "_experts"))]
    widths = {name: tiny[name] for name in names} | heads
    assert len(widths) == 11
    assert [(a, b) for a, b in combinations(widths, 2) if widths[a] == widths[b]] == []


def test_ratios_and_meanings_are_kept() -> None:
    tiny = shrink({**LLAMA, "n_shared_experts": 1, "n_group": 1, "topk_group": 0, "swa_head_dim": 256})
    assert tiny["num_attention_heads"] % tiny["num_key_value_heads"] == 0
    assert tiny["num_key_value_heads"] < tiny["num_attention_heads"]
    assert (tiny["n_shared_experts"], tiny["n_group"], tiny["topk_group"]) == (1, 1, 0)  # these say "none of it"
    assert tiny["swa_head_dim"] == 2 * tiny["head_dim"]
    equal = shrink({**LLAMA, "num_key_value_heads": 32})
    assert equal["num_key_value_heads"] == equal["num_attention_heads"]
    assert tiny["rope_parameters"]["factor"] == 4
    assert tiny["rope_parameters"]["original_max_position_embeddings"] < 12  # what happens beyond it must happen


def test_hidden_size_without_head_dim_is_divisible() -> None:
    tiny = shrink({name: value for name, value in LLAMA.items() if name != "head_dim"})
    assert tiny["hidden_size"] // tiny["num_attention_heads"] % 4 == 0


def test_profile_that_keeps_the_head_dimension() -> None:
    assert shrink(LLAMA, keep_head_dim=True)["head_dim"] == 128
    implicit = shrink({name: value for name, value in LLAMA.items() if name != "head_dim"}, keep_head_dim=True)
    assert implicit["hidden_size"] == 128 * implicit["num_attention_heads"]


def test_profile_that_keeps_ties() -> None:
    tiny = shrink({**MOE, "moe_intermediate_size": 11008, "v_head_dim": 128, "qk_norm_dim": 4096}, keep_ties=True)
    assert tiny["num_attention_heads"] * tiny["head_dim"] == tiny["hidden_size"]
    assert tiny["moe_intermediate_size"] == tiny["intermediate_size"] != tiny["hidden_size"]
    assert (tiny["v_head_dim"], tiny["qk_norm_dim"]) == (tiny["head_dim"], tiny["hidden_size"])


def test_all_that_speaks_of_layers_keeps_the_same_ones() -> None:
    kinds = ["linear", "linear", "full", "linear"] * 8
    node = {
        **LLAMA,
        "layer_types": kinds,
        "hybrid_pattern": "".join(kind[0] for kind in kinds) + "x",
        "first_k_dense_replace": 3,
        "no_rope_layers": [2, 6, 31],
        "index_source_layer_id": 3,
        "per_layer_config": {"06": {"head_dim": 256}},
    }
    plan = make_plan(node)
    assert plan is not None and plan.kept == (0, 1, 2, 3, 6, 10, 31)
    tiny = shrink(node)
    assert tiny["num_hidden_layers"] == 7
    assert tiny["layer_types"] == ["linear", "linear", "full", "linear", "full", "full", "linear"]
    assert tiny["hybrid_pattern"] == "llflfflx"  # what follows the layers, for MTP, stays
    assert tiny["first_k_dense_replace"] == 3
    assert tiny["no_rope_layers"] == [2, 4, 6]
    assert tiny["index_source_layer_id"] == 3
    assert list(tiny["per_layer_config"]) == ["4"]


def test_layer_lists_that_count_from_one() -> None:
    node = {"num_hidden_layers": 4, "linear_attn_config": {"kda_layers": [1, 2, 3], "full_attn_layers": [4]}}
    assert shrink(node)["linear_attn_config"] == {"kda_layers": [1, 2], "full_attn_layers": [3]}


def test_token_ids_stay_equal_different_and_below_the_vocabulary() -> None:
    node = {
        **LLAMA,
        "pad_token_id": 0,
        "eos_token_id": [128001, 128009],
        "image_token_index": 151655,
        "text_config": {**LLAMA, "image_token_id": 151655, "video_token_id": 151656, "bos_token_id": 128001},
    }
    tiny = shrink(node)
    text = tiny["text_config"]
    assert tiny["pad_token_id"] == 0
    assert tiny["image_token_index"] == text["image_token_id"] != text["video_token_id"]
    assert tiny["eos_token_id"][0] == text["bos_token_id"] != tiny["eos_token_id"][1]
    ids = {*tiny["eos_token_id"], text["image_token_id"], text["video_token_id"]}
    assert len(ids) == 4 and max(ids) < text["vocab_size"]


def test_a_tower_ends_in_the_width_of_the_text() -> None:
    vision = {
        "model_type": "tower",
        "hidden_size": 1152,
        "intermediate_size": 4304,
        "num_heads": 16,
        "depth": 27,
        "out_hidden_size": 3584,
        "projection_input": 4096,
        "deepstack_visual_indexes": [8, 16, 24],
        "window_size": 112,
        "patch_size": 14,
        "image_size": 448,
    }
    tiny = shrink({"model_type": "both", "vision_config": vision, "text_config": LLAMA})
    tower, text = tiny["vision_config"], tiny["text_config"]
    assert tower["out_hidden_size"] == text["hidden_size"] != tower["hidden_size"]
    assert tower["projection_input"] == text["hidden_size"]  # no name that says so, but it was as large
    assert tower["intermediate_size"] != text["intermediate_size"]
    assert (tower["depth"], tower["deepstack_visual_indexes"]) == (3, [2])
    assert (tower["window_size"], tower["image_size"]) == (112, 56)  # in pixels


def test_sections_follow_the_head_dimension() -> None:
    rope = {"rope_type": "default", "mrope_section": [24, 20, 20]}
    tiny = shrink({**LLAMA, "rope_parameters": rope})
    assert sum(tiny["rope_parameters"]["mrope_section"]) == tiny["head_dim"] // 2
    assert rope["mrope_section"] == [24, 20, 20]
    assert sections([11, 11, 10], 3) == [1, 1, 1]
    assert sections([16, 24, 24], 8) == [2, 3, 3]


def test_quantisation_is_dropped() -> None:
    assert shrink({**LLAMA, "quantization_config": {"quant_method": "fp8"}})["quantization_config"] is None


def test_recipes_before_and_after_shrinking() -> None:
    class Plain:
        model_type = "plain"

        def __init__(self, **fields: Any) -> None:
            self.__dict__.update({**LLAMA, "experts_per_head": 7, **fields})

        def to_dict(self) -> dict[str, Any]:
            return dict(vars(self))

    config = tiny_config(Plain, {"given": {"num_experts": 64}, "set": {"hidden_size": 12}})
    assert (config.num_experts, config.hidden_size, config.experts_per_head) == (6, 12, 7)
    assert merge({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}) == {"a": {"b": 3, "c": 2}}


# -- real classes -----------------------------------------------------------------------------------------------------

REAL = {
    "LlamaForCausalLM": "llama",
    "GptOssForCausalLM": "gpt_oss",
    "Qwen3MoeForCausalLM": "qwen3_moe",
    "Qwen3VLForConditionalGeneration": "qwen3_vl",
    "KimiLinear48BForCausalLM": "kimi_linear",
    "LlamaBidirectionalModel": "llama_bidirectional",
    "Qwen2_5OmniThinkerForConditionalGeneration": "qwen2_5_omni",
}
SCRIPT = """
    import importlib.util, json, sys
    spec = importlib.util.spec_from_file_location("start", sys.argv[1])
    start = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(start)
    start.adopt()
    from automodel_lint.probe.worker import environment
    environment.prepare()
    import torch
    from automodel_lint.probe.protocol import Job, Target
    from automodel_lint.probe.worker.checks.forward import forward_fails
    from automodel_lint.probe.worker.subject import Subject

    package = "nemo_automodel"
    found = {}
    for name, folder in json.loads(sys.argv[2]).items():
        target = Target(f"{package}.components.models.{folder}.model", name, (name,))
        subject = Subject(Job(package, package, (target,), ()), target, environment.Observed(package))
        first, second = subject.model.state_dict(), subject.fresh().state_dict()
        inputs = subject.inputs()
        with torch.no_grad():
            output = subject.run(subject.model, inputs)
        record = {
            "same": all(torch.equal(first[key], second[key]) for key in first),
            "shape": list(output.shape),
            "positions_differ": bool((output[:, 1:] - output[:, :-1]).abs().amax(-1).min() > 1e-3),
            "arguments": sorted(inputs),
            "faults": [fault.fields for fault in forward_fails(subject)],
            "facts": subject.new_facts,
        }
        if subject.image.form is not None:
            images = subject.inputs(modality="image")
            record["image"] = sorted(images)
            record["placeholders"] = (images["input_ids"] == subject.config().image_token_id).sum(1).tolist()
        found[name] = record
    print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def real(torch_python: str) -> dict[str, Any]:
    worker = Path(__file__).resolve().parent.parent / "src" / "automodel_lint" / "probe" / "worker" / "__main__.py"
    command = [torch_python, "-c", textwrap.dedent(SCRIPT), str(worker), json.dumps(REAL)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", [name for name in REAL if "Omni" not in name])
def test_a_real_class_runs(real: dict[str, Any], name: str) -> None:
    record = real[name]
    assert record["faults"] == []
    assert record["same"] and record["positions_differ"]
    wide = record["facts"]["config"]["hidden_size"] if name == "LlamaBidirectionalModel" else 200
    assert record["shape"] == [2, 12, wide]


def test_what_was_derived_is_told(real: dict[str, Any]) -> None:
    facts = real["KimiLinear48BForCausalLM"]["facts"]
    assert facts["config_class"].endswith("config:KimiLinear48BConfig")
    assert facts["profile"] == "distinct sizes"
    assert facts["recipe"] == ["given", "stand_ins"] and "stand-in for fla" in facts["how"]
    assert facts["config"]["num_hidden_layers"] == 3


def test_masks_for_those_who_pool(real: dict[str, Any]) -> None:
    assert real["LlamaForCausalLM"]["arguments"] == ["input_ids"]
    assert real["LlamaBidirectionalModel"]["arguments"] == ["attention_mask", "input_ids"]


def test_images_have_a_token_for_each_feature(real: dict[str, Any]) -> None:
    record = real["Qwen3VLForConditionalGeneration"]
    assert {"input_ids", "pixel_values", "image_grid_thw"} <= set(record["image"])
    assert record["placeholders"] == [2, 2]


def test_images_that_the_class_itself_cannot_take(real: dict[str, Any]) -> None:
    record = real["Qwen2_5OmniThinkerForConditionalGeneration"]
    (fault,) = record["faults"]
    assert fault["modality"] == "text and images"
    assert fault["error"].startswith("AttributeError: 'tuple' object has no attribute 'to'")
