"""The probe on the example checkout: the models that are as they should be pass, the planted faults show when they run.

One planted fault for each check, with its clean twin, is on the rule pages (``test_probe_pages.py``).
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from .conftest import EXAMPLE

CLEAN = (
    "FirForCausalLM",
    "SpruceForCausalLM",
    "CedarForConditionalGeneration",
    "WillowBidirectionalModel",
    "WillowForSequenceClassification",
    "LarchForCausalLM",
    "JuniperForCausalLM",
    "HawthornForCausalLM",
    "HornbeamForCausalLM",
)
# What cannot be looked at in a clean model, and why.
NOT_THERE = (
    "no causal head",
    "it has no state-dict adapter",
    "its adapter does not claim low-memory loading",
    "transformers 5.18.0 has no class of this architecture",
    "it is no language model: it does not give logits over a vocabulary for each token",
)
# What the faults that the example's README lists do when the models run.
FAULTY = {
    "AlderForCausalLM": {"NAM903", "NAM911", "NAM912"},  # no tie, an axis undeclared, the mixin's saving shadowed
    "AspenBidirectionalModel": set(),
    "AspenForReranking": {"NAM901"},  # the registry names a class that is not there
    "AspenForSequenceClassification": {"NAM911"},  # get_capabilities takes no config
    "BirchForCausalLM": {"NAM903", "NAM911", "NAM912"},  # all of it looks at the text config only
    "BlackthornForCausalLM": {"NAM905"},  # dt_bias is not pinned
    "BlackthornForSequenceClassification": set(),
    "ElmForCausalLM": {"NAM903"},  # tie_weights ties whatever the flag says
    "HazelForCausalLM": {"NAM901"},  # no such module
    "HollyForCausalLM": {"NAM905", "NAM912", "NAM916"},  # cast raw, layers in a fixed dtype
    "LindenForCausalLM": {"NAM904", "NAM911", "NAM912"},  # the guard looks at the text config
    "MapleForCausalLM": {"NAM902"},  # registered with another config class
    "PoplarForConditionalGeneration": {"NAM911"},  # declares in two ways
    "SycamoreForCausalLM": {"NAM906", "NAM912"},  # its first adapter does not take back what it renames
    "YewForCausalLM": set(),
}


@pytest.fixture(scope="module")
def report(torch_python: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "automodel_lint", "probe", str(EXAMPLE), "--python", torch_python]
    command += ["--output-format", "json", "--timeout", "300"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 1, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def checks(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["class"].rpartition(":")[2]: row["checks"] for row in report["probe"]}


def test_every_class_is_judged_here(checks: dict[str, Any]) -> None:
    assert set(checks) == {*CLEAN, *FAULTY}


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_model_passes_every_check_that_applies(name: str, checks: dict[str, Any]) -> None:
    for code, check in checks[name].items():
        applies = check["reason"] not in NOT_THERE
        assert check["status"] == ("passed" if applies else "not-probed"), f"{code}: {check}"
    assert sum(check["status"] == "passed" for check in checks[name].values()) >= 13


@pytest.mark.parametrize("name", FAULTY)
def test_a_planted_fault_shows(name: str, checks: dict[str, Any]) -> None:
    assert {code for code, check in checks[name].items() if check["status"] == "finding"} == FAULTY[name]
