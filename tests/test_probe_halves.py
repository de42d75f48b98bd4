"""What the first half of the probe makes of what the other one says; no torch is needed for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from automodel_lint.probe import static_capabilities, static_tree
from automodel_lint.probe.findings import findings_of
from automodel_lint.probe.protocol import FINDING, PASSED, CheckResult, ClassResult, Fault, Job, Target
from automodel_lint.probe.targets import Probed, probed_classes
from automodel_lint.probe.worker import errors
from automodel_lint.report import Report
from automodel_lint.reporters import probe_table
from automodel_lint.request import Request, UsageError
from automodel_lint.session import Session
from automodel_lint.source import SourceTree

FIR = "acme_automodel/components/models/fir/model.py"
FIR_NAMES = {
    "model.embed_tokens.weight",
    "model.norm.weight",
    "lm_head.weight",
    *(f"model.layers.{i}.{name}_layernorm.weight" for i in (0, 1) for name in ("input", "post_attention")),
    *(f"model.layers.{i}.self_attn.{x}_proj.weight" for i in (0, 1) for x in "qkvo"),
    *(f"model.layers.{i}.mlp.{x}_proj.weight" for i in (0, 1) for x in ("gate", "up", "down")),
}


@pytest.fixture
def fir(example: Path) -> Probed:
    project = Session(Request(paths=[str(example)], cache=False)).project()
    (probed,) = probed_classes(project, ["FirForCausalLM"], None)
    return probed


def model(names: set[str]) -> dict[str, Any]:
    """What the worker tells of a constructed model."""
    buffers = {"model.rotary_emb.inv_freq": {"shape": [6], "dtype": "float32", "persistent": False}}
    return {
        "parameters": {name: {"shape": [1], "dtype": "float32"} for name in names},
        "buffers": buffers,
        "aliases": [],
    }


def judged(probed: Probed, names: set[str]) -> CheckResult:
    result = ClassResult(
        probed.target, facts={"names": [model(names)]}, checks={"NAM920": CheckResult("NAM920", PASSED)}
    )
    static_tree.judge(probed, result)
    return result.checks["NAM920"]


def test_a_tree_that_has_all_names(fir: Probed) -> None:
    check = judged(fir, FIR_NAMES)
    assert check.status == PASSED and not check.faults
    assert check.figure == f"{len(FIR_NAMES) + 1} names in 1 variant"


def test_a_tree_that_lacks_a_name(fir: Probed) -> None:
    check = judged(fir, FIR_NAMES | {"model.layers.0.mlp.gate.weight", "model.layers.1.mlp.gate.weight"})
    assert check.status == FINDING
    assert [f.fields for f in check.faults] == [{"what": "lacks", "names": "model.layers.*.mlp.gate.weight (2x)"}]


def test_a_tree_that_invents_a_name(fir: Probed) -> None:
    check = judged(fir, FIR_NAMES - {"model.norm.weight"})
    assert [f.fields for f in check.faults] == [{"what": "invents", "names": "model.norm.weight"}]


def test_capabilities_that_the_source_does_not_declare(fir: Probed) -> None:
    assert fir.model is not None
    declared = static_capabilities.literal_flags(fir.model)
    assert {"supports_tp", "supports_cp", "supports_pp", "supports_ep"} <= set(declared)
    for answer, status in ((declared, PASSED), ({**declared, "supports_tp": not declared["supports_tp"]}, FINDING)):
        result = ClassResult(
            fir.target, facts={"capabilities": answer}, checks={"NAM911": CheckResult("NAM911", PASSED)}
        )
        static_capabilities.judge(fir, result)
        assert result.checks["NAM911"].status == status


@pytest.mark.parametrize(
    ("at", "text"),
    [
        ({}, "class FirForCausalLM("),
        ({"tensor": "lm_head.weight"}, "self.lm_head = "),
        ({"tensor": "model.layers.1.mlp.up_proj.weight"}, "self.mlp = "),  # its own line, not that of the shared class
        ({"module": "model.norm"}, "self.norm = "),
        ({"module": "model.norm.nowhere"}, "self.norm = "),
        ({"method": "tie_weights"}, "def tie_weights("),
        ({"pattern": "rotary_emb.inv_freq"}, "rotary_emb.inv_freq"),
        ({"tensor": "no.such.tensor"}, "class FirForCausalLM("),
        ({"file": "/usr/lib/python3/elsewhere.py", "line": 3}, "class FirForCausalLM("),
    ],
    ids=str,
)
def test_a_fault_points_at_the_line_to_change(fir: Probed, example: Path, at: dict[str, Any], text: str) -> None:
    fault = Fault({"error": "x"}, at)
    result = ClassResult(fir.target, checks={"NAM902": CheckResult("NAM902", FINDING, faults=[fault])})
    (finding,) = findings_of(fir, result)
    line = (example / finding.path).read_text(encoding="utf-8").splitlines()[finding.span.line - 1]
    assert text in line, f"{finding.path}:{finding.span.line}: {line}"
    assert finding.architectures == ("FirForCausalLM",)


def test_a_line_of_the_package_is_pointed_at(fir: Probed, example: Path) -> None:
    path = example / FIR
    number = next(
        i for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if "self.lm_head =" in line
    )
    fault = Fault({"error": "x"}, {"file": str(path), "line": number})
    result = ClassResult(fir.target, checks={"NAM907": CheckResult("NAM907", FINDING, faults=[fault])})
    (finding,) = findings_of(fir, result)
    assert (finding.path, finding.span.line) == (FIR, number)
    assert finding.span.column == 9


def test_a_name_that_is_not_registered(example: Path) -> None:
    project = Session(Request(paths=[str(example)], cache=False)).project()
    with pytest.raises(UsageError, match="did you mean 'FirForCausalLM'"):
        probed_classes(project, ["FirForCasualLM"], None)
    with pytest.raises(UsageError, match="nothing to probe"):
        probed_classes(project, (), [str(example / "acme_automodel" / "shared")])


def test_a_job_survives_its_journey() -> None:
    job = Job(
        "p", "f", (Target("m", "C", ("A", "B"), ("retrieval",)),), ("NAM901",), path=("/x",), tiny={"A": {"set": {}}}
    )
    assert Job.from_json(job.to_json()) == job


class Collected(BaseException):
    """As torch has one for what several ranks raised."""

    def __init__(self, failures: dict[int, tuple[BaseException, None]]):
        super().__init__("ranks:dict_keys([0]) and a page of text")
        self.failures = failures


def test_what_a_rank_raised_is_told_and_not_the_collection() -> None:
    assert str(errors.inner(Collected({0: (TypeError("no such key"), None)}))) == "no such key"
    plain = ValueError("plain")
    assert errors.inner(plain) is plain
    assert errors.one_line(plain, "acme") == "ValueError: plain"


# -- the table ------------------------------------------------------------------------------------------------------


def row(name: str, **checks: tuple[str, str | None]) -> dict[str, Any]:
    told = {code: {"status": status, "reason": reason, "figure": None} for code, (status, reason) in checks.items()}
    return {"class": f"some.module:{name}", "architectures": [name], "config": {}, "seconds": 1.0, "checks": told}


@pytest.fixture
def table(example: Path) -> str:
    session = Session(Request(paths=[str(example)], cache=False))
    report = Report(str(example), [], 3, ["a.py"], 2.0, session.config, SourceTree(str(example)))
    dead = ("not-probed", "it cannot be imported: NAM901")
    report.probe = [
        row(
            "Good", NAM901=("passed", None), NAM902=("passed", None), NAM903=("passed", None), NAM904=("finding", None)
        ),
        row("Dead", NAM901=("finding", None), NAM902=dead, NAM903=dead, NAM904=dead),
        row("Encoder", NAM901=("passed", None), NAM902=("passed", None), NAM903=("not-probed", "no head"), NAM904=dead),
    ]
    return click.unstyle(probe_table.render(report))


def test_the_table_has_a_line_for_each_class(table: str) -> None:
    lines = [line.split() for line in table.splitlines()]
    assert ["Good", "✓", "✓", "✓", "✗", "1.0", "s"] in lines
    assert ["Dead", "✗", "–", "–", "–", "1.0", "s"] in lines
    assert ["Encoder", "✓", "✓", "–", "–", "1.0", "s"] in lines


def test_reasons_are_said_once(table: str) -> None:
    reasons = table.partition("Not probed:\n")[2].partition("\n\n")[0].splitlines()
    assert reasons == [
        "  NAM902 to NAM904 it cannot be imported: NAM901: Dead",
        "  NAM903 no head: Encoder",
        "  NAM904 it cannot be imported: NAM901: Encoder",
    ]
