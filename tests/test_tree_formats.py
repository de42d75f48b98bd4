"""``automodel-lint tree``: JSON, DOT and the page, over a tree made by hand."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest

from automodel_lint.domain.tree_marks import MarkedTree, Marks
from automodel_lint.domain.tree_outline import outlined
from automodel_lint.inference.module_tree import BUFFER, Condition, Dtype, ModuleTree
from automodel_lint.reporters import tree_dot, tree_html, tree_json

from .conftest import ROOT
from .tree_by_hand import MODEL, Maker, shown, tensor

SCHEMA = json.loads((ROOT / "docs" / "tree.schema.json").read_text())

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
    assert re.search(r"kopf_f(\\xfc|&#252;|\\u00fc)r_", done.stdout)


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
