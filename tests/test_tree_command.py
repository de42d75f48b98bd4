"""``automodel-lint tree``: the marks, and the command as a person uses it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from automodel_lint.commands import command_line
from automodel_lint.commands.tree import find
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.tree_marks import Marks, marks_of
from automodel_lint.inference.module_tree import ModuleTree
from automodel_lint.session import Request, Session

from .conftest import ROOT
from .tree_by_hand import MODEL, TIES, oak

SCHEMA = json.loads((ROOT / "docs" / "tree.schema.json").read_text())

# -- marks ----------------------------------------------------------------------------------------------------------


def _marks(example: Path, monkeypatch, *changes: tuple[str, str]) -> Marks:
    """The marks that Elm's class, changed, puts on the tree made by hand."""
    monkeypatch.setattr(ModelClass, "module_tree", property(lambda model: oak()), raising=False)
    path = example / "acme_automodel/components/models/elm/model.py"
    content = path.read_text()
    for old, new in changes:
        assert old in content
        content = content.replace(old, new)
    path.write_text(content)
    return marks_of(find(Session(Request(paths=[str(example)])).project(), "ElmForCausalLM")[1], oak())


KEYS = '_tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}'
POLICY = "TieSupport.BOTH"
STRICT = '_keep_in_fp32_modules_strict = ["rotary_emb.inv_freq"]'


def test_marks_of_a_class(example: Path, monkeypatch):
    assert _marks(example, monkeypatch) == Marks({"model.rotary_emb.inv_freq": "strict"}, TIES, "config")


def test_pins_come_from_both_lists(example: Path, monkeypatch):
    lists = (
        '_keep_in_fp32_modules_strict = ["gate.e_score"]; _keep_in_fp32_modules = ["mlp.gate", "layers.0.norm", "x"]'
    )
    found = _marks(example, monkeypatch, (STRICT, lists))
    assert found.pins == {
        "model.layers.*.mlp.gate.e_score_correction_bias": "strict",
        "model.layers.*.mlp.gate.weight": "plain",
        "model.layers.*.norm.weight": "plain",
    }


@pytest.mark.parametrize(
    ("keys", "ties"),
    [
        ('{"lm_head.weight": "x.weight", "no.such": "y"}', {"lm_head.weight": "x.weight"}),
        ('{"lm_head": "model.x"}', {"lm_head.weight": "model.x.weight"}),
        ('{"lm": "model.x"}', {}),
        ('{"model.layers.*.norm.weight": "x.weight"}', {"model.layers.*.norm.weight": "x.weight"}),
        ('{"model.layers.3.norm.weight": "x.weight"}', {"model.layers.*.norm.weight": "x.weight"}),
        ('["lm_head.weight"]', TIES),
        ("None", {}),
        ("compute()", {}),
    ],
)
def test_keys_in_every_form(example: Path, monkeypatch, keys: str, ties: dict[str, str]):
    assert _marks(example, monkeypatch, (KEYS, f"_tied_weights_keys = {keys}")).ties == ties


def test_the_frameworks_own_keys_count_where_there_are_no_others(example: Path, monkeypatch):
    found = _marks(example, monkeypatch, (KEYS, '_nemo_tied_weights_keys = {"lm_head.weight": "x.weight"}'))
    assert found.ties == {"lm_head.weight": "x.weight"}


def test_the_policy_decides_whether_anything_is_tied(example: Path, monkeypatch):
    assert _marks(example, monkeypatch, (POLICY, "TieSupport.TIED_ONLY")).when == "always"
    assert _marks(example, monkeypatch, ("TieSupport.TIED_ONLY", "TieSupport.UNTIED_ONLY")).ties == {}


# -- the command ----------------------------------------------------------------------------------------------------


@pytest.fixture
def run(example: Path, monkeypatch):
    """Runs the command in this process over the example, every class with the tree made by hand."""
    monkeypatch.setattr(ModelClass, "module_tree", property(lambda model: oak()), raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.chdir(example)
    return lambda *arguments: CliRunner().invoke(command_line, ["tree", *map(str, arguments)])


FIR = """\
lm_head.weight
model.embed_tokens.weight
model.layers.*.input_layernorm.weight
model.layers.*.mlp.down_proj.weight
model.layers.*.mlp.gate_proj.weight
model.layers.*.mlp.up_proj.weight
model.layers.*.post_attention_layernorm.weight
model.layers.*.self_attn.k_proj.bias
model.layers.*.self_attn.k_proj.weight
model.layers.*.self_attn.o_proj.weight
model.layers.*.self_attn.q_proj.bias
model.layers.*.self_attn.q_proj.weight
model.layers.*.self_attn.v_proj.bias
model.layers.*.self_attn.v_proj.weight
model.norm.weight
model.rotary_emb.inv_freq
"""


def test_the_names_of_a_whole_model(example: Path, cli):
    data = json.loads(cli("tree", "FirForCausalLM", "--format", "json", cwd=example).stdout)
    jsonschema.validate(data, SCHEMA)
    assert data["complete"]
    assert "".join(f"{name}\n" for name in sorted(entry["name"] for entry in data["tensors"])) == FIR
    marked = {e["name"]: (e["pinned"], e["tied_to"]) for e in data["tensors"] if e["pinned"] or e["tied_to"]}
    assert marked == {
        "lm_head.weight": (False, "model.embed_tokens.weight"),
        "model.rotary_emb.inv_freq": (True, None),
    }


@pytest.mark.parametrize("output_format", ["text", "json", "dot", "html"])
def test_every_model_of_the_example(example: Path, output_format: str):
    architectures = [e.key for e in Session(Request(paths=[str(example)])).project().architectures]
    for architecture in sorted({*architectures} - {"HazelForCausalLM", "AspenReranker"}):
        done = CliRunner().invoke(
            command_line, ["tree", architecture, str(example), "--format", output_format, "--params"]
        )
        assert (done.exit_code, done.exception) == (0, None), architecture
        assert architecture in done.output


def test_every_format(run, tmp_path: Path):
    assert run("ElmForCausalLM").output.splitlines()[0] == f"ElmForCausalLM  {MODEL.replace('oak', 'elm')}:42"
    data = json.loads(run("ElmForCausalLM", "--format", "json").output)
    jsonschema.validate(data, SCHEMA)
    assert (data["architecture"], data["line"]) == ("ElmForCausalLM", 42)
    assert run("ElmForCausalLM", "--format", "dot").output.startswith("digraph")
    for output_format in ("text", "json", "dot", "html"):
        target = tmp_path / f"tree.{output_format}"
        options = ("--format", output_format, "--output-file", target, "--params", "--depth", "2")
        done = run("ElmForCausalLM", *options)
        assert (done.exit_code, done.output) == (0, "")
        assert target.read_text(encoding="utf-8")
        assert "\x1b" not in target.read_text(encoding="utf-8")


def test_the_columns_of_the_terminal_count(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    found = run("ElmForCausalLM", "--params").output
    assert max(map(len, found.splitlines())) <= 80


def test_an_architecture_or_a_class(run, example: Path):
    registry = example / "acme_automodel/_transformers/registry.py"
    registry.write_text(registry.read_text().replace('("FirForCausalLM", (', '("FirLM", ('))
    by_class = json.loads(run("FirForCausalLM", "--format", "json").output)
    by_name = json.loads(run("FirLM", example, "--format", "json").output)
    assert by_class == by_name
    assert (by_name["architecture"], by_name["class"]) == ("FirLM", "FirForCausalLM")
    assert run("FirForCausalLM", example / MODEL.replace("oak", "fir")).exit_code == 0, "any file of the checkout"


def test_of_an_installed_package(run, example: Path, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(example))
    assert run("FirForCausalLM", "--installed", "acme_automodel").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["FirForCausal"], "no architecture or class 'FirForCausal' is registered; did you mean 'FirForCausalLM'?"),
        (["SpruceForCausalML"], "did you mean 'SpruceForCausalLM', "),
        (["aspen"], "did you mean 'AspenReranker', 'AspenForReranking' or 'AspenBidirectionalModel'?"),
        (["xyzzy"], "no architecture or class 'xyzzy' is registered"),
        (["FirModel"], "no architecture or class 'FirModel' is registered"),
        (["HazelForCausalLM"], "module acme_automodel.components.models.hazel.model has no file in the checkout"),
        (["AspenReranker"], "acme_automodel.components.models.aspen.model binds no class AspenForReranking"),
        (["FirForCausalLM", "nowhere"], "nowhere: no such file or folder"),
        (["FirForCausalLM", ".", "--installed", "no_such_package"], "no_such_package: not installed"),
        (["FirForCausalLM", "acme_automodel", "--installed", "acme_automodel"], "give either a path or --installed"),
    ],
)
def test_wrong_use_is_one_line(example: Path, cli, arguments: list[str], words: str):
    _fails(cli("tree", *arguments, cwd=example), words)


def _fails(done, words: str) -> None:
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


def test_a_name_of_several_classes_asks_for_an_architecture(example: Path, cli):
    registry = example / "acme_automodel/_transformers/registry.py"
    text = registry.read_text().replace('fir.model", "FirForCausalLM"', 'fir.model", "SpruceForCausalLM"')
    registry.write_text(text)
    fir = example / "acme_automodel/components/models/fir/model.py"
    fir.write_text(fir.read_text().replace("class FirForCausalLM", "class SpruceForCausalLM"))
    registry.write_text(text.replace('("SpruceForCausalLM", (', '("SpruceLM", ('))
    words = "SpruceForCausalLM is the name of 2 classes; name an architecture: FirForCausalLM, SpruceLM"
    _fails(cli("tree", "SpruceForCausalLM", cwd=example), words)


@pytest.mark.parametrize("content", [b"class FirForCausalLM(\n", b"x = '\xff\xfe'\n", b"\0"])
def test_a_file_that_does_not_parse(example: Path, cli, content: bytes):
    (example / "acme_automodel/components/models/fir/model.py").write_bytes(content)
    _fails(
        cli("tree", "FirForCausalLM", cwd=example),
        "acme_automodel/components/models/fir/model.py:1: not valid Python: ",
    )


def test_a_base_that_does_not_parse(example: Path, cli):
    (example / "acme_automodel/components/models/common/causal_lm.py").write_text("class (\n")
    words = "causal_lm.py:1: not valid Python: invalid syntax (CausalLMBase is a base of LarchForCausalLM)"
    _fails(cli("tree", "LarchForCausalLM", cwd=example), words)


def test_a_part_that_does_not_parse_is_not_followed(example: Path, cli):
    (example / "acme_automodel/components/models/common/attention.py").write_text("class (\n")
    done = cli("tree", "FirForCausalLM", cwd=example)
    assert done.returncode == 0
    assert done.stdout.endswith("; incomplete at model.layers.*.self_attn\n")
    path = "acme_automodel/components/models/common/attention.py:1"
    assert done.stderr == (
        f"automodel-lint: {path}: not valid Python: invalid syntax; what it defines is not in the tree\n"
    )


def test_a_stand_in_is_nothing_to_construct(example: Path, cli):
    path = example / "acme_automodel/components/models/fir/model.py"
    path.write_text("class FirForCausalLM:\n    def __init__(self):\n        raise ImportError('fir')\n")
    _fails(cli("tree", "FirForCausalLM", cwd=example), "is only a stand-in for a missing dependency")


def test_a_registry_that_does_not_parse(example: Path, cli):
    (example / "acme_automodel/_transformers/registry.py").write_text("MODEL_ARCH_MAPPING = (\n")
    _fails(cli("tree", "FirForCausalLM", cwd=example), "acme_automodel/_transformers/registry.py:1: not valid Python: ")


def test_a_failure_of_the_linter_is_one_line(run, monkeypatch):
    def broken(model: ModelClass) -> ModuleTree:
        raise KeyError("x")

    monkeypatch.setattr(ModelClass, "module_tree", property(broken), raising=False)
    done = run("FirForCausalLM")
    assert done.exit_code == 2
    assert "FirForCausalLM: the linter failed on its module tree (KeyError: 'x' at " in done.output


def test_architectures_are_completed_by_the_shell(example: Path, cli):
    words = {"COMP_WORDS": "automodel-lint tree Aspen", "COMP_CWORD": "2", "_AUTOMODEL_LINT_COMPLETE": "bash_complete"}
    found = cli(cwd=example, **words).stdout.splitlines()
    assert found == ["plain,AspenBidirectionalModel", "plain,AspenForSequenceClassification", "plain,AspenReranker"]
    assert cli(cwd=example.parent, **words).stdout.strip() == ""
