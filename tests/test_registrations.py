"""Every form of registration, and every kind of checkout, gives the class to the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from automodel_lint.findings import Finding
from automodel_lint.session import Request, Session

# A head without a policy: one registered class shows itself by exactly NAM201 and NAM203 (and what the form adds).
MODEL = """
import torch.nn as nn
from nemo_automodel.components.models.common.hf_checkpointing_mixin import HFCheckpointingMixin


class OakForCausalLM(HFCheckpointingMixin, nn.Module):
    class ModelCapabilities:
        supports_tp = supports_cp = supports_pp = supports_ep = False

    def __init__(self, config):
        super().__init__()
        self.lm_head = nn.Linear(4, 8)

    def initialize_weights(self, buffer_device=None, dtype=None):
        nn.init.zeros_(self.lm_head.weight)


ModelClass = OakForCausalLM
"""
OAK = "nemo_automodel.components.models.oak.model"
HEADER = "from collections import OrderedDict\nfrom typing import Dict\n"
PAIR = f'("{OAK}", "OakForCausalLM")'


def _checkout(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def _lint(root: Path, **request) -> list[Finding]:
    return Session(Request(paths=[str(root)], select=["NAM"], cache=False, **request)).run().findings


def _framework(registry: str, **more: str) -> dict[str, str]:
    return {
        "nemo_automodel/__init__.py": "",
        "nemo_automodel/_transformers/registry.py": HEADER + registry,
        "nemo_automodel/components/models/oak/__init__.py": "from .model import OakForCausalLM\n",
        "nemo_automodel/components/models/oak/model.py": MODEL,
        **more,
    }


REGISTRIES = {
    "ordered dict of pairs": f"MODEL_ARCH_MAPPING = OrderedDict([('Oak', {PAIR})])\n",
    "ordered dict of a dict": f"MODEL_ARCH_MAPPING = OrderedDict({{'Oak': {PAIR}}})\n",
    "dict": f"MODEL_ARCH_MAPPING = {{'Oak': {PAIR}}}\n",
    "dict call": f"MODEL_ARCH_MAPPING = dict(Oak={PAIR})\n",
    "annotated": f"MODEL_ARCH_MAPPING: Dict[str, tuple] = {{'Oak': {PAIR}}}\n",
    "with tags": f"MODEL_ARCH_MAPPING = {{'Oak': ('{OAK}', 'OakForCausalLM', {{'retrieval'}})}}\n",
    "later item": f"MODEL_ARCH_MAPPING = {{}}\nMODEL_ARCH_MAPPING['Oak'] = {PAIR}\n",
    "update": f"MODEL_ARCH_MAPPING = {{}}\nMODEL_ARCH_MAPPING.update({{'Oak': {PAIR}}})\n",
    "update with words": f"MODEL_ARCH_MAPPING = {{}}\nMODEL_ARCH_MAPPING.update(Oak={PAIR})\n",
    "merge": f"MORE = {{'Oak': {PAIR}}}\nMODEL_ARCH_MAPPING = {{}}\nMODEL_ARCH_MAPPING |= MORE\n",
    "spread": f"MORE = {{'Oak': {PAIR}}}\nMODEL_ARCH_MAPPING = {{**MORE}}\n",
    "sum of lists": f"A = [('Oak', {PAIR})]\nMODEL_ARCH_MAPPING = OrderedDict(A + [])\n",
    "starred": f"A = [('Oak', {PAIR})]\nMODEL_ARCH_MAPPING = OrderedDict([*A])\n",
    "in a branch": f"MODEL_ARCH_MAPPING = {{}}\nif MODEL_ARCH_MAPPING is not None:\n    MODEL_ARCH_MAPPING['Oak'] = {PAIR}\n",
    "f-string": "P = 'nemo_automodel.components.models'\nMODEL_ARCH_MAPPING = {'Oak': (f'{P}.oak.model', 'OakForCausalLM')}\n",
    "concatenation": "P = 'nemo_automodel.components.'\nMODEL_ARCH_MAPPING = {'Oak': (P + 'models.oak.model', 'OakForCausalLM')}\n",
}


@pytest.mark.parametrize("form", REGISTRIES)
def test_static_mappings(tmp_path: Path, form: str):
    findings = _lint(_checkout(tmp_path, _framework(REGISTRIES[form])))
    assert sorted(f.code for f in findings) == ["NAM201", "NAM203", "NAM303"], findings
    assert {f.architectures for f in findings} == {("Oak",)}


@pytest.mark.parametrize(
    "call",
    [
        "from nemo_automodel._transformers.registry import register_architecture\nregister_architecture('Oak', OakForCausalLM)\n",
        "from nemo_automodel._transformers.registry import register_architecture as reg\nreg(arch_name='Oak', model_cls=OakForCausalLM)\n",
        "from nemo_automodel._transformers.registry import ModelRegistry\nModelRegistry.register('Oak', OakForCausalLM)\n",
        "from nemo_automodel._transformers import registry\nregistry.ModelRegistry.register('Oak', OakForCausalLM, exist_ok=True)\n",
        "from nemo_automodel._transformers.registry import ModelRegistry\ndef plug():\n    ModelRegistry.register('Oak', OakForCausalLM)\nplug()\n",
    ],
)
def test_registering_calls(tmp_path: Path, call: str):
    registry = (
        "MODEL_ARCH_MAPPING = {}\ndef register_architecture(arch_name, model_cls): ...\nModelRegistry = object()\n"
    )
    text = f"from nemo_automodel.components.models.oak.model import OakForCausalLM\n{call}"
    files = _framework(registry, **{"nemo_automodel/plugins.py": text})
    findings = _lint(_checkout(tmp_path, files))
    assert sorted(f.code for f in findings) == ["NAM201", "NAM203", "NAM303"], findings
    assert {f.architectures for f in findings} == {("Oak",)}


def test_one_class_under_several_names_is_linted_once(tmp_path: Path):
    findings = _lint(_checkout(tmp_path, _framework(f"MODEL_ARCH_MAPPING = {{'Oak': {PAIR}, 'Quercus': {PAIR}}}\n")))
    assert sorted(f.code for f in findings) == ["NAM201", "NAM203", "NAM303"]
    assert {f.architectures for f in findings} == {("Oak", "Quercus")}


def test_two_classes_of_one_name_are_two(tmp_path: Path):
    other = OAK.replace("oak", "elm")
    files = _framework(
        f"MODEL_ARCH_MAPPING = {{'Oak': {PAIR}, 'Elm': ('{other}', 'OakForCausalLM')}}\n",
        **{
            "nemo_automodel/components/models/elm/__init__.py": "from .model import OakForCausalLM\n",
            "nemo_automodel/components/models/elm/model.py": MODEL,
        },
    )
    assert sorted(f.code for f in _lint(_checkout(tmp_path, files))) == ["NAM201"] * 2 + ["NAM203"] * 2 + ["NAM303"] * 2


@pytest.mark.parametrize("layout", ["", "src/"])
@pytest.mark.parametrize(
    "table",
    ['[project.entry-points."nemo_automodel.architectures"]\nOak = "oakwood.model:OakForCausalLM"\n'],
)
def test_a_plug_in_package(tmp_path: Path, layout: str, table: str):
    files = {
        "pyproject.toml": '[project]\nname = "oakwood"\n\n' + table,
        f"{layout}oakwood/__init__.py": "",
        f"{layout}oakwood/model.py": MODEL,
    }
    root = _checkout(tmp_path, files)
    findings = _lint(root)
    assert sorted(f.code for f in findings) == ["NAM201", "NAM203", "NAM303"], findings
    assert {f.path for f in findings} == {f"{layout}oakwood/model.py"}
    (root / "pyproject.toml").write_text(files["pyproject.toml"].replace("OakForCausalLM", "OakForCausalLN"))
    broken = _lint(root)
    (missing,) = [f for f in broken if f.code == "NAM102"]
    assert (missing.path, missing.span.line) == ("pyproject.toml", 5)
    assert "did you mean `OakForCausalLM`" in missing.message


def test_an_installed_plug_in(tmp_path: Path, cli):
    site = _checkout(
        tmp_path / "site",
        {
            "oakwood/__init__.py": "",
            "oakwood/model.py": MODEL,
            "oakwood-1.0.dist-info/entry_points.txt": "[nemo_automodel.architectures]\nOak = oakwood.model:OakForCausalLM\n",
        },
    )
    import sys

    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={site} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    done = cli("check", "--installed", "oakwood", "--python", python, "--output-format", "concise", "--no-cache")
    assert sorted(line.split()[1] for line in done.stdout.splitlines()) == ["NAM201", "NAM203", "NAM303"]


def test_a_checkout_with_exports_only(tmp_path: Path):
    files = _framework("def discover(): ...\n")
    findings = _lint(_checkout(tmp_path, files))
    assert sorted(f.code for f in findings) == ["NAM201", "NAM203", "NAM303"]
    unexported = MODEL.replace("ModelClass = OakForCausalLM\n", "")
    (tmp_path / "nemo_automodel/components/models/oak/model.py").write_text(unexported)
    assert [(f.code, f.symbol) for f in _lint(tmp_path)] == [("NAM105", "OakForCausalLM")]


def test_what_is_registered_elsewhere_is_left_alone(tmp_path: Path):
    """Values that only a run knows, classes of libraries, stand-ins: nothing is claimed about them."""
    registry = (
        "import os\nfrom transformers import LlamaForCausalLM\n"
        "MODEL_ARCH_MAPPING = {'A': make(), os.environ['X']: ('m', 'C'), 'L': ('transformers', 'LlamaForCausalLM'),"
        f"'S': ('{OAK}', 'Missing')}}\n"
    )
    files = _framework(registry)
    files["nemo_automodel/components/models/oak/model.py"] = (
        "class Missing:\n    def __init__(self, *args):\n        raise ImportError('needs a library')\n"
    )
    assert _lint(_checkout(tmp_path, files)) == []


def test_paths_in_several_checkouts_and_outside_any(tmp_path: Path, cli):
    for name in ("one", "two"):
        _checkout(tmp_path / name, _framework(f"MODEL_ARCH_MAPPING = {{'Oak': {PAIR}}}\n"))
    (tmp_path / "setup.py").write_text("x = 1\n")
    model = "nemo_automodel/components/models/oak/model.py"
    both = cli("check", f"one/{model}", f"two/{model}", "--output-format", "concise", "--no-cache", cwd=tmp_path)
    assert {line.split("/")[0] for line in both.stdout.splitlines()} == {"one", "two"}
    assert len(both.stdout.splitlines()) == 6
    mixed = cli("check", "setup.py", f"one/{model}", "--no-cache", cwd=tmp_path)
    assert mixed.returncode == 2
    hook = cli(
        "check", "--force-exclude", "setup.py", f"one/{model}", "--output-format", "concise", "--no-cache", cwd=tmp_path
    )
    assert len(hook.stdout.splitlines()) == 3
    alone = cli("check", "--force-exclude", "setup.py", "--no-cache", cwd=tmp_path)
    assert (alone.returncode, alone.stdout, alone.stderr) == (0, "", "")


BASED = """
import torch.nn as nn
from nemo_automodel.components.models.common.hf_checkpointing_mixin import HFCheckpointingMixin
from nemo_automodel.components.models.common.tie_word_embeddings import TieSupport
from somewhere import made


class Based(HFCheckpointingMixin, nn.Module):
    tie_word_embeddings_support = TieSupport.BOTH
    _tied_weights_keys = {"lm_head.weight": "embed.weight"}

    def tie_weights(self, *args, **kwargs):
        self.lm_head.weight = self.embed.weight

    def initialize_weights(self, buffer_device=None, dtype=None):
        nn.init.zeros_(self.embed.weight)


class OakForCausalLM(BASES):
    get_capabilities = made()

    def __init__(self, config):
        super().__init__()
        self.embed, self.lm_head = nn.Embedding(8, 4), nn.Linear(4, 8)


ModelClass = OakForCausalLM
"""


@pytest.mark.parametrize(
    ("bases", "codes"),
    [
        ("Based", ["NAM203", "NAM208", "NAM209", "NAM213"]),
        ("made(), Based", []),
        ("Based, made()", ["NAM208", "NAM209", "NAM213"]),
    ],
    ids=["known", "unknown first", "unknown last"],
)
def test_an_unknown_base_may_supply_what_comes_behind_it(tmp_path: Path, bases: str, codes: list[str]):
    """What an unknown base may bring (a policy, a guard, ``tie_weights``) is neither missed nor judged."""
    files = _framework(f"MODEL_ARCH_MAPPING = {{'Oak': {PAIR}}}\n")
    files["nemo_automodel/components/models/oak/model.py"] = BASED.replace("BASES", bases)
    assert sorted(f.code for f in _lint(_checkout(tmp_path, files))) == codes


@pytest.mark.parametrize(("bases", "codes"), [("Based", ["NAM203", "NAM209", "NAM213"]), ("made(), Based", ["NAM209"])])
def test_an_unknown_base_may_bring_the_method_that_runs(tmp_path: Path, bases: str, codes: list[str]):
    files = _framework(f"MODEL_ARCH_MAPPING = {{'Oak': {PAIR}}}\n")
    own = '    tie_word_embeddings_support = TieSupport.BOTH\n    _tied_weights_keys = {"lm_head.weight": "embed.weight"}\n'
    text = BASED.replace("BASES", bases).replace("    get_capabilities", own + "    get_capabilities")
    files["nemo_automodel/components/models/oak/model.py"] = text
    assert sorted(f.code for f in _lint(_checkout(tmp_path, files))) == codes
