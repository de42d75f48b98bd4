"""Key maps of adapters in every spelling: against maps written by hand, and against what the adapters really do."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from automodel_lint.domain.adapter import Adapter, one_way
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.project import Project
from automodel_lint.inference.key_map import Key

from . import tree_compare
from .conftest import ROOT
from .tree_cases import table

FOLDER = Path(__file__).with_name("adapter_models")
NATIVE = [
    "model.embed.weight",
    "model.layers.*.attn.q.weight",
    "model.layers.*.attn.k.weight",
    "model.layers.*.attn.v.weight",
    "model.layers.*.experts.up",
    "model.layers.*.experts.down",
    "model.layers.*.norm.weight",
    "model.norm.weight",
    "lm_head.weight",
]
STEMS = ("texts", "patterns", "shapes")
BY_HAND = [(stem, cls, hand) for stem in STEMS for cls, hand in table(FOLDER / f"{stem}.py", "HAND").items()]
each = pytest.mark.parametrize(("module", "cls", "hand"), BY_HAND, ids=[f"{m}-{c}" for m, c, _ in BY_HAND])
Records = dict[str, dict[str, list[dict[str, Any]]]]


@pytest.fixture(scope="module")
def project() -> Project:
    return tree_compare.project_of(FOLDER, [])


@pytest.fixture(scope="module")
def truth(torch_python: str, tmp_path_factory: pytest.TempPathFactory) -> Records:
    out = tmp_path_factory.mktemp("truth") / "adapters.json"
    script = Path(__file__).with_name("adapter_truth.py")
    command = [torch_python, str(script), str(out), str(FOLDER), str(ROOT / "benchmarks")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(out.read_text(encoding="utf-8"))


def _adapter(project: Project, module: str, cls: str) -> Adapter:
    entity = project.by_fqn(f"{FOLDER.name}.{module}.{cls}")[0]
    (adapter,) = ModelClass(project, entity, (), ()).adapters
    return adapter


def _sides(key: Key) -> set[tuple[str, ...]]:
    return {image.names for image in key.images}


def _general(name: str) -> str:
    return re.sub(r"(?<![a-zA-Z])\d+", "*", name)


def _really(records: list[dict[str, Any]], direction: str) -> dict[str, set[str]]:
    """What comes out of each name under all configurations, indices as stars."""
    found: dict[str, set[str]] = {}
    for record in records:
        for name, out in record[direction].items():
            found.setdefault(_general(name), set()).update(map(_general, out))
    return found


# -- by hand --------------------------------------------------------------------------------------------------------


@each
def test_every_name_is_decided_as_written_by_hand(project: Project, module: str, cls: str, hand: dict) -> None:
    adapter = _adapter(project, module, cls)
    expected = {name: sorted(hand.get(name, [name])) for name in NATIVE}
    assert {name: sorted(key.all_names) for name, key in adapter.to_hf.keys.items()} == expected
    assert all(key.decided for key in adapter.to_hf.keys.values())
    assert list(adapter.to_hf.invented) == hand.get("", [])


@each
def test_the_hand_has_written_what_really_comes_out(truth: Records, module: str, cls: str, hand: dict) -> None:
    real = _really(truth[module][cls], "to_hf")
    assert real.pop("", set()) == set(hand.get("", []))
    assert real == {name: set(hand.get(name, [name])) for name in NATIVE}


@each
def test_what_goes_one_way_only(project: Project, truth: Records, module: str, cls: str, hand: dict) -> None:
    adapter = _adapter(project, module, cls)
    expected = table(FOLDER / f"{module}.py", "ONE_WAY").get(cls, [])
    assert [key.name for key in adapter.one_way] == expected
    forth, back = (_really(truth[module][cls], direction) for direction in ("to_hf", "from_hf"))
    lost = [n for n in NATIVE if forth[n] and not any(n in back[hf] for hf in forth[n])]
    assert lost == expected, "really"


@each
def test_the_way_back_is_the_real_one(project: Project, truth: Records, module: str, cls: str, hand: dict) -> None:
    found = _adapter(project, module, cls).from_hf
    real = _really(truth[module][cls], "from_hf")
    real.pop("", None)
    assert {name: set(key.all_names) for name, key in found.keys.items()} == real
    assert all(key.followed for key in found.keys.values())


def test_a_tensor_by_itself_may_become_another(project: Project) -> None:
    adapter = _adapter(project, "shapes", "Single")
    assert adapter.singly is not None and all(key.decided for key in adapter.singly.keys.values())
    for name, names in table(FOLDER / "shapes.py", "HAND_SINGLY").items():
        assert list(adapter.singly.keys[name].all_names) == names
    assert list(adapter.to_hf.keys["lm_head.weight"].all_names) == ["x.head.weight"]
    assert _adapter(project, "shapes", "Fused").singly is None


def test_other_names_are_followed_as_well(project: Project) -> None:
    names = [f"base.model.layers.*.attn.{part}.lora_A.weight" for part in "qk"]
    found = _adapter(project, "texts", "Tables").follow("to_hf", names)
    assert {name: key.all_names for name, key in found.keys.items()} == {
        names[0]: ("base.model.layers.*.attention.query.lora_A.weight",),
        names[1]: ("base.model.layers.*.attention.key.lora_A.weight",),
    }


def test_what_a_model_loses_on_the_way(project: Project) -> None:
    entity = project.by_fqn(f"{FOLDER.name}.texts.Tables")[0]
    lost = one_way(ModelClass(project, entity, (), ()))
    assert [(adapter.name, key.name) for adapter, key in lost] == [
        ("TablesAdapter", "model.norm.weight"),
        ("TablesAdapter", "lm_head.weight"),
    ]


def test_a_new_name_has_a_place(project: Project) -> None:
    keys = _adapter(project, "shapes", "Grouped").to_hf.keys
    lines = (FOLDER / "shapes.py").read_text(encoding="utf-8").splitlines()
    place = keys["model.layers.*.experts.up"].place
    assert place is not None and "{start}{index}.{which}" in lines[place.line - 1]
    assert keys["lm_head.weight"].place is None, "it stays as it is"


def test_adapters_inside_an_adapter_are_known(project: Project) -> None:
    adapter = _adapter(project, "shapes", "Inner")
    assert [cls.name for cls in adapter.classes] == ["InnerAdapter", "GroupedAdapter"]
    assert adapter.method("convert", adapter.classes[1]) is not None
    assert adapter.method("no_such") is None


# -- what is open ---------------------------------------------------------------------------------------------------


def test_a_config_gives_each_name_two_sides(project: Project, truth: Records) -> None:
    adapter = _adapter(project, "open", "Nested")
    for name, key in adapter.to_hf.keys.items():
        assert key.followed and not key.decided
        assert _sides(key) == {(name,), (f"language.{name}",)}
        conditions = {image.names: [str(c) for c in image.conditions] for image in key.images}
        assert conditions == {(name,): ["not (config.nested)"], (f"language.{name}",): ["config.nested"]}
    assert adapter.one_way == [], "both directions are followed on the same side"
    real = {r["fields"].get("nested", True): r["to_hf"]["lm_head.weight"] for r in truth["open"]["Nested"]}
    assert real == {True: ["language.lm_head.weight"], False: ["lm_head.weight"]}


def test_one_layer_in_particular_is_open(project: Project, truth: Records) -> None:
    keys = _adapter(project, "open", "First").to_hf.keys
    norm = keys["model.layers.*.norm.weight"]
    assert _sides(norm) == {("model.layers.*.norm.weight",), ("model.layers.*.first_norm.weight",)}
    assert all(key.decided for name, key in keys.items() if "layers" not in name or "norm" not in name)
    assert _really(truth["open"]["First"], "to_hf")[norm.name] == {n for side in _sides(norm) for n in side}


@pytest.mark.parametrize("cls", ["Stored", "Hostile"])
def test_what_cannot_be_followed_is_not_decided(project: Project, cls: str) -> None:
    keys = _adapter(project, "open", cls).to_hf.keys
    for name, key in keys.items():
        assert key.decided is (".attn." not in name), name
    assert {key.reason for key in keys.values()} == {None, "a name that comes out of it cannot be told"}


def test_a_tensor_whose_name_another_one_takes_is_not_decided(project: Project, truth: Records) -> None:
    keys = _adapter(project, "open", "Colliding").to_hf.keys
    q, k = (keys[f"model.layers.*.attn.{part}.weight"] for part in "qk")
    assert q.reason == "another tensor takes the name that comes out of it"
    assert k.decided and k.all_names == ("model.layers.*.attn.qk.weight",)
    real = _really(truth["open"]["Colliding"], "to_hf")
    assert (real[q.name], real[k.name]) == (set(), {"model.layers.*.attn.qk.weight"})


def test_a_module_that_saves_itself_hides_its_tensors(project: Project, truth: Records) -> None:
    assert list(_adapter(project, "open", "Virtual").natives) == NATIVE
    assert _really(truth["open"]["Virtual"], "to_hf").keys() == {*NATIVE, "extra.total"}


def test_an_adapter_under_a_condition(project: Project, truth: Records) -> None:
    adapter = _adapter(project, "open", "Sometimes")
    assert [str(c) for c in adapter.conditions] == ["config.nested"]
    assert [r["adapter"] for r in truth["open"]["Sometimes"]] == ["NestedAdapter", "NestedAdapter", None]


def test_a_model_without_an_adapter_has_none(project: Project) -> None:
    entity = project.by_fqn(f"{FOLDER.name}.body.Model")[0]
    assert ModelClass(project, entity, (), ()).adapters == ()
