"""What the source does not say: the module tree admits it, is right about the rest, and always comes to an end."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from automodel_lint.inference.module_tree import ModuleTree

from . import tree_compare

HEAD = """
import importlib
from functools import partial

import a_library.layers as fast
from a_library import Layer, make_layer, value_of
from torch import nn
from transformers import AutoModel, LlamaModel, PretrainedConfig

try:
    from a_library import Optional
except ImportError:

    class Optional:
        def __init__(self, *args):
            raise ImportError


class Config(PretrainedConfig):
    pass


class Part(Layer):
    def __init__(self, size):
        super().__init__(size)


"""
MODEL = """
class Model(nn.Module):
    def __init__(self, {parameters}):
        super().__init__()
        self.own = nn.Linear(1, 1)
{body}
"""


def tree_of(folder: Path, text: str, cls: str = "Model") -> ModuleTree:
    """Return the tree of a class in a package of its own, with no library at hand."""
    (folder / "plain").mkdir()
    (folder / "plain" / "model.py").write_text(HEAD + text, encoding="utf-8")
    return tree_compare.tree_of(tree_compare.project_of(folder / "plain", []), "model", cls)


def model(body: str, parameters: str = "config: Config") -> str:
    """Return a class whose constructor ends with ``body``."""
    return MODEL.format(body=textwrap.indent(body, " " * 8), parameters=parameters)


@pytest.mark.parametrize(
    "body",
    [
        "self.part = Layer(config)",
        "self.part = fast.Layer(config)",
        "self.part = Part(1)",
        "self.part = Optional(1)",
        "self.part = LlamaModel(config)",
        "self.part = LlamaModel._from_config(config)",
        "self.part = AutoModel.from_config(config.text_config)",
        "self.part = make_layer(1)",
        "self.part = fast.build_layer(1)",
        "self.part = partial(Layer, 1)(2)",
        "self.part = (lambda: Layer(1))()",
        "self.part = Layer(1) if config.fast else nn.Linear(1, 1)",
        "cls = Layer if config.fast else nn.Linear\nself.part = cls(1, 1)",
        "self.part = {'a': Layer, 'b': nn.Linear}[config.kind](1, 1)",
        "self.part = nn.Identity()\nif config.fast:\n    self.part = Layer(1)",
        "setattr(self, 'part', Layer(1))",
        "self.add_module('part', Layer(1))",
        "part = Layer(1)\npart.extra = nn.Linear(1, 1)\nself.part = part",
        "self.part = importlib.import_module(config.module).Layer(1)",
        "self.part = getattr(importlib.import_module(config.module), config.cls)(config)",
        "self.part = getattr(nn, config.cls)(1, 1)",
        "self.part = globals()[config.cls](config)",
        "self.part = nn.NoSuchLayer(1)",
        "self.part = Layer.from_pretrained(config.name)",
    ],
)
def test_a_module_that_cannot_be_followed_is_opaque(body: str, tmp_path: Path) -> None:
    tree = tree_of(tmp_path, model(body))
    assert [node.fqn for node in tree.opaque] == ["part"]
    assert not tree.is_conditional("own.weight")
    assert not {fqn for fqn in tree.by_fqn if not fqn.startswith(("own.", "part."))}


@pytest.mark.parametrize(
    ("body", "node"),
    [
        ("self.parts = nn.ModuleList([Layer(1) for _ in range(config.count)])", "parts.*"),
        ("self.parts = nn.ModuleList([Layer(1), nn.Linear(1, 1)])", "parts.0"),
        ("self.parts = nn.Sequential(nn.Linear(1, 1), Layer(1))", "parts.1"),
        ("self.parts = nn.ModuleDict({name: Layer(1) for name in config.names})", "parts.*"),
        ("for i in range(config.count):\n    setattr(self, f'part{i}', Layer(1))", "part*"),
        ("self.own.inner = Layer(1)", "own.inner"),
    ],
)
def test_opaque_nodes_below_others(body: str, node: str, tmp_path: Path) -> None:
    tree = tree_of(tmp_path, model(body))
    assert [found.fqn for found in tree.opaque] == [node]
    assert not tree.is_conditional("own.weight")


@pytest.mark.parametrize("parameters", ["config: Config, part", "config: Config, part: nn.Module"])
def test_a_module_that_the_caller_hands_in(parameters: str, tmp_path: Path) -> None:
    inner = model("self.part = part", parameters).replace("class Model", "class Inner")
    tree = tree_of(tmp_path, inner + model("self.inner = Inner(config, Layer(1))"))
    assert [node.fqn for node in tree.opaque] == ["inner.part"]
    assert {t.fqn for t in tree.tensors} == {"own.weight", "own.bias", "inner.own.weight", "inner.own.bias"}


@pytest.mark.parametrize(
    "text",
    [
        "class Model(Layer):\n    def __init__(self, config):\n        super().__init__(config)\n"
        "        self.own = nn.Linear(1, 1)\n",
        "class Model(Layer):\n    pass\n",
        "class Model(Layer, nn.Module):\n    def __init__(self, config):\n        super().__init__()\n",
        "class Model(fast.layer_class()):\n    def __init__(self, config):\n        super().__init__()\n",
        "class Middle(Layer):\n    pass\n\n\nclass Model(Middle):\n    pass\n",
        "class Model(LlamaModel):\n    pass\n",
    ],
    ids=["outside", "no-constructor", "first-base", "computed", "further-up", "transformers"],
)  # fmt: skip
def test_a_base_that_is_not_at_hand_makes_the_root_opaque(text: str, tmp_path: Path) -> None:
    tree = tree_of(tmp_path, text)
    assert [node.fqn for node in tree.opaque] == [""]
    assert {t.fqn for t in tree.tensors} <= {"own.weight", "own.bias"}


@pytest.mark.parametrize(
    "body",
    [
        "self.size = value_of(config)",
        "self.size = fast.value(config)",
        "self.hidden_size = value_of(config) * 2",
        "value_of(config).prepare(self)",
        "self.text = importlib.import_module(config.module).__name__",
        "self.names = [value_of(name) for name in config.names]",
    ],
)
def test_unknown_values_are_no_modules(body: str, tmp_path: Path) -> None:
    tree = tree_of(tmp_path, model(body + "\nself.after = nn.Linear(1, 1)"))
    assert tree.complete
    assert set(tree.by_fqn) == {"own.weight", "own.bias", "after.weight", "after.bias"}


@pytest.mark.parametrize(
    "body",
    [
        "if value_of(config):\n    self.maybe = nn.Linear(1, 1)",
        "self.maybe = nn.Linear(1, 1) if fast.has(config) else None",
        "try:\n    value_of(config)\nexcept ImportError:\n    self.maybe = nn.Linear(1, 1)",
    ],
)
def test_what_depends_on_something_unknown_is_conditional(body: str, tmp_path: Path) -> None:
    tree = tree_of(tmp_path, model(body + "\nself.after = nn.Linear(1, 1)"))
    conditional = {fqn: tree.is_conditional(fqn) for fqn in tree.by_fqn}
    assert not conditional["own.weight"] and not conditional["after.weight"]
    assert conditional.get("maybe.weight", True)


ENDLESS = """
class Calls(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.own = nn.Linear(1, 1)
        self.grow(config)

    def grow(self, config):
        self.grow(config)


class Contains(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.inner = Contains(config)


class Cycle(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.own = nn.Linear(1, 1)
        self.own.parent = self


class While(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        while True:
            self.own = nn.Linear(1, 1)


class Wide(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        for a in range(1000):
            for b in range(1000):
                for c in range(1000):
                    self.own = nn.Linear(a, b)


class Doubling(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        parts = [nn.Linear(1, 1)]
        for _ in range(30):
            parts = parts + parts
        self.own = parts[0]


class Branches(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        kind = 0
        FLAGS
        self.own = nn.Linear(1, 1) if kind > 3 else nn.Linear(2, 2)
""".replace("        FLAGS\n", "".join(f"        kind = kind + 1 if config.flag{i} else kind * 2\n" for i in range(40)))


@pytest.mark.parametrize("cls", ["Calls", "Contains", "Cycle", "While", "Wide", "Doubling", "Branches"])
def test_construction_that_does_not_end_does_not_hold_up_the_linter(cls: str, tmp_path: Path) -> None:
    tree = tree_of(tmp_path, ENDLESS, cls)
    assert {t.fqn for t in tree.tensors} <= {"own.weight", "own.bias"}


def test_deep_nesting(tmp_path: Path) -> None:
    deep = "nn.Sequential(" * 60 + "nn.Linear(1, 1)" + ")" * 60
    tree = tree_of(tmp_path, model(f"self.deep = {deep}"))
    assert "own.weight" in tree.by_fqn
    assert not tree.complete or f"deep.{'0.' * 60}weight" in tree.by_fqn
