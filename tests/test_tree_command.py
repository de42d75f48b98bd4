"""``automodel-lint tree``: the renderers over a tree made by hand, the marks, and the command as a person uses it."""

from __future__ import annotations

import ast
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import click
import jsonschema
import pytest
from click.testing import CliRunner

from automodel_lint.commands import command_line
from automodel_lint.commands.tree import find
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.tree_marks import MarkedTree, Marks, marks_of
from automodel_lint.domain.tree_outline import outlined
from automodel_lint.inference.module_tree import BUFFER, PARAMETER, Condition, Dtype, ModuleNode, ModuleTree, Place
from automodel_lint.inference.module_tree import Tensor as TreeTensor
from automodel_lint.reporters import tree_dot, tree_html, tree_json, tree_text
from automodel_lint.session import Request, Session

from .conftest import ROOT

SCHEMA = json.loads((ROOT / "docs" / "tree.schema.json").read_text())
MODEL = "acme_automodel/components/models/oak/model.py"
LAYERS = "acme_automodel/components/models/oak/layers.py"
DTYPE = Dtype("config.torch_dtype")
SHARED = Condition("config.layer_types[layer_idx] == 'moe' or config.all_moe")


class Maker:
    """Makes a module, its tensors and its children in one expression."""

    def __init__(self, name: str, type_fqn: str, line: int = 1, path: str = LAYERS, **options: object):
        self.conditions = tuple(options.pop("when", ()))  # type: ignore[call-overload]
        self.options, self.parts = options, []
        self.name, self.type_fqn, self.place = name, type_fqn, _place(line, path)

    def holding(self, *parts: object) -> Maker:
        self.parts += parts
        return self

    def made(self, fqn: str = "", above: tuple[Condition, ...] = ()) -> ModuleNode:
        node = ModuleNode(fqn, None, self.type_fqn, (*above, *self.conditions), self.place, **self.options)  # type: ignore[arg-type]
        for part in self.parts:
            if isinstance(part, Maker):
                node.children.append(part.made(f"{fqn}.{part.name}".lstrip("."), node.conditions))
            else:
                node.tensors.append(part(node))
        return node


def _place(line: int, path: str) -> Place:
    return Place(f"/checkout/{path}", ast.Pass(lineno=line, col_offset=0))


def tensor(name: str, shape: str | None = None, kind: str = PARAMETER, line: int = 1, when=(), path=LAYERS, **options):
    def made(node: ModuleNode) -> TreeTensor:
        conditions = (*node.conditions, *when)
        dtype = options.pop("dtype", None)
        fqn = f"{node.fqn}.{name}".lstrip(".")
        return TreeTensor(fqn, kind, node, conditions, dtype, shape, _place(line, path), **options)

    return made


def linear(name: str, line: int, *extra: object, path: str = LAYERS) -> Maker:
    weight = tensor("weight", "[config.hidden_size, config.hidden_size]", line=line, path=path, dtype=DTYPE)
    return Maker(name, "torch.nn.Linear", line, path).holding(weight, *extra)


def oak() -> ModuleTree:
    """A decoder with all that a tree can have: layers, both sides of a condition, an opaque tower, a tied head."""
    bias = tensor("bias", "[config.hidden_size]", line=30, when=[Condition("config.attention_bias")])
    attention = Maker("self_attn", "oak.OakAttention", 20).holding(
        tensor("sinks", "[config.num_attention_heads]", line=21, dtype=Dtype("float32")),
        linear("q_proj", 30, bias),
    )
    experts = Maker("mlp", "oak.MoE", 40, when=[SHARED]).holding(
        Maker("gate", "oak.Gate", 41).holding(
            tensor("weight", "[config.num_experts, config.hidden_size]", line=42),
            tensor("e_score_correction_bias", "[config.num_experts]", BUFFER, 43, dtype=Dtype("float32")),
        )
    )
    dense = Maker("mlp", "oak.MLP", 50, when=[Condition(SHARED.text, False)]).holding(linear("up_proj", 51))
    norms = [
        Maker("norm", "oak.RMSNorm", line, when=[Condition("config.rms", holds)]).holding(
            tensor("weight", "[dim]", line=9)
        )
        for line, holds in ((60, True), (62, False))
    ]
    block = Maker("*", "oak.OakBlock", 12).holding(attention, experts, dense, *norms)
    outside = "../lib/transformers/rotary.py"
    rotary = Maker("rotary_emb", "transformers.OakRotaryEmbedding", 14).holding(
        tensor("inv_freq", None, BUFFER, 7, path=outside, dtype=Dtype("float32"), persistent=False)
    )
    embedding = Maker("embed_tokens", "torch.nn.Embedding", 10).holding(
        tensor("weight", "[config.vocab_size, config.hidden_size]", line=10, dtype=DTYPE)
    )
    layers = Maker("layers", "torch.nn.ModuleList", 12).holding(block)
    root = Maker("", "oak.OakForCausalLM", 5, MODEL).holding(
        Maker("model", "oak.OakModel", 6, MODEL).holding(embedding, layers, rotary),
        Maker("tower", "", 8, MODEL, opaque="its class is chosen by the <config>"),
        linear("lm_head", 9, path=MODEL),
    )
    return ModuleTree(root.made())


PINS = {
    "model.layers.*.self_attn.sinks": "strict",
    "model.layers.*.mlp.gate.e_score_correction_bias": "strict",
    "model.rotary_emb.inv_freq": "plain",
}
TIES = {"lm_head.weight": "model.embed_tokens.weight"}


def shown(tree: ModuleTree | None = None, name: str = "OakForCausalLM", marks: Marks | None = None) -> MarkedTree:
    def relative(path: str) -> str:
        return path.removeprefix("/checkout/")

    marks = Marks(PINS, TIES) if marks is None else marks
    return MarkedTree("OakForCausalLM", name, _place(5, MODEL), tree or oak(), marks, relative)


def text(made: MarkedTree | None = None, **options) -> str:
    return click.unstyle(tree_text.render(outlined(made or shown()), **options))


# -- text -----------------------------------------------------------------------------------------------------------

WITHOUT_TENSORS = """\
OakForCausalLM  acme_automodel/components/models/oak/model.py:5
├─ model  OakModel  oak/model.py:6
│  ├─ embed_tokens  Embedding  oak/layers.py:10
│  ├─ layers.*  OakBlock  oak/layers.py:12
│  │  ├─ self_attn  OakAttention  ◆  oak/layers.py:20
│  │  │  └─ q_proj  Linear  oak/layers.py:30
│  │  ├─ mlp  MoE  if config.layer_types[layer_idx] == 'moe' or config.all_moe
│  │  │  │   oak/layers.py:40
│  │  │  └─ gate  Gate  ◆  oak/layers.py:41
│  │  ├─ mlp  MLP  else  oak/layers.py:50
│  │  │  └─ up_proj  Linear  oak/layers.py:51
│  │  └─ norm  RMSNorm  oak/layers.py:60, :62
│  └─ rotary_emb  OakRotaryEmbedding  ◇  oak/layers.py:14
├─ tower  ? its class is chosen by the <config>  oak/model.py:8
└─ lm_head  Linear  ⇄  oak/model.py:9

◆ kept in fp32 (strict)   ◇ kept in fp32 (not in sharding)
⇄ tied if the config says so   ? not followed
14 modules, 8 parameters, 2 buffers; incomplete at tower
"""


def test_text_at_eighty_columns():
    assert text(width=80) == WITHOUT_TENSORS


def test_text_with_tensors_says_what_the_source_says():
    lines = text(params=True).splitlines()
    assert (
        "│  │  │  ├─ sinks  [config.num_attention_heads]  float32  ◆  acme_automodel/components/models/oak/layers.py:21"
        in (lines)
    )
    assert "│  │  │     └─ bias  [config.hidden_size]  if config.attention_bias" in lines, (
        "its place is that of the module"
    )
    assert "│     └─ inv_freq  float32  not saved  buffer  ◇  ../lib/transformers/rotary.py:7" in lines
    assert any(line.endswith("config.torch_dtype  ⇄ model.embed_tokens.weight") for line in lines)


@pytest.mark.parametrize("width", [50, 60, 80, 100])
def test_text_is_never_wider_than_the_terminal(width: int):
    whole = text(params=True)
    lines = text(params=True, width=width).splitlines()
    head = [line for line in lines if "oak/model.py:5" not in line]  # the first place is whole
    assert max(map(len, head)) <= width
    squeezed = re.sub(r"[\s│├└─]|acme_automodel/components/models/|\.\./lib/", "", whole)
    assert re.sub(r"[\s│├└─]|acme_automodel/components/models/", "", "\n".join(lines)) == squeezed, "nothing is lost"


def test_text_folds_what_lies_deeper():
    lines = text(depth=2, width=80).splitlines()
    assert "│  ├─ layers.*  OakBlock  … 7 modules below  oak/layers.py:12" in lines
    assert "│  ├─ embed_tokens  Embedding  oak/layers.py:10" in lines
    assert not any("self_attn" in line for line in lines)
    assert lines[-1].startswith("14 modules"), "the summary is about the whole tree"
    assert text(depth=0).splitlines()[0].startswith("OakForCausalLM  … 13 modules below")


def test_a_class_of_another_name_says_how_it_is_registered():
    assert "registered as" not in text()
    assert text(shown(name="Oak")).startswith("Oak  registered as OakForCausalLM  acme_automodel/")
    assert "Module tree &middot; registered as OakForCausalLM &middot; " in tree_html.render(
        outlined(shown(name="Oak"))
    )


def test_a_word_that_fills_more_than_a_line_is_broken():
    shape = f"[config.text_config.{'very_' * 20}long['index']]"
    root = Maker("", "Oak", 1).holding(tensor("weight", shape))
    lines = text(shown(ModuleTree(root.made())), params=True, width=70).splitlines()
    assert max(len(line) for line in lines[1:-1]) <= 70
    assert "".join(line.strip(" └─") for line in lines[1:4]).replace("weight", "").strip() == shape


def test_text_of_a_complete_tree():
    tree = ModuleTree(Maker("", "oak.OakForCausalLM", 5, MODEL).holding(linear("lm_head", 9)).made())
    found = text(shown(tree, marks=Marks()))
    assert found.endswith("\n\n2 modules, 1 parameter, 0 buffers; complete\n"), "no legend where nothing is marked"


def test_colours_and_signs_can_be_taken_away():
    coloured = tree_text.render(outlined(shown()))
    assert "\x1b[" in coloured
    assert tree_text.plain(click.unstyle(coloured)).isascii()


def test_files_that_end_alike_keep_more_folders():
    first, second = "a/oak/model.py", "b/oak/model.py"
    root = Maker("", "Oak", 1, first).holding(Maker("x", "X", 2, first), Maker("y", "Y", 3, second))
    made = shown(ModuleTree(root.made()), marks=Marks())
    made.place = _place(1, first)
    lines = text(made, width=80).splitlines()
    assert lines[1:3] == ["├─ x  X  a/oak/model.py:2", "└─ y  Y  b/oak/model.py:3"]


# -- the outline ----------------------------------------------------------------------------------------------------


def _conditions(*variants: Maker) -> list[tuple[str, str]]:
    root = Maker("", "Oak", 1, when=[Condition("config.outer")]).holding(*variants)
    return [(item.type, item.condition) for item in outlined(shown(ModuleTree(root.made()))).root.children]


def test_conditions_are_those_beyond_the_parents():
    a, b = Condition("config.a"), Condition("config.b")
    no_a, no_b = Condition("config.a", False), Condition("config.b", False)

    assert _conditions(Maker("x", "X", when=[a])) == [("X", "if config.a")]
    assert _conditions(Maker("x", "X", when=[no_a])) == [("X", "if not config.a")]
    assert _conditions(Maker("x", "X", when=[a]), Maker("x", "Y", when=[no_a])) == [("X", "if config.a"), ("Y", "else")]
    chain = Maker("x", "X", when=[a]), Maker("x", "Y", when=[no_a, b]), Maker("x", "Z", when=[no_a, no_b])
    assert _conditions(*chain)[1:] == [("Y", "if not config.a and config.b"), ("Z", "else")]
    gap = Maker("x", "X", when=[a, b]), Maker("x", "Y", when=[no_a])
    assert _conditions(*gap)[1] == ("Y", "if not config.a"), "with a and not b there is neither"
    assert _conditions(Maker("x", "X", when=[a]), Maker("x", "Y")) == [("X", "if config.a"), ("Y", "")]


def test_the_sides_of_an_and_stay_apart():
    either, third = Condition("config.a or config.b"), Condition("config.c")
    assert _conditions(Maker("x", "X", when=[either, third])) == [("X", "if (config.a or config.b) and config.c")]
    assert _conditions(Maker("x", "X", when=[either])) == [("X", "if config.a or config.b")]


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("config.q is None", "config.q is not None"),
        ("i >= config.n", "i < config.n"),
        ("i in config.moe_layers", "i not in config.moe_layers"),
        ("0 <= i < 3", "not 0 <= i < 3"),
        ("not config.a", "config.a"),
        ("config.a and config.b", "not (config.a and config.b)"),
        ("layers[*] == 'moe'", "not (layers[*] == 'moe')"),
    ],
)
def test_a_condition_that_must_not_hold(text: str, negated: str):
    assert _conditions(Maker("x", "X", when=[Condition(text, False)])) == [("X", f"if {negated}")]


def test_alternatives_are_simplified():
    a, b, no_b, c = (*map(Condition, ("a", "b")), Condition("b", False), Condition("c"))
    assert _alternatives([a, b], [a, no_b]) == "if a"
    assert _alternatives([a, b, c], [a, no_b, c], [a]) == "if a"
    assert _alternatives([a, b], [no_b, c]) == "if a and b or not b and c"


def _alternatives(*alternatives: list[Condition]) -> str:
    ((_, condition),) = _conditions(*(Maker("x", "X", line, when=when) for line, when in enumerate(alternatives)))
    return condition


def test_variants_that_look_the_same_are_one():
    sides = [Condition("config.a", holds) for holds in (True, False)]
    same = [Maker("x", "X", line, when=[side]) for line, side in enumerate(sides, 1)]
    assert _conditions(*same) == [("X", "")]
    third = Maker("x", "X", 3, when=[Condition("config.a"), Condition("config.b")])
    assert _conditions(third, Maker("x", "X", 4, when=[Condition("config.c")])) == [
        ("X", "if config.a and config.b or config.c")
    ]
    inside = [
        Maker("x", "X", line, when=[side]).holding(tensor("weight", shape))
        for (line, side), shape in zip(enumerate(sides, 1), ("[a]", "[b]"), strict=True)
    ]
    assert len(_conditions(*inside)) == 2


def test_lists_of_one_pattern_are_joined_with_their_members():
    def names(node: Maker) -> list[str]:
        tree = ModuleTree(Maker("", "Oak", 1).holding(node).made())
        return [item.name for item in outlined(shown(tree)).root.walk()][1:]

    block = Maker("*", "Block", 2)
    assert names(Maker("layers", "torch.nn.ModuleList").holding(block)) == ["layers.*"]
    nested = Maker("layers", "torch.nn.ModuleList").holding(Maker("*", "torch.nn.ModuleDict").holding(block))
    assert names(nested) == ["layers.*.*"]
    counted = Maker("layers", "torch.nn.Sequential").holding(Maker("0", "Block"), Maker("1", "Block"))
    assert names(counted) == ["layers", "0", "1"]
    assert names(Maker("layers", "torch.nn.ModuleList")) == ["layers"]
    assert names(Maker("layers", "oak.Stack").holding(block)) == ["layers", "*"]


# -- json -----------------------------------------------------------------------------------------------------------


def test_json_fits_its_schema():
    data = json.loads(tree_json.render(shown()))
    jsonschema.validate(data, SCHEMA)
    assert {key: data[key] for key in data if key not in ("opaque", "tensors")} == {
        "version": 1,
        "architecture": "OakForCausalLM",
        "class": "OakForCausalLM",
        "path": MODEL,
        "line": 5,
        "complete": False,
    }
    assert data["opaque"] == [
        {"fqn": "tower", "reason": "its class is chosen by the <config>", "path": MODEL, "line": 8}
    ]
    names = [entry["name"] for entry in data["tensors"]]
    assert len(names) == len(set(names)) == 10
    assert list(data["tensors"][0]) == SCHEMA["$defs"]["tensor"]["required"]
    for broken in ({**data, "complete": True}, {**data, "more": 1}, {**data, "tensors": [{"name": "x"}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, SCHEMA)


def test_json_says_of_each_tensor():
    entries = {entry["name"]: entry for entry in tree_json.as_data(shown())["tensors"]}
    assert entries["lm_head.weight"] == {
        "name": "lm_head.weight",
        "kind": "parameter",
        "persistent": True,
        "conditional": False,
        "dtype": "config.torch_dtype",
        "shape": "[config.hidden_size, config.hidden_size]",
        "pinned": False,
        "tied_to": "model.embed_tokens.weight",
        "path": MODEL,
        "line": 9,
    }
    assert entries["model.rotary_emb.inv_freq"] == {
        "name": "model.rotary_emb.inv_freq",
        "kind": "buffer",
        "persistent": False,
        "conditional": False,
        "dtype": "float32",
        "shape": None,
        "pinned": True,
        "tied_to": None,
        "path": "../lib/transformers/rotary.py",
        "line": 7,
    }
    assert entries["model.layers.*.mlp.gate.weight"]["conditional"]
    assert entries["model.layers.*.self_attn.q_proj.bias"]["conditional"]
    assert not entries["model.layers.*.norm.weight"]["conditional"], "both sides make it"
    assert entries["model.layers.*.self_attn.sinks"]["pinned"]


def test_json_merges_the_variants_of_a_name():
    sides = [Condition("config.a", holds) for holds in (True, False)]
    root = Maker("", "Oak", 1).holding(
        tensor("x", None, BUFFER, 3, when=sides[:1], persistent=False),
        tensor("x", "[config.n]", BUFFER, 4, when=sides[1:], dtype=Dtype("bfloat16")),
    )
    (entry,) = tree_json.as_data(shown(ModuleTree(root.made())))["tensors"]
    assert (entry["shape"], entry["dtype"], entry["line"]) == ("[config.n]", "bfloat16", 3)
    assert entry["persistent"]
    assert not entry["conditional"]


# -- dot and html ---------------------------------------------------------------------------------------------------


def test_dot_draws_every_module():
    found = tree_dot.render(outlined(shown()))
    assert found.startswith('digraph "OakForCausalLM" {\n') and found.endswith("}\n")
    assert len(re.findall(r"^  n\d+ \[", found, re.M)) == 14
    assert len(re.findall(r" -> ", found)) == 13
    assert '[style=dashed, label="else"]' in found
    assert '"tower\\nnot followed: its class is chosen by the <config>\\n", ' in found
    assert "sinks" not in found
    assert "sinks [config.num_attention_heads] float32 fp32 pin\\l" in tree_dot.render(outlined(shown()), params=True)
    assert tree_dot.render(outlined(shown()), depth=1).count(" -> ") == 3


HOSTILE = """a"b\\N<script>alert('x')</script>&amp;{{tree}}\nend"""


def _hostile() -> MarkedTree:
    child = Maker("tower", f"oak.{HOSTILE.replace('.', '')}", 2, opaque=HOSTILE, when=[Condition(HOSTILE)])
    tree = ModuleTree(Maker("", "Oak", 1).holding(child, tensor("weight", HOSTILE)).made())
    return shown(tree, name=HOSTILE, marks=Marks({}, {"weight": HOSTILE}))


def test_dot_escapes_what_is_not_its_own():
    for line in tree_dot.render(outlined(_hostile()), params=True).splitlines()[4:-1]:
        assert len(re.findall(r'(?<!\\)(?:\\\\)*"', line)) % 2 == 0, "quotes come in pairs"
        assert "\\\\N" in line or "N<" not in line


class Reader(HTMLParser):
    """Counts elements and checks that they are closed in order."""

    def __init__(self, page: str):
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_one_page_that_loads_nothing():
    page = tree_html.render(outlined(shown()), params=True)
    reader = Reader(page)
    assert not [tag for tag, attributes in reader.found if {"src", "href", "action"} & set(attributes)]
    assert not re.search(r"https?:|@import|url\(", page)
    assert "default-src 'none'" in page
    rows = [attributes for tag, attributes in reader.found if tag == "li"]
    assert len(rows) == sum(1 for _ in outlined(shown()).root.walk())
    assert {"class": "module bare", "data-text": "q_proj Linear", "data-fqn": "model.layers.*.self_attn.q_proj"} in rows
    assert "Incomplete: could not follow tower" in page
    assert '<span class="tied">tied to model.embed_tokens.weight</span>' in page
    assert (
        '<span class="place" title="acme_automodel/components/models/oak/layers.py:60, :62">oak/layers.py:60, :62'
        in page
    )


@pytest.mark.parametrize("output_format", ["text", "json", "dot", "html"])
def test_an_output_that_knows_no_umlauts(example: Path, cli, output_format: str):
    path = example / "acme_automodel/components/models/fir/model.py"
    path.write_text(path.read_text().replace("lm_head", "kopf_für_wörter"), encoding="utf-8")
    done = cli("tree", "FirForCausalLM", "--format", output_format, cwd=example, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert re.search(r"kopf_f(\?|&#252;|\\u00fc)r_", done.stdout)


def test_html_escapes_every_name():
    page = tree_html.render(outlined(_hostile()))
    assert [tag for tag, _ in Reader(page).found].count("script") == 1
    assert "alert('" not in page
    assert page.count("{{tree}}") >= 3, "what looks like a gap of the page is not filled"


def test_html_says_what_is_unfolded_at_first():
    def opened(**options) -> int:
        return sum(
            "open" in a for tag, a in Reader(tree_html.render(outlined(shown()), **options)).found if tag == "details"
        )

    assert opened(depth=0) == 0
    assert opened(depth=1) == 1
    assert opened() > opened(depth=1)
    assert '<body class="modules-only">' in tree_html.render(outlined(shown()))
    assert '<input type="checkbox" id="params" checked>' in tree_html.render(outlined(shown()), params=True)


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
