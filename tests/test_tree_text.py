"""``automodel-lint tree``: the text form, over a tree made by hand."""

from __future__ import annotations

import re

import click
import pytest

from automodel_lint.domain.tree_marks import Marks
from automodel_lint.domain.tree_outline import outlined
from automodel_lint.inference.module_tree import Condition, ModuleTree
from automodel_lint.reporters import tree_html, tree_text

from .tree_by_hand import MODEL, Maker, linear, place_at, shown, tensor, text

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
    made.place = place_at(1, first)
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
