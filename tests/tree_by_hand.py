"""A module tree made by hand, with all that a tree can have."""

from __future__ import annotations

import ast

import click

from automodel_lint.domain.tree_marks import MarkedTree, Marks
from automodel_lint.domain.tree_outline import outlined
from automodel_lint.inference.module_tree import BUFFER, PARAMETER, Condition, Dtype, ModuleNode, ModuleTree, Place
from automodel_lint.inference.module_tree import Tensor as TreeTensor
from automodel_lint.reporters import tree_text

MODEL = "acme_automodel/components/models/oak/model.py"
LAYERS = "acme_automodel/components/models/oak/layers.py"
DTYPE = Dtype("config.torch_dtype")
SHARED = Condition("config.layer_types[layer_idx] == 'moe' or config.all_moe")


class Maker:
    """Makes a module, its tensors and its children in one expression."""

    def __init__(self, name: str, type_fqn: str, line: int = 1, path: str = LAYERS, **options: object):
        self.conditions = tuple(options.pop("when", ()))  # type: ignore[call-overload]
        self.options, self.parts = options, []
        self.name, self.type_fqn, self.place = name, type_fqn, place_at(line, path)

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


def place_at(line: int, path: str) -> Place:
    return Place(f"/checkout/{path}", ast.Pass(lineno=line, col_offset=0))


def tensor(name: str, shape: str | None = None, kind: str = PARAMETER, line: int = 1, when=(), path=LAYERS, **options):
    def made(node: ModuleNode) -> TreeTensor:
        conditions = (*node.conditions, *when)
        dtype = options.pop("dtype", None)
        fqn = f"{node.fqn}.{name}".lstrip(".")
        return TreeTensor(fqn, kind, node, conditions, dtype, shape, place_at(line, path), **options)

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
    return MarkedTree("OakForCausalLM", name, place_at(5, MODEL), tree or oak(), marks, relative)


def text(made: MarkedTree | None = None, **options) -> str:
    return click.unstyle(tree_text.render(outlined(made or shown()), **options))
