"""The published package: no crash, and exactly the findings that were looked at one by one."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from automodel_lint.findings import Finding
from automodel_lint.session import Request, Session

from . import real_package

# Each was opened in its file and judged by contracts.md; none is a false alarm.
ADJUDICATED = {
    "NAM104": 1,
    "NAM105": 4,
    "NAM106": 37,
    "NAM108": 2,
    "NAM110": 2,
    "NAM113": 3,
    "NAM203": 1,
    "NAM204": 4,
    "NAM205": 35,
    "NAM206": 3,
    "NAM208": 3,
    "NAM211": 4,
    "NAM212": 1,
    "NAM215": 1,
    "NAM216": 1,
    "NAM401": 4,
    "NAM405": 3,
    "NAM406": 1,
    "NAM410": 1,
    "NAM413": 40,
    "NAM501": 1,
    "NAM502": 1,
    "NAM503": 8,
    "NAM507": 4,
    "NAM602": 6,
    "NAM604": 6,
    "NAM605": 9,
    "NAM701": 2,
    "NAM702": 3,
    "NAM703": 2,
    "NAM705": 2,
    "NAM707": 8,
    "NAM714": 1,
}
# What the sources of transformers add: what a class inherits from there is in its module tree.
WITH_LIBRARY = {
    ("NAM113", "Mistral3BidirectionalModel._dummy_vision_sum"),
    ("NAM113", "Qwen2ForCausalLM.__init__"),
    ("NAM113", "Qwen3MoeModel.__init__"),
    ("NAM113", "Qwen3OmniMoeThinkerTextModel.__init__"),
    ("NAM113", "Qwen3VLMoeTextModelBackend.__init__"),
    ("NAM402", "KimiK25VLForConditionalGeneration"),
    ("NAM405", "Mistral3ForConditionalGeneration"),
    ("NAM405", "NemotronOmniForConditionalGeneration"),
    ("NAM405", "Qwen3OmniMoeThinkerForConditionalGeneration"),
    ("NAM406", "Qwen3_5ForCausalLM"),
    ("NAM406", "Qwen3_5ForConditionalGeneration"),
    ("NAM406", "Qwen3_5MoeForCausalLM"),
    ("NAM701", "Gemma4DrafterForCausalLM"),
}
ERRORS = {
    ("NAM108", "LlamaBidirectionalConfig"),
    ("NAM108", "NemotronParseConfig"),
    ("NAM110", "Mistral3FP8VLMForConditionalGeneration"),
    ("NAM110", "Qwen3RerankerForCausalReranking"),
    ("NAM203", "Qwen3ForCausalLM.__init__"),
    ("NAM204", "KimiK3ForCausalLM.__init__"),
    ("NAM204", "Qwen3OmniMoeThinkerForConditionalGeneration.__init__"),
    ("NAM204", "Qwen3VLMoeForConditionalGeneration.__init__"),
    ("NAM204", "Qwen3_5MoeForConditionalGeneration.__init__"),
    ("NAM206", "KimiK3ForCausalLM.__init__"),
    ("NAM206", "KimiK3ForConditionalGeneration.__init__"),
    ("NAM206", "Mistral3ForConditionalGeneration.__init__"),
    ("NAM211", "BagelForUnifiedMultimodal.from_pretrained"),
    ("NAM211", "InklingForConditionalGeneration.from_pretrained"),
    ("NAM211", "KimiK25VLForConditionalGeneration.from_pretrained"),
    ("NAM211", "LagunaForCausalLM.from_pretrained"),
    ("NAM215", "KimiK3Config.__init__"),
    ("NAM401", "KimiK25VLForConditionalGeneration"),
    ("NAM401", "KimiVLForConditionalGeneration"),
    ("NAM401", "Step3p5ForCausalLM"),
    ("NAM401", "Step3p7ForConditionalGeneration"),
    ("NAM405", "MiMoV2FlashForCausalLM"),
    ("NAM405", "MiMoV2ForCausalLM"),
    ("NAM405", "Step3p7ForConditionalGeneration"),
    ("NAM501", "KimiVLStateDictAdapter"),
    ("NAM503", "KimiVLStateDictAdapter.to_hf"),
    ("NAM503", "MiniMaxM3VLStateDictAdapter.convert_single_tensor_to_hf"),
    ("NAM503", "Mistral4StateDictAdapter.convert_single_tensor_to_hf"),
    ("NAM503", "InklingStateDictAdapter"),
    ("NAM503", "DeepseekV41StateDictAdapter"),
    ("NAM507", "KimiK3StateDictAdapter._split_experts_weights"),
    ("NAM507", "KimiLinear48BStateDictAdapter._split_experts_weights"),
    ("NAM602", "Glm4MoeForCausalLM"),
    ("NAM602", "Glm4MoeLiteForCausalLM"),
    ("NAM602", "KimiK25VLForConditionalGeneration"),
    ("NAM602", "KimiVLForConditionalGeneration"),
    ("NAM602", "MiniMaxM2ForCausalLM"),
    ("NAM602", "MiniMaxM3SparseForConditionalGeneration"),
    ("NAM701", "DiffusionGemmaForBlockDiffusion.forward"),
    ("NAM701", "Mistral3ForConditionalGeneration.forward"),
    ("NAM703", "DeepseekV4ForCausalLM"),
    ("NAM703", "Mistral3ForConditionalGeneration"),
    ("NAM714", "MiMoV2Model.init_weights"),
}
# The classes that the framework's own registry test exempts, as owners of no causal head.
RETRIEVAL = (
    "LlamaBidirectionalModel",
    "LlamaBidirectionalForSequenceClassification",
    "LlamaNemotronVLModel",
    "Ministral3BidirectionalModel",
    "Mistral3BidirectionalModel",
    "Mistral3VLBidirectionalForSequenceClassification",
)


def _lint(root: Path, **request) -> list[Finding]:
    return Session(Request(paths=[str(root)], cache=False, **request)).run().findings


@pytest.fixture(scope="module")
def findings() -> list[Finding]:
    return _lint(real_package.unpacked("0.7.0"))


def test_the_findings_are_the_adjudicated_ones(findings: list[Finding]):
    assert Counter(f.code for f in findings) == ADJUDICATED
    assert {(f.code, f.symbol) for f in findings if str(f.severity) == "error"} == ERRORS


def test_retrieval_encoders_have_no_tie_finding(findings: list[Finding]):
    about_ties = [f for f in findings if f.code.startswith("NAM2") or f.code == "NAM110"]
    assert about_ties
    assert not [f for f in about_ties if set(RETRIEVAL) & {(f.symbol or "").partition(".")[0], *f.architectures}]


def test_transformers_sources_only_add(findings: list[Finding], tmp_path: Path):
    """Without the library nothing is said that it refutes; with it, what a class inherits from there is judged, too."""
    library = real_package.unpacked("5.18.0", "transformers")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={library} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    followed = _lint(real_package.unpacked("0.7.0"), python=str(python))
    alone = {(f.code, f.path, f.span) for f in findings}
    assert alone <= {(f.code, f.path, f.span) for f in followed}
    assert {(f.code, f.symbol) for f in followed if (f.code, f.path, f.span) not in alone} == WITH_LIBRARY


def test_installed_is_the_same(findings: list[Finding], tmp_path: Path, cli):
    environment = tmp_path / "site"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--ignore-requires-python",
    ]
    subprocess.run([*pip, "--target", str(environment), "nemo-automodel==0.7.0"], check=True, timeout=300)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={environment} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    done = cli("check", "--installed", "nemo_automodel", "--python", python, "--output-format", "concise", cwd=tmp_path)
    assert done.returncode == 1
    expected = [f"{f.path}:{f.span.line}:{f.span.column}: {f.code} {f.message}" for f in findings]
    assert done.stdout.splitlines() == expected


@pytest.mark.parametrize(
    ("version", "classes", "expected"),
    [
        (
            "0.4.0",
            26,
            "NAM106 21, NAM108 2, NAM209 4, NAM214 1, NAM401 7, NAM404 9, NAM405 4, NAM409 1, NAM413 106, NAM501 3, "
            "NAM502 2, NAM503 7, NAM504 2, NAM507 2, NAM602 5, NAM604 19, NAM605 7, NAM701 19",
        ),
        (
            "0.5.0",
            42,
            "NAM105 3, NAM106 26, NAM108 3, NAM110 1, NAM113 3, NAM209 3, NAM214 1, NAM216 1, NAM401 13, NAM404 3, "
            "NAM405 2, NAM409 2, NAM413 34, NAM501 3, NAM502 2, NAM503 9, NAM507 1, NAM510 1, NAM602 6, NAM604 2, "
            "NAM605 10, NAM701 1, NAM702 1, NAM703 1, NAM707 4",
        ),
        (
            "0.6.0",
            52,
            "NAM105 3, NAM106 32, NAM108 3, NAM110 1, NAM113 3, NAM203 1, NAM204 4, NAM205 29, NAM206 3, NAM208 2, "
            "NAM211 4, NAM212 1, NAM215 1, NAM216 1, NAM401 6, NAM404 1, NAM405 2, NAM406 1, NAM409 2, NAM413 40, "
            "NAM501 4, NAM502 2, NAM503 8, NAM507 3, NAM602 6, NAM604 5, NAM605 9, NAM701 3, NAM702 2, NAM703 1, "
            "NAM705 1, NAM707 7",
        ),
    ],
)
def test_older_releases(version: str, classes: int, expected: str):
    """What a release does not know yet is not asked of it: 0.4.0 has neither tie policies nor capabilities."""
    report = Session(Request(paths=[str(real_package.unpacked(version))], cache=False)).run()
    counted = Counter(f.code for f in report.findings)
    assert ", ".join(f"{code} {count}" for code, count in sorted(counted.items())) == expected
    assert report.classes == classes
