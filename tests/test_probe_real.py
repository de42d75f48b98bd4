"""The probe on classes of the published package, of every kind: what must pass, and the defects that were adjudicated.

``docs/defects-0.7.0.md`` says of each defect where it is, and which script in ``benchmarks/reproductions`` shows it
without the probe.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest

from .conftest import ROOT

CHOSEN = (
    "BaichuanForCausalLM",  # fused projections, no adapter
    "DeepseekV3ForCausalLM",  # latent attention, experts
    "DeepseekV32ForCausalLM",  # an indexer on top
    "Ernie4_5_MoeForCausalLM",
    "Glm4MoeForCausalLM",
    "GptOssForCausalLM",  # attention sinks
    "KimiVLForConditionalGeneration",  # own vision tower
    "LlamaBidirectionalModel",  # an encoder
    "LlamaBidirectionalForSequenceClassification",
    "LlamaForCausalLM",  # tied and untied
    "Ministral3ForCausalLM",
    "NemotronHForCausalLM",  # state-space layers
    "Qwen2ForCausalLM",
    "Qwen3MoeForCausalLM",
    "Qwen3NextForCausalLM",  # linear attention
    "Qwen3VLMoeForConditionalGeneration",  # vision tower of transformers
)
ALWAYS = ("NAM901", "NAM902", "NAM907", "NAM910", "NAM911", "NAM918", "NAM920")
# Of these the source was read and the defect reproduced without the probe: by class the codes, and a telling word.
DEFECTS = {
    "BaichuanForCausalLM": {"NAM914": "input_layernorm"},
    "DeepseekV32ForCausalLM": {"NAM908": "self_attn", "NAM915": "indexer"},
    "Ernie4_5_MoeForCausalLM": {"NAM914": "_skip_init_weights_on_load"},
    "GptOssForCausalLM": {},
    "KimiVLForConditionalGeneration": {
        "NAM905": "e_score_correction_bias",
        "NAM906": "lm_head.weight",
        "NAM914": "vision_tower",
        "NAM916": "lm_head.weight",
    },
    "NemotronHForCausalLM": {"NAM914": "mixer"},
    "Qwen3NextForCausalLM": {"NAM908": "model.norm", "NAM914": "conv1d"},
    "Qwen3VLMoeForConditionalGeneration": {"NAM905": "rotary", "NAM914": "visual", "NAM916": "visual"},
}
# Classes whose logits agree with those of transformers.
AGREE = (
    "DeepseekV3ForCausalLM",
    "Ernie4_5_MoeForCausalLM",
    "Glm4MoeForCausalLM",
    "GptOssForCausalLM",
    "LlamaForCausalLM",
    "Ministral3ForCausalLM",
    "NemotronHForCausalLM",
    "Qwen2ForCausalLM",
    "Qwen3MoeForCausalLM",
    "Qwen3VLMoeForConditionalGeneration",
)


@pytest.fixture(scope="module")
def report(torch_python: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "automodel_lint", "probe", "--installed", "nemo_automodel"]
    command += ["--python", torch_python, "--output-format", "json", "--timeout", "300"]
    command += [word for name in CHOSEN for word in ("--arch", name)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 1, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def rows(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["class"].rpartition(":")[2]: row for row in report["probe"]}


def test_every_class_was_probed(rows: dict[str, Any]) -> None:
    assert set(rows) == set(CHOSEN)


@pytest.mark.parametrize("name", CHOSEN)
def test_it_is_constructed_and_runs(name: str, rows: dict[str, Any]) -> None:
    checks = rows[name]["checks"]
    assert {code: checks[code]["status"] for code in ALWAYS} == dict.fromkeys(ALWAYS, "passed"), checks


@pytest.mark.parametrize("name", CHOSEN)
def test_its_findings_are_the_adjudicated_ones(name: str, report: dict[str, Any]) -> None:
    """All of them, and no other. Lines that ask for a GPU (NAM917) are one story for all classes, told below."""
    found = [f for f in report["findings"] if name in f["architectures"] and f["code"] != "NAM917"]
    expected = DEFECTS.get(name, {})
    assert {f["code"] for f in found} == set(expected), [f["message"] for f in found]
    for code, word in expected.items():
        assert any(word in f["message"] for f in found if f["code"] == code), [f["message"] for f in found]


def test_findings_point_into_the_model_packages(report: dict[str, Any]) -> None:
    for finding in report["findings"]:
        assert re.search(r"nemo_automodel/components/models/\w+/\w+\.py$", finding["path"]), finding


def test_the_lines_that_ask_for_a_gpu(report: dict[str, Any], rows: dict[str, Any]) -> None:
    lines = {f["path"].rpartition("models/")[2] for f in report["findings"] if f["code"] == "NAM917"}
    assert {"deepseek_v3/model.py", "glm4_moe/model.py", "gpt_oss/model.py", "qwen3_moe/model.py"} <= lines
    for name in ("BaichuanForCausalLM", "LlamaForCausalLM", "Qwen2ForCausalLM"):  # nothing there asks
        assert rows[name]["checks"]["NAM917"]["status"] == "passed"


@pytest.mark.parametrize("name", AGREE)
def test_its_logits_are_those_of_transformers(name: str, rows: dict[str, Any]) -> None:
    check = rows[name]["checks"]["NAM908"]
    assert check["status"] == "passed"
    difference, scale = map(float, re.search(r"largest difference (\S+) of ([\d.]+)", check["figure"]).groups())
    assert scale > 0.1 and difference <= 1e-5 * scale * 2


def test_what_was_not_probed_says_why(rows: dict[str, Any]) -> None:
    checks = [check for row in rows.values() for check in row["checks"].values()]
    reasons = [check["reason"] for check in checks if check["status"] == "not-probed"]
    assert reasons and all(reasons)
    assert not [reason for reason in reasons if "could not be carried out" in reason]
    assert rows["LlamaForCausalLM"]["checks"]["NAM906"]["reason"] == "it has no state-dict adapter"
    assert "no causal head" in rows["LlamaBidirectionalModel"]["checks"]["NAM903"]["reason"]
