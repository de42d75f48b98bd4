"""What ``classify`` says of configs of every shape; each expectation was written by hand beside the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from automodel_lint.onboarding.classification import Classification, classify
from automodel_lint.onboarding.config_file import config_of, read_config

FOLDER = Path(__file__).parent / "model_configs"
# File: kind and traits; components by group; the tied head (value, place); experts (count, active, layers that have
# them, which the config may not tell).
EXPECTED = {
    "dense_old": ("dense", "MHA | | RMSNorm or LayerNorm | GELU, gated or plain |", (True, "outer"), None),
    "dense_gqa": ("dense", "GQA | llama3 | RMSNorm | SwiGLU |", (False, "outer"), None),
    "dense_tied": ("dense", "GQA | default | RMSNorm | SwiGLU |", (True, "outer"), None),
    "dense_sliding": ("dense", "MQA + sliding window | default | RMSNorm | GeGLU |", (None, "absent"), None),
    "dense_alibi": ("dense", "MQA | ALiBi | RMSNorm or LayerNorm | |", (None, "absent"), None),
    "dense_layernorm": ("dense", "MHA | default + partial | LayerNorm | SwiGLU |", (True, "outer"), None),
    "moe_mla": (
        "moe",
        "MLA | yarn + decoupled | RMSNorm | SwiGLU | "
        "routed + sigmoid router + correction bias + shared + grouped choice",
        (False, "outer"),
        (256, 8, 58),
    ),
    "moe_plain": (
        "moe",
        "GQA | default | RMSNorm | SwiGLU | routed + router not stated",
        (False, "outer"),
        (128, 8, 48),
    ),
    "moe_shared": (
        "moe",
        "MHA | default | RMSNorm | SwiGLU | routed + router not stated + shared",
        (False, "outer"),
        (64, 4, 9),  # every second of twenty, but for the one that is named
    ),
    "moe_sigmoid": (
        "moe",
        "GQA + QK norm | default + partial | RMSNorm | SwiGLU | routed + sigmoid router + correction bias",
        (False, "outer"),
        (256, 8, None),
    ),
    "moe_alternating": (
        "moe",
        "GQA + sliding window + bias | yarn | RMSNorm | SwiGLU + clamped | routed + router not stated",
        (False, "outer"),
        (32, 4, None),
    ),
    "moe_by_layer": (
        "moe",
        "GQA + QK norm | dynamic | RMSNorm | SwiGLU | routed + router not stated + shared",
        (True, "outer"),
        (64, 8, None),
    ),
    "hybrid_mamba": (
        "hybrid moe",
        "GQA + state space | | RMSNorm or LayerNorm | squared ReLU | routed + router not stated + shared",
        (False, "outer"),
        (128, 6, 4),
    ),
    "hybrid_linear": (
        "hybrid moe",
        "GQA + linear attention | default + partial | RMSNorm | SwiGLU | routed + router not stated + shared",
        (False, "outer"),
        (512, 10, 48),
    ),
    "hybrid_parallel": ("hybrid dense", "GQA + state space | default | RMSNorm | SwiGLU |", (True, "outer"), None),
    "linear_by_table": (
        "hybrid moe",
        "MLA + linear attention | none | RMSNorm | SwiGLU | routed + sigmoid router + shared",
        (False, "outer"),
        (256, 8, 7),
    ),
    "state_space": ("dense", "state space | | RMSNorm or LayerNorm | |", (True, "outer"), None),
    "vlm_nested": ("multimodal dense", "GQA | default | RMSNorm | SwiGLU |", (False, "nested"), None),
    "vlm_moe": (
        "multimodal moe",
        "MLA | default + decoupled | RMSNorm | SwiGLU | routed + sigmoid router + correction bias + shared",
        (False, "both"),
        (64, 6, 26),
    ),
    "vlm_flat": ("multimodal dense", "GQA | mrope | RMSNorm | SwiGLU |", (True, "outer"), None),
    "vlm_llm_config": ("multimodal dense", "GQA | default | RMSNorm | SwiGLU |", (True, "both"), None),
    "experts_off": (
        "multimodal dense",
        "GQA + sliding window | proportional + partial + default + by kind of layer | RMSNorm | GeGLU |",
        (True, "both"),
        None,
    ),
    "audio": ("multimodal dense", "MHA | default | RMSNorm | SwiGLU |", (False, "both"), None),
    "image_output": ("multimodal dense", "GQA + QK norm | default | RMSNorm | SwiGLU |", (False, "both"), None),
    "omni_thinker": (
        "omni moe",
        "GQA | mrope + default | RMSNorm | SwiGLU | routed + router not stated",
        (False, "nested"),
        (128, 8, 48),
    ),
    "omni_towers": (
        "omni hybrid dense",
        "GQA + state space | | RMSNorm or LayerNorm | squared ReLU |",
        (False, "nested"),
        None,
    ),
    "encoder_bidirectional": (
        "encoder dense",
        "GQA + bidirectional | default | RMSNorm | SwiGLU |",
        (True, "outer"),
        None,
    ),
    "encoder_masked": (
        "encoder dense",
        "key-value heads not stated + bidirectional | absolute | LayerNorm | GELU, gated or plain |",
        (None, "absent"),
        None,
    ),
    "classifier": ("encoder dense", "GQA | default | RMSNorm | SwiGLU |", (True, "outer"), None),
    "encoder_decoder": (
        "encoder-decoder dense",
        "key-value heads not stated | | RMSNorm or LayerNorm | GeGLU |",
        (False, "outer"),
        None,
    ),
    "diffusion_text": ("diffusion dense", "MHA | default | RMSNorm | SwiGLU |", (None, "absent"), None),
    "diffusion_pipeline": ("diffusion", "| | | |", (None, "absent"), None),
    "remote_only": ("dense", "GQA | | RMSNorm or LayerNorm | |", (None, "absent"), None),
    "quantised": ("dense", "GQA | default | RMSNorm | SwiGLU |", (False, "outer"), None),
}
GROUPS = ("attention", "rope", "norm", "mlp", "experts")


def said(name: str) -> Classification:
    return classify(read_config(str(FOLDER / f"{name}.json")))


def test_every_file_has_an_expectation():
    assert {path.stem for path in FOLDER.glob("*.json")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_config(name: str):
    kinds, components, tie, experts = EXPECTED[name]
    found = said(name)
    assert " ".join([found.kind, *found.traits]) == kinds
    names = [" + ".join(c.name for c in found.components if c.group == group) for group in GROUPS]
    assert names == [text.strip() for text in components.split("|")]
    assert (found.tie.value, found.tie.place) == tie
    counted = found.experts
    assert (counted and (counted.count.value, counted.active.value, counted.layers)) == experts
    assert all(_stated(found, field.path) for field in _evidence(found)), "only what stands in the file is evidence"


def _evidence(found: Classification):
    yield from (field for kind in found.kinds for field in kind.fields)
    yield from (field for component in found.components for field in component.fields)
    yield from found.tie.fields


def _stated(found: Classification, path: str) -> bool:
    return found.file.line(path) is not None or path.endswith(".rope_type")  # a table that leaves the default out


# -- sizes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "total", "active"),
    [
        # what the published models of these shapes have, less their norms and biases, counted by hand
        ("dense_gqa", 8_030_261_248 - 65 * 4096, None),
        ("dense_tied", 494_032_768 - 49 * 896 - 24 * (896 + 2 * 128), None),
        ("quantised", 70_553_706_496 - 161 * 8192, None),
    ],
)
def test_parameters_are_exact_but_for_norms_and_biases(name: str, total: int, active: int | None):
    found = said(name).parameters
    assert (found.total, found.active) == (total, active or total)


@pytest.mark.parametrize(("name", "total", "active"), [("moe_mla", 671e9, 37.6e9), ("moe_plain", 30.5e9, 3.35e9)])
def test_parameters_of_experts(name: str, total: float, active: float):
    found = said(name).parameters
    assert found.total == pytest.approx(total, rel=0.003)
    assert found.active == pytest.approx(active, rel=0.01)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("hybrid_linear", "recurrence"),
        ("dense_sliding", "head shares the embedding is not stated"),
        ("dense_old", "intermediate size"),
        ("encoder_masked", "key-value heads"),
        ("dense_alibi", "intermediate size"),
    ],
)
def test_no_estimate_where_a_part_is_not_stated(name: str, words: str):
    found = said(name).parameters
    assert found.total is None and found.active is None
    assert words in found.reason


def test_sizes_come_from_the_language_model():
    sizes = said("vlm_moe").sizes
    assert (sizes.hidden.path, sizes.hidden.value) == ("text_config.hidden_size", 2048)
    assert said("omni_thinker").parts.backbone.path == "thinker_config.text_config"
    assert said("omni_towers").sizes.layers.value == 6


# -- the rest -------------------------------------------------------------------------------------------------------


def test_media():
    found = {name: said(name).modalities for name in EXPECTED}
    assert set(found["vlm_flat"].inputs) == {"image", "video"}
    assert set(found["omni_thinker"].inputs) == {"image", "audio"} and set(found["omni_thinker"].outputs) == {"audio"}
    assert set(found["image_output"].outputs) == {"image"}
    assert not found["experts_off"].inputs.keys() & {"audio"}, "null is none"
    assert not found["dense_gqa"].inputs


def test_a_nested_flag_that_says_otherwise():
    tie = said("vlm_llm_config").tie
    assert tie.contradicts
    assert [(field.path, field.value) for field in tie.fields] == [
        ("tie_word_embeddings", True),
        ("llm_config.tie_word_embeddings", False),
    ]


def test_the_flag_of_what_speaks_is_not_that_of_the_language_model():
    assert all(not field.path.startswith("talker") for field in said("omni_thinker").tie.fields)


@pytest.mark.parametrize(
    ("name", "method"), [("moe_mla", "fp8"), ("moe_alternating", "mxfp4"), ("quantised", "awq, 4 bits")]
)
def test_quantisation(name: str, method: str):
    assert said(name).quantization.value == method


def test_layers_in_numbers():
    details = {c.name: c.detail for c in said("dense_sliding").components}
    assert details["sliding window"] == "512 tokens in 10 of 12 layers"
    details = {c.name: c.detail for c in said("linear_by_table").components}
    assert details["linear attention"] == "6 of 8 layers"


@pytest.mark.parametrize("value", [None, 0, 1])
def test_experts_that_are_switched_off(value: object):
    config = {"architectures": ["OakForCausalLM"], "num_experts": value, "num_experts_per_tok": 8}
    assert classify(config_of(config)).kind == "dense"


def test_experts_by_how_many_a_token_goes_to():
    assert classify(config_of({"architectures": ["OakForCausalLM"], "num_experts_per_tok": 2})).kind == "moe"


def test_all_layers_dense():
    config = {"num_experts": 8, "num_experts_per_tok": 2, "mlp_layer_types": ["dense", "dense"]}
    assert classify(config_of(config)).kind == "dense"


def test_an_empty_config_is_dense_and_says_what_is_missing():
    found = classify(config_of({}))
    assert (found.kind, found.traits, found.architectures) == ("dense", (), ())
    assert len(found.notes) == 2


def test_a_tower_named_by_a_text_is_one():
    config = {"architectures": ["OakForCausalLM"], "mm_vision_tower": "some/vision-tower", "hidden_size": 64}
    assert classify(config_of(config)).kind == "multimodal"


def test_images_and_sound_make_an_omni_model_whatever_it_is_called():
    towers = {"vision_config": {"patch_size": 14}, "audio_config": {"num_mel_bins": 80}}
    assert classify(config_of({"architectures": ["OakForConditionalGeneration"], **towers})).kind == "omni"


def test_a_name_is_no_more_than_a_name():
    """Words in the architecture alone make no tower and no experts."""
    assert classify(config_of({"architectures": ["VisionMoeForCausalLM"]})).kind == "dense"
