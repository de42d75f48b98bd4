"""NAM105-NAM107, NAM109, NAM110: what a module exports, what its package re-exports, what a class derives from."""

from __future__ import annotations

from . import BASE, PACKAGE, REGISTRY, Edit, Fault, Place, model, package, write

M = "acme_automodel.components.models"
FIR, JUNIPER, LARCH, WILLOW = model("fir"), model("juniper"), model("larch"), model("willow")
FIR_EXPORT = "ModelClass = FirForCausalLM\n"
FIR_CLASS = "class FirForCausalLM(HFCheckpointingMixin, nn.Module):\n"
FIR_IMPORT = f"from {M}.fir.model import FirForCausalLM\n"
FIR_ALL = '__all__ = ["FirConfig", "FirForCausalLM"]\n'
CONFIG_IMPORT = f"from {M}.fir.config import FirConfig\n"
FIR_ENTRY = f'        ("FirForCausalLM", ("{M}.fir.model", "FirForCausalLM")),\n'
JUNIPER_ENTRY = f'        ("JuniperForCausalLM", ("{M}.juniper.model", "JuniperForCausalLM")),\n'


def _fir_package(*lines: str) -> Edit:
    return write(package("fir"), '"""Fir: a dense decoder."""\n\n' + "\n".join(lines) + "\n")


def _before_fir(text: str, bases: str) -> Edit:
    return Edit(FIR, FIR_CLASS, f"{text}\n\n\nclass FirForCausalLM({bases}):\n")


MODEL_CLASS = [
    Fault("NAM105", "no-export", (Edit(FIR, FIR_EXPORT, ""),), at="class FirForCausalLM("),
    Fault(
        "NAM105", "the-decoder-in-its-place", (Edit(FIR, FIR_EXPORT, "ModelClass: type = FirModel\n"),), at="ModelClass"
    ),
    Fault(
        "NAM105",
        "list-of-others",
        (Edit(FIR, FIR_EXPORT, "ModelClass = [FirModel, FirDecoderLayer]\n"),),
        at="ModelClass",
    ),
    Fault(
        "NAM105",
        "sum-of-others",
        (Edit(FIR, FIR_EXPORT, "ModelClass = (FirModel,) + (FirDecoderLayer,)\n"),),
        at="ModelClass",
    ),
    Fault("NAM105", "misspelled", (Edit(FIR, FIR_EXPORT, "ModelCls = FirForCausalLM\n"),), at="class FirForCausalLM("),
    Fault(
        "NAM105",
        "set-in-a-function",
        (Edit(FIR, FIR_EXPORT, "def _export():\n    ModelClass = FirForCausalLM\n    return ModelClass\n"),),
        at="class FirForCausalLM(",
    ),
    Fault(
        "NAM105",
        "absent-from-the-branch",
        (Edit(JUNIPER, "    ModelClass = JuniperForCausalLM\n", ""),),
        at="class JuniperForCausalLM(H",
    ),
    Fault(
        "NAM105",
        "another-by-a-second-name",
        (Edit(FIR, FIR_EXPORT, "_Exported = FirModel\nModelClass = _Exported\n"),),
        at="ModelClass",
    ),
    Fault(
        "NAM105",
        "for-type-checkers-only",
        (
            Edit(FIR, FIR_EXPORT, f"if TYPE_CHECKING:\n    {FIR_EXPORT}"),
            Edit(FIR, "from typing import Any\n", "from typing import TYPE_CHECKING, Any\n"),
        ),
        at="class FirForCausalLM(",
    ),
    Fault(
        "NAM105", "annotation-without-a-value", (Edit(FIR, FIR_EXPORT, "ModelClass: type[FirForCausalLM]\n"),), at=""
    ),
]

REEXPORT = [
    Fault(
        "NAM106",
        "import-is-gone",
        (Edit(package("fir"), FIR_IMPORT, ""), Edit(package("fir"), FIR_ALL, '__all__ = ["FirConfig"]\n')),
        at="__all__",
    ),
    Fault("NAM106", "empty-package", (_fir_package(),), at='"""Fir: a dense decoder."""'),
    Fault(
        "NAM106",
        "left-out-of-all",
        (Edit(package("fir"), FIR_ALL, '__all__: tuple[str, ...] = ("FirConfig",)\n'),),
        at="__all__",
    ),
    Fault(
        "NAM106",
        "left-out-of-a-sum",
        (Edit(package("fir"), FIR_ALL, '__all__ = ["FirConfig"] + ["tiny_config"]\n'),),
        at="__all__",
    ),
    Fault(
        "NAM106",
        "imported-under-another-name",
        (_fir_package(FIR_IMPORT.replace("import FirForCausalLM", "import FirForCausalLM as _Fir")),),
        at='"""Fir: a dense decoder."""',
    ),
    Fault(
        "NAM106",
        "lazy-table-without-it",
        (
            _fir_package(
                "import importlib",
                "",
                '_LAZY = {"FirConfig": ".config"}',
                "",
                "",
                "def __getattr__(name):",
                "    if name in _LAZY:",
                "        return getattr(importlib.import_module(_LAZY[name], __name__), name)",
                "    raise AttributeError(name)",
            ),
        ),
        at='"""Fir: a dense decoder."""',
    ),
    Fault(
        "NAM106",
        "for-type-checkers-only",
        (_fir_package("from typing import TYPE_CHECKING", "", "if TYPE_CHECKING:", f"    {FIR_IMPORT}"),),
        at='"""Fir: a dense decoder."""',
    ),
    Fault(
        "NAM106",
        "only-the-module",
        (_fir_package(f"from {M}.fir import model", "", '__all__ = ["model"]'),),
        at="__all__",
    ),
]

UNREGISTERED = [
    Fault("NAM107", "entry-is-gone", (Edit(REGISTRY, FIR_ENTRY, ""),), path=FIR, at="class FirForCausalLM("),
    Fault(
        "NAM107",
        "in-an-availability-branch",
        (Edit(REGISTRY, JUNIPER_ENTRY, ""),),
        path=JUNIPER,
        at="class JuniperForCausalLM(H",
    ),
    Fault(
        "NAM107",
        "second-class-of-a-module",
        (
            Edit(
                FIR,
                FIR_EXPORT,
                "class FirForConditionalGeneration(FirForCausalLM, checkpointing.HFCheckpointingMixin):\n"
                '    """Reads speech, too."""\n\n\nModelClass = [FirForCausalLM, FirForConditionalGeneration]\n',
            ),
            Edit(
                FIR,
                "\n\nclass FirDecoderLayer(",
                f"\nimport {M}.common.hf_checkpointing_mixin as checkpointing\n\n\nclass FirDecoderLayer(",
            ),
        ),
        at="class FirForConditionalGeneration(",
    ),
    Fault(
        "NAM107",
        "file-of-its-own",
        (
            write(
                f"{PACKAGE}/components/models/fir/draft.py",
                "import torch.nn as nn\n\n"
                f"from {M}.common.hf_checkpointing_mixin import HFCheckpointingMixin as Mixin\n\n"
                "try:\n    import flash_attn\n\n"
                "    class FirDraftForCausalLM(Mixin, nn.Module):\n        pass\n\n"
                "except ImportError:\n    FirDraftForCausalLM = None\n\n"
                "ModelClass: type = FirDraftForCausalLM\n",
            ),
        ),
        at="class FirDraftForCausalLM(",
    ),
]

FOREIGN = [
    Fault(
        "NAM109",
        "class-of-transformers-beside-our-own",
        (
            Edit(FIR, "import torch.nn as nn\n", "import torch.nn as nn\nfrom transformers import LlamaForCausalLM\n"),
            Edit(FIR, FIR_EXPORT, "ModelClass = [FirForCausalLM, LlamaForCausalLM]\n"),
        ),
        at="ModelClass",
    ),
    Fault(
        "NAM109",
        "class-of-transformers-alone",
        (
            Edit(FIR, "import torch.nn as nn\n", "import torch.nn as nn\nimport transformers as hf\n"),
            Edit(FIR, FIR_EXPORT, "ModelClass = hf.LlamaForCausalLM\n"),
        ),
        at="ModelClass",
        also=(Place("NAM105", FIR, "ModelClass"),),  # it names no registered class of the module, either
    ),
    Fault(
        "NAM109",
        "module-without-a-registration",
        (
            write(
                f"{PACKAGE}/components/models/fir/reference.py",
                "from transformers.models.llama import modeling_llama as llama\n\n_Reference = llama.LlamaForCausalLM\n"
                "ModelClass: type = _Reference\n",
            ),
        ),
        at="ModelClass",
    ),
    Fault(
        "NAM109",
        "imported-as-the-export",
        (
            write(
                f"{PACKAGE}/components/models/fir/reference.py",
                "from transformers import LlamaForCausalLM as ModelClass\n\n__all__ = ['ModelClass']\n",
            ),
        ),
        at="ModelClass",
    ),
    Fault(
        "NAM109",
        "class-of-torch-in-a-tuple",
        (Edit(FIR, FIR_EXPORT, "ModelClass = (FirForCausalLM, *(nn.Linear,))\n"),),
        at="ModelClass",
    ),
]

MIXIN_ORDER = [
    Fault(
        "NAM110", "no-mixin", (Edit(FIR, FIR_CLASS, "class FirForCausalLM(nn.Module):\n"),), at="class FirForCausalLM("
    ),
    Fault(
        "NAM110",
        "saver-ahead",
        (
            _before_fir(
                "class FirSaver:\n    def save_pretrained(self, folder):\n        raise NotImplementedError",
                "FirSaver, HFCheckpointingMixin, nn.Module",
            ),
        ),
        at="class FirForCausalLM(",
    ),
    Fault(
        "NAM110",
        "loader-two-levels-up",
        (
            _before_fir(
                "class FirLoader:\n    @classmethod\n    def from_pretrained(cls, folder):\n        return cls()\n\n\n"
                "class FirTools(FirLoader):\n    pass\n\n\n_Tools = FirTools",
                "_Tools, HFCheckpointingMixin, nn.Module",
            ),
        ),
        at="class FirForCausalLM(",
    ),
    Fault(
        "NAM110",
        "saver-by-assignment",
        (
            _before_fir(
                "def _save(self, folder):\n    raise NotImplementedError\n\n\nclass FirSaver:\n"
                "    save_pretrained = _save",
                "FirSaver, HFCheckpointingMixin, nn.Module",
            ),
        ),
        at="class FirForCausalLM(",
    ),
    Fault(
        "NAM110",
        "pretrained-model-ahead",
        (
            Edit(FIR, "import torch.nn as nn\n", "import torch.nn as nn\nimport transformers\n"),
            Edit(FIR, FIR_CLASS, "class FirForCausalLM(transformers.PreTrainedModel, HFCheckpointingMixin):\n"),
        ),
        at="class FirForCausalLM(",
    ),
    Fault(
        "NAM110",
        "base-without-the-mixin",
        (Edit(BASE, "class CausalLMBase(HFCheckpointingMixin, nn.Module):", "class CausalLMBase(nn.Module):"),),
        path=LARCH,
        at="class LarchForCausalLM(",
    ),
]

FAULTS = [*MODEL_CLASS, *REEXPORT, *UNREGISTERED, *FOREIGN, *MIXIN_ORDER]
