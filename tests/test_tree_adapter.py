"""``automodel-lint tree --adapter``: names side by side, gaps marked, and the same as data."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import jsonschema
import pytest
from click import unstyle
from click.testing import CliRunner

from automodel_lint.commands import command_line
from automodel_lint.domain.adapter_rows import AdapterRows, Row
from automodel_lint.inference.module_tree import Place
from automodel_lint.reporters import adapter_text, tree_json

from .conftest import ROOT

SCHEMA = json.loads((ROOT / "docs" / "tree.schema.json").read_text())
SPRUCE = "acme_automodel/components/models/spruce"
HERE = Place("/oak/adapter.py", ast.parse("\n\nx = 1").body[0])


def _row(native: str, *sides: tuple[str, list[str]], back: bool | None = True, reason: str | None = None) -> Row:
    return Row(native, [(condition, tuple(names)) for condition, names in sides], reason, back, HERE)


def _shown(*rows: Row, **fields) -> AdapterRows:
    made = AdapterRows("OakForCausalLM", "OakForCausalLM", HERE, lambda path: path.removeprefix("/"))
    made.name, made.place, made.rows = "OakAdapter", HERE, list(rows)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


EVERY = _shown(
    _row("a.weight", ("", ["a.weight"])),
    _row("b.*.weight", ("", ["x.b.*.weight", "y.b.*.weight"])),
    _row("c.weight", ("if config.c", ["x.c.weight"]), ("else", ["c.weight"])),
    _row("d.weight", ("", ["e.weight"]), back=False),
    _row("f.weight", ("", ["g.weight"]), back=None),
    _row("h.weight", ("", []), back=None),
    _row("i.weight", back=None, reason="a name that comes out of it cannot be told"),
    invented=("j.weight",),
)

TEXT = """\
OakForCausalLM  oak/adapter.py:3
OakAdapter  oak/adapter.py:3

a.weight    =
b.*.weight  ⇄ x.b.*.weight
              y.b.*.weight
c.weight    ⇄ x.c.weight  if config.c
            = else
d.weight    → e.weight
f.weight    ⇢ g.weight
h.weight    ✗
i.weight    ? a name that comes out of it cannot be told
            + j.weight

= the same name   ⇄ and back   → does not come back   ⇢ the way back is not decided   \
✗ not in the checkpoint   ? not decided   + made of no tensor of the model
7 names: 3 renamed, 1 dropped, 1 depending on the config, 1 not decided, 1 one way only
"""


def test_every_sign():
    assert unstyle(adapter_text.render(EVERY)) == TEXT


@pytest.mark.parametrize("width", [40, 60, 100])
def test_no_line_is_longer_than_the_terminal(width: int):
    long = "model.language_model.layers.*.self_attn.query_key_value_projection.weight"
    condition = "if config.text_config.first_thing_that_counts and config.text_config.second_thing_that_counts"
    shown = _shown(*EVERY.rows, _row(long, (condition, [f"backbone.{long}"]), ("else", [long])), invented=(long,))
    lines = unstyle(adapter_text.render(shown, width)).splitlines()
    assert max(map(len, lines)) <= width
    assert long in "".join(line.strip() for line in lines), "nothing is cut off"
    assert f"backbone.{long}" in "".join(line.strip(" ⇄") for line in lines)


def test_a_name_that_stays_the_same_but_is_lost_is_marked():
    row = _row("a.weight", ("", ["a.weight"]), back=False)
    assert "a.weight  → a.weight" in unstyle(adapter_text.render(_shown(row)))


def test_a_name_that_nobody_reads_is_marked():
    row = _row("a.weight", ("", ["a.wieght"]))
    row.unread = ("a.wieght",)
    text = unstyle(adapter_text.render(_shown(row)))
    assert "a.weight  ⇄ a.wieght !\n" in text
    assert text.endswith("1 names: 1 renamed, 1 unknown to transformers\n")


def test_what_may_be_missing_is_said():
    shown = _shown(_row("a.weight", ("", ["a.weight"])), complete=False, condition="if config.x", others=("Other",))
    text = unstyle(adapter_text.render(shown))
    assert text.endswith("1 names, none of them changed; the module tree is incomplete, there may be more\n")
    assert "OakAdapter  if config.x  oak/adapter.py:3\notherwise: Other\n" in text


def test_rows_as_data():
    data = tree_json.adapter_as_data(EVERY)
    assert data is not None
    assert (data["class"], data["path"], data["line"], data["condition"]) == ("OakAdapter", "oak/adapter.py", 3, None)
    assert data["invented"] == ["j.weight"]
    keys = {key["native"]: key for key in data["keys"]}
    assert keys["c.weight"] == {
        "native": "c.weight",
        "hf": ["x.c.weight", "c.weight"],
        "decided": False,
        "reason": None,
        "sides": [{"condition": "if config.c", "hf": ["x.c.weight"]}, {"condition": "else", "hf": ["c.weight"]}],
        "back": True,
        "unread": [],
        "path": "oak/adapter.py",
        "line": 3,
    }
    assert (keys["h.weight"]["decided"], keys["h.weight"]["hf"]) == (True, [])
    assert (keys["i.weight"]["decided"], keys["i.weight"]["sides"]) == (False, [])
    assert tree_json.adapter_as_data(_shown(place=None)) is None


# -- the command ----------------------------------------------------------------------------------------------------


@pytest.fixture
def run(example: Path, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.chdir(example)
    return lambda *arguments: CliRunner().invoke(command_line, ["tree", *arguments])


def test_the_adapter_of_a_model(run):
    done = run("SpruceForCausalLM", "--adapter")
    assert done.exit_code == 0
    head, adapter, _, first, *rest = done.output.splitlines()
    assert head == f"SpruceForCausalLM  {SPRUCE}/model.py:91"
    assert adapter == f"SpruceStateDictAdapter  {SPRUCE}/state_dict_adapter.py:27"
    assert first == "model.embed_tokens.weight                           ="
    renamed = (
        "model.layers.*.mlp.shared_experts.up_proj.weight    ⇄ model.layers.*.block_sparse_moe.shared_expert.w3.weight"
    )
    assert renamed in rest
    assert rest[-1] == "17 names: 8 renamed"


def test_the_adapter_as_data(run):
    data = json.loads(run("SpruceForCausalLM", "--adapter", "--format", "json").output)
    jsonschema.validate(data, SCHEMA)
    keys = {key["native"]: key for key in data["adapter"]["keys"]}
    assert keys.keys() == {tensor["name"] for tensor in data["tensors"] if tensor["persistent"]}
    gate = keys["model.layers.*.mlp.gate.e_score_correction_bias"]
    assert gate["hf"] == ["model.layers.*.block_sparse_moe.gate.expert_bias"]
    assert (gate["decided"], gate["back"], gate["path"]) == (True, True, f"{SPRUCE}/state_dict_adapter.py")
    assert gate["line"] == 24, "where the segments are put together"
    assert keys["lm_head.weight"]["line"] == 36, "it is handed on by to_hf"
    broken = {**data, "adapter": {**data["adapter"], "keys": [{"native": "x"}]}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, SCHEMA)


def test_a_rename_on_one_side_only_is_marked(run, example: Path):
    path = example / SPRUCE / "state_dict_adapter.py"
    path.write_text(path.read_text().replace('_NATIVE = {', '_NATIVE = {"w1": "w1"} | {').replace(
        "_PUBLISHED.items()}", '_PUBLISHED.items() if native != "gate_proj"}'))  # fmt: skip
    text = run("SpruceForCausalLM", "--adapter").output
    name = "model.layers.*.mlp.experts.*.gate_proj.weight"
    assert f"{name}       → model.layers.*.block_sparse_moe.experts.*.w1.weight" in text
    assert text.splitlines()[-1] == "17 names: 8 renamed, 2 one way only"


def test_a_model_without_an_adapter(run):
    done = run("FirForCausalLM", "--adapter")
    assert done.exit_code == 0
    assert done.output.splitlines()[-1] == "it has no state-dict adapter"
    data = json.loads(run("FirForCausalLM", "--adapter", "--format", "json").output)
    jsonschema.validate(data, SCHEMA)
    assert data["adapter"] is None
    assert "adapter" not in json.loads(run("FirForCausalLM", "--format", "json").output)


def test_it_is_no_graph(run):
    done = run("SpruceForCausalLM", "--adapter", "--format", "dot")
    assert done.exit_code == 2
    assert "--adapter goes with --format text and json, not dot" in done.output


def test_a_failure_of_the_linter_is_one_line(run, monkeypatch):
    def broken(*arguments):
        raise KeyError("x")

    monkeypatch.setattr("automodel_lint.domain.adapter_rows.adapter_rows", broken)
    done = run("SpruceForCausalLM", "--adapter")
    assert done.exit_code == 2
    assert "SpruceForCausalLM: the linter failed on its module tree (KeyError: 'x' at " in done.output
