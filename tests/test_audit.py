"""``automodel-lint audit``: how the boxes of the example's packages stand, what moves them, and the command itself."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from automodel_lint.commands import command_line
from automodel_lint.onboarding.checklist import checklist
from automodel_lint.pages import pages

from .audit_checkout import (
    BESIDE,
    CEDAR_TESTS,
    FIR_RECIPE,
    FIR_TESTS,
    PAGE,
    SPRUCE_RECIPE,
    SPRUCE_TESTS,
    clean,
    complete,
)
from .clean_example import edited, lay
from .conftest import EXAMPLE, ROOT
from .mutations import REGISTRY, Edit, Fault, model
from .test_mutations import FAULTS

SCHEMA = json.loads((ROOT / "docs" / "audit.schema.json").read_text())
DONE, MISSING, NOT_APPLICABLE, UNDECIDED = "done", "missing", "not applicable", "not decidable here"


@pytest.fixture(autouse=True)
def nothing_installed(sessions_find, tmp_path: Path) -> None:
    sessions_find(tmp_path / "no-libraries")


def run(*arguments: object) -> Any:
    return CliRunner().invoke(command_line, ["audit", *map(str, arguments)])


def audits(name: str, root: Path, *options: str) -> list[dict[str, Any]]:
    done = run(name, root, "--format", "json", *options)
    assert done.exit_code in (0, 1), done.output
    data = json.loads(done.output)
    jsonschema.validate(data, SCHEMA)
    return data["audits"]


def stands(audit: dict[str, Any]) -> dict[str, str]:
    return {box["name"]: box["status"] for box in audit["boxes"]}


def evidence(audit: dict[str, Any], name: str, kind: str) -> list[tuple[str, str, str | None]]:
    """The places that decide a box: the file, the text of the line, the code."""
    (box,) = [box for box in audit["boxes"] if box["name"] == name]
    return [
        (e["path"].rpartition("components/models/")[2], _line(e["path"], e["line"]), e["code"])
        for e in box["evidence"]
        if e["kind"] == kind
    ]


def _line(path: str, line: int) -> str:
    return complete()[path].splitlines()[line - 1].strip()


# -- the checklist itself -------------------------------------------------------------------------------------------


def test_the_boxes_are_well_formed():
    boxes = checklist()
    names = [box.name for box in boxes]
    assert len(set(names)) == len(names)
    orders = [box.order for box in boxes]
    assert len(set(orders)) == len(orders)
    for box in boxes:
        assert not box.text.endswith("."), box.name
        assert box.order // 100 == box.phase, box.name
        assert all(code in pages() for code in box.rules), box.name


def test_the_page_lists_the_boxes():
    page = (ROOT / "docs" / "audit.md").read_text()
    rows = [f"| `{b.name}` | {b.text} | {b.section} | {b.decided_by} |" for b in checklist()]
    assert [line for line in page.splitlines() if line.startswith("| `") and line.count("|") == 5][-len(rows) :] == rows


def test_a_rule_moves_one_box():
    seen = [code for box in checklist() for code in box.rules]
    assert sorted(seen) == sorted(set(seen))


# -- packages of the example, judged by hand -------------------------------------------------------------------------


# Of every class that is not run and of which no config was given.
ALWAYS_OPEN = {"config-read", "components", "loads", "tiny-config", "loss", "parity"}


def expected(done: str = "", missing: str = "", not_applicable: str = "", undecided: str = "") -> dict[str, str]:
    by_status = {
        DONE: ["kind", *done.split()],
        MISSING: missing.split(),
        NOT_APPLICABLE: not_applicable.split(),
        UNDECIDED: [*undecided.split(), *ALWAYS_OPEN],
    }
    return {name: status for status, names in by_status.items() for name in names}


HAND = {
    # its own decoder on shared attention; no adapter, and no transformers to compare its names with
    "FirForCausalLM": expected(
        done="package config-class layers model model-class reexport tie-policy tied-weights tie-tests registered "
        "config-registered capabilities fp32 recipe unit-tests docs",
        not_applicable="rope moe-layer flip-guard moe-mapping moe-peft multimodal-parts checkpoint-cost low-memory "
        "adapter-tests media-tests round-trip",
        undecided="adapter layer-tests",
    ),
    # experts and an adapter that says what it can; head never tied
    "SpruceForCausalLM": expected(
        done="package config-class layers model model-class adapter reexport moe-layer tie-policy tie-tests "
        "moe-mapping low-memory registered config-registered capabilities fp32 recipe unit-tests adapter-tests docs",
        not_applicable="rope tied-weights flip-guard multimodal-parts media-tests",
        undecided="moe-peft checkpoint-cost layer-tests round-trip",
    ),
    # vision tower, projector, its own from_pretrained that refuses a flip; no page, no recipe
    "CedarForConditionalGeneration": expected(
        done="package config-class layers model model-class reexport tie-policy tied-weights flip-guard tie-tests "
        "multimodal-parts registered config-registered capabilities fp32 unit-tests media-tests",
        missing="recipe docs",
        not_applicable="rope moe-layer moe-mapping moe-peft checkpoint-cost low-memory adapter-tests round-trip",
        undecided="adapter layer-tests",
    ),
    # a retrieval encoder made of Fir's layers: no head, so no tie; nothing beside the code
    "WillowBidirectionalModel": expected(
        done="package config-class model model-class reexport registered config-registered capabilities fp32",
        missing="recipe unit-tests docs",
        not_applicable="rope layers moe-layer tie-policy tied-weights flip-guard tie-tests moe-mapping moe-peft "
        "multimodal-parts checkpoint-cost low-memory adapter-tests layer-tests media-tests round-trip",
        undecided="adapter",
    ),
    # faults: mixin last, no policy, no guard, no supports_ep; nothing beside the code
    "AlderForCausalLM": expected(
        done="package config-class model-class reexport registered config-registered fp32",
        missing="model tie-policy capabilities recipe unit-tests docs",
        not_applicable="layers rope moe-layer flip-guard moe-mapping moe-peft multimodal-parts checkpoint-cost "
        "low-memory adapter-tests layer-tests media-tests round-trip",
        undecided="adapter tied-weights tie-tests",
    ),
}


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay(tmp_path_factory.mktemp("repository"), complete())


@pytest.fixture(scope="session")
def of_example(repository: Path) -> Callable[[str], dict[str, Any]]:
    """The audit of a class of the example, asked for once."""

    @cache
    def audit(name: str) -> dict[str, Any]:
        (found,) = audits(name, repository)
        return found

    return audit


@pytest.mark.parametrize("name", HAND)
def test_boxes_of_the_example(name: str, of_example):
    assert stands(of_example(name)) == HAND[name]


def test_what_is_done_points_at_what_does_it(of_example):
    spruce = of_example("SpruceForCausalLM")
    here = "spruce/model.py"
    assert evidence(spruce, "tie-policy", DONE) == [
        (here, "tie_word_embeddings_support: TieSupport = TieSupport.UNTIED_ONLY", None),
        (here, "reject_unsupported_tie_word_embeddings(type(self), config)", None),
    ]
    assert evidence(spruce, "reexport", DONE) == [
        ("spruce/__init__.py", "from acme_automodel.components.models.spruce.model import SpruceForCausalLM", None)
    ]
    assert evidence(spruce, "model-class", DONE) == [(here, "ModelClass = SpruceForCausalLM", None)]
    assert [text for _, text, _ in evidence(spruce, "moe-layer", DONE)] == [
        "self.mlp = MoE(moe_config, backend)",
        "class SpruceForCausalLM(HFCheckpointingMixin, MoEFSDPSyncMixin, nn.Module):",
        "def update_moe_gate_bias(self) -> None:",
    ]
    assert [text for _, text, _ in evidence(spruce, "low-memory", DONE)] == ["_supports_low_memory_dcp_load = False"]
    entry = '("SpruceForCausalLM", ("acme_automodel.components.models.spruce.model", "SpruceForCausalLM")),'
    assert [text for _, text, _ in evidence(spruce, "registered", DONE)] == [entry]
    target = "_target_: acme_automodel.components.models.spruce.model.SpruceForCausalLM"
    assert evidence(spruce, "recipe", DONE) == [(SPRUCE_RECIPE, target, None)]
    assert evidence(spruce, "docs", DONE) == [(PAGE, "| `SpruceForCausalLM` | Spruce |", None)]
    both = "assert adapter.from_hf(adapter.to_hf(model.state_dict())).keys() == model.state_dict().keys()"
    assert set(evidence(spruce, "adapter-tests", DONE)) == {(SPRUCE_TESTS, both, None)}
    tied = "SpruceForCausalLM(tiny_config(tie_word_embeddings=True))"
    assert evidence(spruce, "tie-tests", DONE) == [(SPRUCE_TESTS, tied, None)]


def test_what_is_missing_points_at_the_line_to_change(of_example):
    alder, here = of_example("AlderForCausalLM"), "alder/model.py"
    head = "class AlderForCausalLM(TrainedWeightsOnly, HFCheckpointingMixin, nn.Module):"
    init = "def __init__(self, config: AlderConfig, backend: BackendConfig | None = None):"
    assert evidence(alder, "model", MISSING) == [(here, head, "NAM110")]
    assert evidence(alder, "tie-policy", MISSING) == [(here, head, "NAM201"), (here, init, "NAM203")]
    assert [f["code"] for f in alder["other_findings"]] == ["NAM701", "NAM702"]


def test_a_package_stands_for_all_of_its_classes(repository: Path, of_example):
    found = audits("willow", repository)
    assert [audit["class"] for audit in found] == ["WillowBidirectionalModel", "WillowForSequenceClassification"]
    assert {audit["package"] for audit in found} == {"willow"}
    assert found[0] == of_example("WillowBidirectionalModel")


# -- one contract broken: its box, and no other ----------------------------------------------------------------------


def _one_of_each_box() -> Iterable[tuple[str, Fault]]:
    """For each box, the first fault that a rule of it is about and that brings no other finding."""
    for box in checklist():
        fitting = (f for f in FAULTS if f.code in box.rules and not f.also and _keeps_its_class(f))
        fault = next(fitting, None)
        if fault is not None:
            yield box.name, fault


def _keeps_its_class(fault: Fault) -> bool:
    """Whether a fault is in one package, and there is still a class to audit."""
    return _package_of(fault) is not None and fault.code not in ("NAM002", "NAM101", "NAM102", "NAM107")


def _package_of(fault: Fault) -> str | None:
    found = (re.search(r"components/models/(\w+)/", edit.path) for edit in fault.edits)
    names = {match[1] for match in found if match} - {"common"}
    return names.pop() if len(names) == 1 else None


MOVED = list(_one_of_each_box())


@pytest.mark.parametrize(("name", "fault"), MOVED, ids=[f"{name}-{fault.id}" for name, fault in MOVED])
def test_a_broken_contract_moves_its_box_only(name: str, fault: Fault, tmp_path: Path):
    word = _package_of(fault)
    assert word is not None
    before = [stands(a) for a in audits(word, lay(tmp_path / "before", clean()))]
    after = [stands(a) for a in audits(word, lay(tmp_path / "after", edited(clean(), fault.edits)))]
    changed = {(box, a[box]) for b, a in zip(before, after, strict=True) for box in b if a[box] != b[box]}
    assert {box for box, now in changed if now == MISSING} == {name}
    assert {now for _, now in changed} <= {MISSING, UNDECIDED}  # what builds on the broken one is open


def test_every_box_that_source_decides_has_been_moved():
    judged = {box.name for box in checklist() if any(not code.startswith("NAM9") for code in box.rules)}
    beside = {"recipe", "unit-tests", "adapter-tests", "tie-tests", "docs"}
    assert judged - {name for name, _ in MOVED} == {"registered", *beside}  # which are moved below


# What lies beside the code, and the boxes that miss it.
GONE = {
    FIR_RECIPE: ("fir", {"recipe"}),
    FIR_TESTS: ("fir", {"unit-tests", "tie-tests"}),
    SPRUCE_TESTS: ("spruce", {"unit-tests", "tie-tests", "adapter-tests"}),
    CEDAR_TESTS: ("cedar", {"unit-tests", "tie-tests"}),
}


@pytest.mark.parametrize("path", GONE)
def test_a_file_that_is_gone(path: str, tmp_path: Path):
    name, boxes = GONE[path]
    files = {**clean(), **BESIDE}
    before = stands(audits(name, lay(tmp_path / "before", files))[0])
    after = stands(audits(name, lay(tmp_path / "after", edited(files, (Edit(path, None, None),))))[0])
    missing = {box for box, status in after.items() if status == MISSING and before[box] != MISSING}
    assert missing == boxes


def test_a_row_that_is_gone(tmp_path: Path):
    row = Edit(PAGE, "| `FirForCausalLM` | Fir |\n", "")
    (audit,) = audits("fir", lay(tmp_path, edited({**clean(), **BESIDE}, (row,))))
    assert {box for box, status in stands(audit).items() if status == MISSING} == {"docs"}


def test_a_recipe_with_a_misspelt_target(tmp_path: Path):
    slip = Edit(FIR_RECIPE, "fir.config.FirConfig", "fir.config.FirConfg")
    (audit,) = audits("fir", lay(tmp_path, edited({**clean(), **BESIDE}, (slip,))))
    assert {box for box, status in stands(audit).items() if status == MISSING} == {"recipe"}
    (box,) = [box for box in audit["boxes"] if box["name"] == "recipe"]
    assert (box["evidence"][0]["code"], box["evidence"][0]["line"]) == ("NAM811", 4)


# -- registrations ---------------------------------------------------------------------------------------------------

FIR = '        ("FirForCausalLM", ("acme_automodel.components.models.fir.model", "FirForCausalLM")),\n'


def changed(folder: Path, *edits: Edit) -> Path:
    return lay(folder / "checkout", edited(clean(), edits))


def test_a_package_that_is_not_registered_yet(tmp_path: Path):
    root = changed(tmp_path, Edit(REGISTRY, FIR, ""))
    (audit,) = audits("fir", root)
    assert audit["architectures"] == []
    (was,) = audits("fir", lay(tmp_path / "registered", clean()))
    assert {box for box, now in stands(audit).items() if now != stands(was)[box]} == {"registered"}
    (box,) = [box for box in audit["boxes"] if box["name"] == "registered"]
    assert box["status"] == MISSING
    assert any(
        '"FirForCausalLM": ("acme_automodel.components.models.fir.model", ' in e["text"] for e in box["evidence"]
    )


def test_a_package_without_export_and_entry(tmp_path: Path):
    export = Edit(model("fir"), "\n\nModelClass = FirForCausalLM\n", "\n")
    (audit,) = audits("fir", changed(tmp_path, Edit(REGISTRY, FIR, ""), export))
    missing = {box for box, status in stands(audit).items() if status == MISSING}
    assert missing == {"registered", "model-class"}


def test_an_entry_that_stands_twice(tmp_path: Path):
    (audit,) = audits("fir", changed(tmp_path, Edit(REGISTRY, FIR, FIR + FIR)))
    assert {box for box, status in stands(audit).items() if status == MISSING} == {"registered"}


def test_an_entry_that_leads_nowhere_is_told(tmp_path: Path):
    entry = FIR.replace('("FirForCausalLM"', '("FirReranker"').replace('"FirForCausalLM"', '"FirForReranking"')
    done = run("fir", changed(tmp_path, Edit(REGISTRY, FIR, FIR + entry)))
    assert done.exit_code == 1
    assert "FirReranker: acme_automodel.components.models.fir.model binds no class FirForReranking" in done.output
    assert "0 missing" not in done.output


# -- the config of the checkpoint --------------------------------------------------------------------------------------

CONFIG = """\
{
  "architectures": ["SpruceForCausalLM"],
  "model_type": "spruce",
  "hidden_size": 1024,
  "num_hidden_layers": 12,
  "num_attention_heads": 16,
  "num_key_value_heads": 4,
  "n_routed_experts": 64,
  "num_experts_per_tok": 6,
  "tie_word_embeddings": false
}
"""


def with_config(tmp_path: Path, text: str, name: str = "spruce") -> dict[str, Any]:
    file = tmp_path / "config.json"
    file.write_text(text)
    (audit,) = audits(name, lay(tmp_path / "repository", complete()), "--config", str(file))
    return audit


def said(audit: dict[str, Any], name: str) -> list[tuple[str, int]]:
    (box,) = [box for box in audit["boxes"] if box["name"] == name]
    return [(e["text"], e["line"]) for e in box["evidence"] if e["kind"] != "note"]


def test_a_config_decides_the_first_phase(tmp_path: Path):
    audit = with_config(tmp_path, CONFIG)
    assert {box for box, now in stands(audit).items() if now != HAND["SpruceForCausalLM"][box]} == {
        "config-read",
        "components",
    }
    assert said(audit, "config-read") == [("of `SpruceForCausalLM`, `model_type` spruce", 2)]
    assert [line for text, line in said(audit, "kind") if text.startswith("moe: ")] == [8]
    assert ("attention: GQA (16 heads, 4 for keys and values)", 6) in said(audit, "components")


def test_a_config_that_the_policy_refuses(tmp_path: Path):
    audit = with_config(tmp_path, CONFIG.replace("false", "true"))
    assert stands(audit)["tie-policy"] == MISSING
    assert evidence(audit, "tie-policy", MISSING) == [
        ("spruce/model.py", "tie_word_embeddings_support: TieSupport = TieSupport.UNTIED_ONLY", None)
    ]


def test_a_config_of_another_model(tmp_path: Path):
    file = tmp_path / "config.json"
    file.write_text(CONFIG)
    done = run("fir", EXAMPLE, "--config", tmp_path)
    assert done.exit_code == 2
    assert f"{file}: it is of SpruceForCausalLM, not of FirForCausalLM" in done.output


def test_a_config_that_cannot_be_read(tmp_path: Path):
    file = tmp_path / "config.json"
    file.write_text("{")
    done = run("fir", EXAMPLE, "--config", file)
    assert done.exit_code == 2 and f"{file}:1:2: not valid JSON" in done.output


# -- what is silenced ------------------------------------------------------------------------------------------------

LATE = Edit(
    model("fir"),
    "        reject_unsupported_tie_word_embeddings(type(self), config)\n        super().__init__()\n",
    "        super().__init__()\n        reject_unsupported_tie_word_embeddings(type(self), config){comment}\n",
)


def late(comment: str = "") -> Edit:
    """The guard as second statement: NAM205."""
    return Edit(LATE.path, LATE.old, (LATE.new or "").format(comment=comment))


def silenced(audit: dict[str, Any], name: str) -> list[str]:
    (box,) = [box for box in audit["boxes"] if box["name"] == name]
    return [e["text"].rpartition(" (")[2].rstrip(")") for e in box["evidence"] if e["kind"] == "silenced"]


@pytest.mark.parametrize(
    ("comment", "reason"),
    [
        ("  # noqa: NAM205 the base does nothing", "a comment silences it: the base does nothing"),
        ("  # noqa: NAM205", "a comment silences it: no reason given"),
        ("  # automodel-lint: ignore[NAM205] harmless", "a comment silences it: harmless"),
    ],
)
def test_a_comment_is_respected_and_shown(comment: str, reason: str, tmp_path: Path):
    (audit,) = audits("fir", changed(tmp_path, late(comment)))
    assert stands(audit)["tie-policy"] == DONE
    assert silenced(audit, "tie-policy") == [reason]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ('ignore = ["NAM205"]', "the settings leave out NAM205"),
        ('exempt = { NAM205 = { FirForCausalLM = "no base" } }', "exempt: no base"),
        ('severity = { NAM205 = "info" }', None),
    ],
)
def test_settings_are_respected_and_shown(settings: str, reason: str | None, tmp_path: Path):
    root = changed(tmp_path, late())
    text = (root / "pyproject.toml").read_text()
    (root / "pyproject.toml").write_text(
        text.replace("[tool.automodel-lint]\n", f"[tool.automodel-lint]\n{settings}\n")
    )
    (audit,) = audits("fir", root)
    assert stands(audit)["tie-policy"] == DONE
    assert silenced(audit, "tie-policy") == ([reason] if reason else [])


def test_what_the_baseline_knows_is_shown(tmp_path: Path):
    root = changed(tmp_path, late())
    path = root / "pyproject.toml"
    path.write_text(
        path.read_text().replace("[tool.automodel-lint]\n", '[tool.automodel-lint]\nbaseline = "known.json"\n')
    )
    assert CliRunner().invoke(command_line, ["baseline", str(root)]).exit_code == 0
    (audit,) = audits("fir", root)
    assert silenced(audit, "tie-policy") == ["known to the baseline"]


# -- the probe --------------------------------------------------------------------------------------------------------


def test_the_probe_decides_what_only_running_shows(repository: Path, torch_python: str):
    (audit,) = audits("spruce", repository, "--probe", "--python", torch_python)
    ran = {box: now for box, now in stands(audit).items() if now != HAND["SpruceForCausalLM"][box]}
    assert ran == dict.fromkeys(["loads", "tiny-config", "loss", "round-trip"], DONE)
    reasons = {box["name"]: box["reason"] for box in audit["boxes"]}
    assert reasons["parity"].startswith("NAM908 could not look: transformers")
    (loss,) = [box["evidence"] for box in audit["boxes"] if box["name"] == "loss"]
    assert re.fullmatch(r"run: loss 4\.\d+ before, [0-3]\.\d+ after \d+ steps .*", loss[0]["text"])
    assert audit["probe"]["class"].endswith(":SpruceForCausalLM")


def test_the_probe_runs_what_is_registered_only(tmp_path: Path):
    done = run("fir", changed(tmp_path, Edit(REGISTRY, FIR, "")), "--probe")
    assert done.exit_code == 2 and "--probe: only what is registered can be run" in done.output


# -- the command -----------------------------------------------------------------------------------------------------


def test_exit_codes():
    assert run("fir", EXAMPLE).exit_code == 0
    assert run("alder", EXAMPLE).exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("furr", EXAMPLE), "no model package, architecture or class 'furr'; did you mean 'fir'"),
        (
            ("FirForCausalM", EXAMPLE),
            "no model package, architecture or class 'FirForCausalM'; did you mean 'FirForCausalLM'",
        ),
        (("hazel", EXAMPLE), "no model package, architecture or class 'hazel'; did you mean 'HazelForCausalLM'?"),
        (("HazelForCausalLM", EXAMPLE), "module acme_automodel.components.models.hazel.model has no file"),
        (("fir", EXAMPLE / "nowhere"), "no such file or folder"),
        (("fir", EXAMPLE, "--installed", "acme_automodel"), "give either a path or --installed"),
        (("fir", EXAMPLE, "--format", "xml"), "Invalid value"),
        (("fir", EXAMPLE, "--output-file", EXAMPLE / "no" / "file"), "cannot be written"),
        ((), "Missing argument 'NAME'"),
    ],
)
def test_wrong_use(arguments: tuple, message: str):
    done = run(*arguments)
    assert message in done.output.replace("\n", " ") or message in str(done.exception), done.output
    assert done.exit_code == 2 and not isinstance(done.exception, AssertionError)


def test_a_package_whose_model_cannot_be_read(tmp_path: Path):
    root = changed(tmp_path, Edit(model("fir"), "class FirModel(nn.Module):", "class FirModel(nn.Module)"))
    done = run("fir", root)
    assert done.exit_code == 2
    assert "components/models/fir/model.py:51: not valid Python" in done.output


def test_the_text_for_a_terminal(repository: Path):
    text = run("alder", repository).output
    assert "\x1b" not in text
    assert text.splitlines()[0] == "AlderForCausalLM"
    assert re.search(r"✗ The tie policy .*\n +\S*alder/model.py:29  NAM201 ", text)
    assert "Findings of `check` that no box is about" in text
    assert text.splitlines()[-1].startswith("36 boxes: 8 done, 6 missing, 13 not applicable, 9 not decidable here")


def test_the_checklist_for_a_pull_request(tmp_path: Path, repository: Path):
    file = tmp_path / "checklist.md"
    done = run("alder", repository, "--output-format", "markdown", "--output-file", file)
    assert (done.exit_code, done.output) == (1, "")
    lines = file.read_text().splitlines()
    assert lines[0] == "## Onboarding checklist: `AlderForCausalLM`"
    ticked = [line for line in lines if line.startswith("- [x] ")]
    open_ones = [line for line in lines if line.startswith("- [ ] ")]
    assert (len(ticked), len(open_ones)) == (8, 6 + 9)
    assert any(line.startswith("  - **missing**: ") and line.endswith("model.py:29`, NAM110)") for line in lines)
    assert sum(line.startswith("- ~~") for line in lines) == 13


def test_a_warm_run_says_the_same(tmp_path: Path, of_example):
    root = lay(tmp_path, complete())
    assert CliRunner().invoke(command_line, ["check", str(root)]).exit_code == 1
    assert (root / ".automodel_lint_cache").is_dir()
    assert audits("AlderForCausalLM", root) == [of_example("AlderForCausalLM")]
