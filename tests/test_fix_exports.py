"""Repairs of registrations, exports and bases (NAM102, NAM105, NAM106, NAM110, NAM601) beyond pages and mutations."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from automodel_lint.domain.importing import ImportGraph, can_import
from automodel_lint.fixes.repairing import Outcome, repaired
from automodel_lint.inference.names import Names
from automodel_lint.request import Request
from automodel_lint.source import SourceTree

from .clean_example import clean, edited, lay
from .mutations import REGISTRY, Edit, model, package, write
from .mutations.experts import SPRUCE, SPRUCE_CLASS
from .mutations.exports import FIR, FIR_CLASS, FIR_EXPORT, FIR_IMPORT, M
from .mutations.registry import FIR_ENTRY

FIR_PACKAGE = package("fir")
WILLOW = model("willow")
WILLOW_EXPORT = "ModelClass = [WillowBidirectionalModel, WillowForSequenceClassification]\n"
CONFIG_IMPORT = f"from {M}.fir.config import FirConfig\n"


def _outcome(folder: Path, *edits: Edit, unsafe: bool = True) -> tuple[Path, Outcome]:
    root = lay(folder / "checkout", edited(clean(), edits))
    return root, repaired(Request(paths=[str(root)], select=["NAM"], ignore=["NAM803"], cache=False), unsafe=unsafe)


def _text(root: Path, outcome: Outcome, path: str) -> str:
    """The text of a file after the repairs."""
    new = outcome.files.get(str(root / path))
    return new[1].decode() if new else (root / path).read_text(encoding="utf-8")


def _is_left(outcome: Outcome, code: str) -> bool:
    return not outcome.files and [f.code for f in outcome.report.findings] == [code]


# -- NAM102 ---------------------------------------------------------------------------------------------------------

WRONG = f'("{M}.fir.model", "FirForCasualLM")'
ENTRIES = {
    "list": f'        ["FirForCausalLM", ["{M}.fir.model", "FirForCasualLM", {{"x"}}]],\n',
    "single-quotes": f"        ('FirForCausalLM', ('{M}.fir.model', 'FirForCasualLM')),\n",
    "lines": f'        (\n            "FirForCausalLM",\n            {WRONG},  # why\n        ),\n',
}
LATER = {
    "subscript": f'MODEL_ARCH_MAPPING["FirTwo"] = {WRONG}\n',
    "setdefault": f'MODEL_ARCH_MAPPING.setdefault("FirTwo", {WRONG})\n',
    "keyword": f"MODEL_ARCH_MAPPING.update(FirTwo={WRONG})\n",
    "merged": f'MODEL_ARCH_MAPPING |= {{"FirTwo": {WRONG}}}\n',
}


@pytest.mark.parametrize("entry", [*ENTRIES.values(), *LATER.values()], ids=[*ENTRIES, *LATER])
def test_only_the_name_of_the_class_is_replaced(entry: str, tmp_path: Path) -> None:
    table = "# ``model_type`` of a config.json -> (module, configuration class).\n"
    edit = Edit(REGISTRY, FIR_ENTRY, entry) if entry in ENTRIES.values() else Edit(REGISTRY, table, f"{entry}\n{table}")
    root, outcome = _outcome(tmp_path, edit)
    expected = edited(clean(), (edit,))[REGISTRY].replace("FirForCasualLM", "FirForCausalLM")
    assert _text(root, outcome, REGISTRY) == expected and not outcome.report.findings


def test_an_entry_that_does_not_spell_the_class_is_left(tmp_path: Path) -> None:
    kept = f"_FIR = {WRONG}\nMODEL_ARCH_MAPPING = "
    edits = Edit(REGISTRY, "MODEL_ARCH_MAPPING = ", kept), Edit(REGISTRY, FIR_ENTRY, '        ("FirTwo", _FIR),\n')
    _, outcome = _outcome(tmp_path, *edits)
    assert not outcome.files and "NAM102" in [f.code for f in outcome.report.findings]


def test_an_entry_point_is_repaired_in_the_settings(tmp_path: Path) -> None:
    head = '# ours\n[project]\nname = "oakwood"\n\n[project.entry-points."nemo_automodel.architectures"]\n'
    code = "import torch.nn as nn\n\n\nclass OakModel(nn.Module):\n    pass\n\n\nModelClass = OakModel\n"
    settings = f'{head}OakModel = "oakwood.model:OakModle"  # here\n'
    root = lay(tmp_path, {"pyproject.toml": settings, "oakwood/__init__.py": "", "oakwood/model.py": code})
    outcome = repaired(Request(paths=[str(root)], select=["NAM102"], cache=False), unsafe=True)
    assert _text(root, outcome, "pyproject.toml") == settings.replace("OakModle", "OakModel")


# -- NAM105 ---------------------------------------------------------------------------------------------------------


def test_all_registered_classes_are_exported(tmp_path: Path) -> None:
    root, outcome = _outcome(tmp_path, Edit(WILLOW, WILLOW_EXPORT, ""))
    assert _text(root, outcome, WILLOW) == clean()[WILLOW] and not outcome.report.findings


NOT_EXPORTED = {
    "either": (Edit(FIR, FIR_EXPORT, "ModelClass = FirModel if torch.cuda.is_available() else FirDecoderLayer\n"),),
    "above-the-class": (
        Edit(FIR, FIR_EXPORT, ""),
        Edit(FIR, "\n\nclass FirModel(", "\n\nModelClass = None\n\n\nclass FirModel("),
    ),
    "two-names": (Edit(FIR, FIR_EXPORT, "ModelClass = Backbone = FirModel\n"),),
    "annotated-as-the-other": (Edit(FIR, FIR_EXPORT, "ModelClass: type[FirModel] = FirModel\n"),),
    "branches": (
        Edit(
            FIR, FIR_EXPORT, "ModelClass = FirModel\nif torch.cuda.is_available():\n    ModelClass = FirDecoderLayer\n"
        ),
    ),
}


@pytest.mark.parametrize("edits", NOT_EXPORTED.values(), ids=NOT_EXPORTED)
def test_an_export_that_may_mean_more_is_left(edits: tuple[Edit, ...], tmp_path: Path) -> None:
    _, outcome = _outcome(tmp_path, *edits)
    assert _is_left(outcome, "NAM105")


# -- NAM106 ---------------------------------------------------------------------------------------------------------

LICENCE = "# Copyright.\n#\n# A licence.\n"
LAZY = (
    "import importlib\n\n_LAZY = {{\n    {}\n}}\n\n\n"
    "def __getattr__(name):\n    return getattr(importlib.import_module(_LAZY[name]), name)\n"
)
WIDE = [f'"fir_constant_number_{n}"' for n in range(1, 5)]
REEXPORTED = {
    "no-bytes": ("", f'{FIR_IMPORT}\n__all__ = ["FirForCausalLM"]\n'),
    "licence": (LICENCE, f'{LICENCE}\n{FIR_IMPORT}\n__all__ = ["FirForCausalLM"]\n'),
    "no-line-end": ('"""Fir."""', f'"""Fir."""\n\n{FIR_IMPORT}\n__all__ = ["FirForCausalLM"]\n'),
    "windows": (
        LICENCE.replace("\n", "\r\n"),
        f'{LICENCE}\n{FIR_IMPORT}\n__all__ = ["FirForCausalLM"]\n'.replace("\n", "\r\n"),
    ),
    "relative": (
        "from .config import FirConfig\n\n__all__ = ['FirConfig']\n",
        "from .config import FirConfig\nfrom .model import FirForCausalLM\n\n"
        "__all__ = ['FirConfig', 'FirForCausalLM']\n",
    ),
    "no-all": (CONFIG_IMPORT, CONFIG_IMPORT + FIR_IMPORT),
    "in-order": (
        f'{FIR_IMPORT}\n__all__ = [\n    "FirConfig",  # one\n    # two\n    "helper",\n]\n',
        f'{FIR_IMPORT}\n__all__ = [\n    "FirConfig",  # one\n    "FirForCausalLM",\n    # two\n    "helper",\n]\n',
    ),
    "in-no-order": (
        f"{FIR_IMPORT}\n__all__ = ('model', 'config')\n",
        f"{FIR_IMPORT}\n__all__ = ('model', 'config', 'FirForCausalLM')\n",
    ),
    "added-later": (
        f'{FIR_IMPORT}\n__all__ = ["FirConfig"]\n__all__ += ["config"]\n',
        f'{FIR_IMPORT}\n__all__ = ["FirConfig"]\n__all__ += ["FirForCausalLM", "config"]\n',
    ),
    "too-wide": (
        f"{FIR_IMPORT}\n__all__ = [{', '.join(WIDE)}]\n",
        f'{FIR_IMPORT}\n__all__ = [\n    "FirForCausalLM",\n' + "".join(f"    {w},\n" for w in WIDE) + "]\n",
    ),
    "computed-all": (
        f"{CONFIG_IMPORT}\n__all__ = sorted(globals())\n",
        f"{CONFIG_IMPORT}{FIR_IMPORT}\n__all__ = sorted(globals())\n",
    ),
    "lazy-in-full": (
        LAZY.format(f'"FirConfig": "{M}.fir.config",'),
        LAZY.format(f'"FirConfig": "{M}.fir.config",\n    "FirForCausalLM": "{M}.fir.model",'),
    ),
}


@pytest.mark.parametrize(("old", "new"), REEXPORTED.values(), ids=REEXPORTED)
def test_a_class_is_reexported_in_the_style_of_the_package(old: str, new: str, tmp_path: Path) -> None:
    root, outcome = _outcome(tmp_path, write(FIR_PACKAGE, old))
    assert outcome.files[str(root / FIR_PACKAGE)][1].decode() == new and not outcome.report.findings


SAFELY = f'from {M}.fir.shared import safe_import_from\n\nFirModel = safe_import_from("{M}.fir.model", "FirModel")\n'
NEEDS_MORE = (
    write(FIR_PACKAGE, ""),
    Edit(FIR, "import torch.nn as nn\n", "import einops\nimport torch.nn as nn\n"),
)
NOT_REEXPORTED = {
    "on-purpose-in-a-branch": (
        write(FIR_PACKAGE, f"try:\n    from {M}.fir.model import FirModel\nexcept ImportError:\n    FirModel = None\n"),
    ),
    "safe-import": (write(FIR_PACKAGE, SAFELY),),
    "another-use-of-the-name": (
        write(FIR_PACKAGE, f"from {M}.larch.model import LarchForCausalLM as FirForCausalLM\n"),
    ),
    "lazy-without-a-table": (
        write(FIR_PACKAGE, '__all__ = ["FirConfig"]\n\n\ndef __getattr__(name):\n    raise AttributeError(name)\n'),
    ),
    "lazy-table-of-two-forms": (
        write(FIR_PACKAGE, LAZY.format(f'"FirConfig": "{M}.fir.config", "Attention": ".model"')),
    ),
    "one-more-library": NEEDS_MORE,
}


@pytest.mark.parametrize("edits", NOT_REEXPORTED.values(), ids=NOT_REEXPORTED)
def test_a_package_that_cannot_be_told_is_left(edits: tuple[Edit, ...], tmp_path: Path) -> None:
    _, outcome = _outcome(tmp_path, *edits)
    assert _is_left(outcome, "NAM106")


# What stands in ``m/shared.py`` and in the packages ``m/a`` and ``m/b``; whether ``m/a`` may import ``m.a.model.A``.
SHARED = "from m.shared import f\nclass A: pass"
PROGRAMS = {
    "straight": ({"a/model": "from m.a.config import X\nclass A: pass", "a/config": "X = 1"}, True),
    "name-of-the-package": ({"a/__init__": "X = 1", "a/model": "from m.a import X\nclass A: pass"}, False),
    "circle": ({"a/model": SHARED, "a/part": "", "shared": "import m.a.part\nf = 1"}, False),
    "circle-without-names": ({"a/model": "import m.shared\nclass A: pass", "shared": "import m.a"}, True),
    "circle-when-called": ({"a/model": SHARED, "shared": "def f():\n    import m.a"}, True),
    "name-before-the-circle": ({"a/model": SHARED, "a/part": "", "shared": "f = 1\nimport m.a.part"}, True),
    "for-readers": ({"a/model": SHARED, "shared": "TYPE_CHECKING = 0\nif TYPE_CHECKING:\n    import m.a\nf = 1"}, True),
    "circle-of-packages": (
        {
            "a/model": "from m.b.part import f\nclass A: pass",
            "a/part": "g = 1",
            "b/part": "f = 1",
            "b/model": "from m.a.part import g\nclass B: pass",
        },
        True,
    ),
    "circle-of-models": (
        {
            "a/model": "from m.b.part import f\nclass A: pass",
            "b/part": "f = 1",
            "b/model": "from m.a.model import A\nclass B: pass",
        },
        False,
    ),
}
REGISTERED = {"a": ("m.a.model", "A"), "b": ("m.b.model", "B")}


@pytest.mark.parametrize(("modules", "can"), PROGRAMS.values(), ids=PROGRAMS)
def test_what_python_says_of_the_import(modules: dict[str, str], can: bool, tmp_path: Path) -> None:
    """The verdict is that of really importing every module first, once all packages import their classes at the top."""
    files = {"m/__init__.py": "", "m/a/__init__.py": "", "m/b/__init__.py": ""}
    files |= {f"m/{name}.py": text for name, text in modules.items()}
    root = lay(tmp_path, files)
    names = Names(SourceTree(str(root)), [str(root)], [])
    there = [pair for name, pair in REGISTERED.items() if f"{name}/model" in modules]
    first, source = names.module("m.a"), names.module("m.a.model")
    assert first is not None and source is not None
    assert can_import(ImportGraph(names), first, source, there) == can
    for module, cls in there:
        path = root / Path(*module.split(".")[:-1]) / "__init__.py"
        path.write_text(f"from {module} import {cls}\n{path.read_text()}")
    entries = [name[:-3].replace("/", ".").removesuffix(".__init__") for name in files]
    done = [subprocess.run([sys.executable, "-c", f"import {e}"], cwd=root, capture_output=True) for e in entries]
    assert all(d.returncode == 0 for d in done) == can


# -- NAM110 and NAM601 ----------------------------------------------------------------------------------------------


def test_a_mixin_that_replaces_the_saving_of_a_library_is_unsafe(tmp_path: Path) -> None:
    edits = (
        Edit(FIR, "import torch.nn as nn\n", "import torch.nn as nn\nfrom transformers import PreTrainedModel\n"),
        Edit(FIR, FIR_CLASS, "class FirForCausalLM(PreTrainedModel):\n"),
    )
    _, outcome = _outcome(tmp_path, *edits, unsafe=False)
    (finding,) = [f for f in outcome.report.findings if f.code == "NAM110"]
    assert finding.repair is not None and finding.repair.unsafe and "NAM110" not in [f.code for f in outcome.fixed]


def test_an_order_of_bases_that_python_refuses_is_left(tmp_path: Path) -> None:
    base = "class FirBase(HFCheckpointingMixin, nn.Module):\n    pass\n\n\n"
    base += "class FirSaver:\n    def save_pretrained(self, path):\n        raise NotImplementedError\n\n\n"
    edit = Edit(FIR, FIR_CLASS, f"{base}class FirForCausalLM(FirSaver, FirBase, HFCheckpointingMixin):\n")
    _, outcome = _outcome(tmp_path, edit)
    assert _is_left(outcome, "NAM110")


BASES = {
    "class SpruceForCausalLM(HFCheckpointingMixin, nn.Module, metaclass=type):\n": (
        "class SpruceForCausalLM(HFCheckpointingMixin, nn.Module, MoEFSDPSyncMixin, metaclass=type):\n"
    ),
    "class SpruceForCausalLM(\n    HFCheckpointingMixin,\n    nn.Module,  # last\n):\n": (
        "class SpruceForCausalLM(\n    HFCheckpointingMixin,\n    nn.Module,  # last\n    MoEFSDPSyncMixin,\n):\n"
    ),
    "class SpruceForCausalLM(HFCheckpointingMixin, nn.Module):  # " + "x" * 50 + "\n": (
        "class SpruceForCausalLM(\n    HFCheckpointingMixin, nn.Module, MoEFSDPSyncMixin\n):  # " + "x" * 50 + "\n"
    ),
    "class SpruceForCausalLM(HFCheckpointingMixin, nn.Module, object):\n": None,
    "class SpruceForCausalLM(HFCheckpointingMixin, *(nn.Module,)):\n": None,
}


@pytest.mark.parametrize(("old", "new"), BASES.items())
def test_the_mixin_is_the_last_base(old: str, new: str | None, tmp_path: Path) -> None:
    root, outcome = _outcome(tmp_path, Edit(SPRUCE, SPRUCE_CLASS, old))
    assert (new or old) in _text(root, outcome, SPRUCE)
    assert bool(outcome.report.findings) == (new is None and "*" not in old)
