"""Names that an adapter writes and nobody reads: against transformers' own model and what it renames on loading."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.reference import reference_tree, unread_names

from . import tree_compare

MODEL = """
    from torch import nn

    class Attention(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.q = nn.Linear(config.size, config.size, bias=False)

    class OakForCausalLM(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.layers = nn.ModuleList([Attention(config) for _ in range(config.layers)])
            self.head = nn.Linear(config.size, 8, bias=False)
            self.state_dict_adapter = OakAdapter()

    class OakAdapter:
        def to_hf(self, state_dict, **kwargs):
            return {self.stored(name): tensor for name, tensor in state_dict.items()}

        def from_hf(self, state_dict, device_mesh=None, **kwargs):
            return dict(state_dict)

        def stored(self, name):
            return name.replace(".q.", ".RENAMED.")
"""
REFERENCE = """
    from elsewhere import Head
    from torch import nn

    class OakForCausalLM(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.layers = nn.ModuleList([nn.ModuleDict({"q_proj": nn.Linear(4, 4)}) for _ in range(config.layers)])
            self.head = CHILD
"""
TABLE = """
    def mapping():
        return {"oak": [Renaming(r"\\.attn\\.query\\.", ".q_proj.")]}
"""


def _model(root: Path, renamed: str, child: str = "nn.Linear(4, 8)", table: bool = True, library: bool = True):
    files = {"oak/__init__.py": "", "oak/model.py": textwrap.dedent(MODEL).replace("RENAMED", renamed)}
    if library:
        files["site/transformers/__init__.py"] = "from .modeling_oak import OakForCausalLM\n"
        files["site/transformers/modeling_oak.py"] = textwrap.dedent(REFERENCE).replace("CHILD", child)
    if library and table:
        files["site/transformers/conversion_mapping.py"] = textwrap.dedent(TABLE)
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    project = tree_compare.project_of(root / "oak", [str(root / "site")])
    return ModelClass(project, project.by_fqn("oak.model.OakForCausalLM")[0], ("OakForCausalLM",), ())


def _unread(model: ModelClass) -> list[tuple[str, str, str]]:
    (adapter,) = model.adapters
    return [(key.name, name, part) for key, name, part in unread_names(model, adapter.to_hf)]


@pytest.mark.parametrize("renamed", ["q_proj", "attn.query", "q", "0"])
def test_what_the_reference_or_its_table_knows_is_read(tmp_path: Path, renamed: str) -> None:
    assert _unread(_model(tmp_path, renamed)) == []


def test_a_part_that_neither_knows_is_not_read(tmp_path: Path) -> None:
    model = _model(tmp_path, "q_porj")
    assert _unread(model) == [("layers.*.q.weight", "layers.*.q_porj.weight", "q_porj")]


def test_without_the_table_nothing_is_said(tmp_path: Path) -> None:
    assert _unread(_model(tmp_path, "q_porj", table=False)) == []


def test_an_incomplete_reference_says_nothing(tmp_path: Path) -> None:
    model = _model(tmp_path, "q_porj", child="Head(4)")
    tree = reference_tree(model)
    assert tree is not None and not tree.complete
    assert _unread(model) == []


def test_an_architecture_that_transformers_does_not_have(tmp_path: Path) -> None:
    model = _model(tmp_path, "q_porj", library=False)
    assert reference_tree(model) is None
    assert _unread(model) == []
