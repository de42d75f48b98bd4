"""What looks like a fault of exports and bases (NAM105, NAM106, NAM109, NAM110) or of NAM3xx and is none."""

from __future__ import annotations

from . import PACKAGE, REGISTRY, Edit, Harmless, model, package, write
from .capabilities import BLOCK, CANONICAL, DECORATOR, DYNAMIC, DYNAMIC_BODY, FIELDS, HEAD
from .exports import CONFIG_IMPORT, FIR_ALL, FIR_CLASS, FIR_EXPORT, FIR_IMPORT, M
from .registry import AFTER

FIR, JUNIPER, LARCH, SPRUCE, WILLOW = (model(name) for name in ("fir", "juniper", "larch", "spruce", "willow"))
STAND_IN = (
    "    class JuniperForCausalLM:\n"
    '        """Stands in where transformers is missing, so that the package still imports."""\n\n'
    "        def __init__(self, *args: Any, **kwargs: Any):\n"
    "            raise ImportError(\"JuniperForCausalLM needs transformers: pip install 'acme-automodel[juniper]'\")\n"
)


def _fir_package(*lines: str) -> Edit:
    return write(package("fir"), '"""Fir: a dense decoder."""\n\n' + "\n".join(lines) + "\n")


def _export(name: str, text: str) -> Harmless:
    return Harmless("NAM105", name, (Edit(FIR, FIR_EXPORT, text),), "the registered class is exported")


def _served(name: str, *lines: str) -> Harmless:
    return Harmless("NAM106", name, (_fir_package(*lines),), "the package serves the name")


def _before_fir(text: str) -> Edit:
    return Edit(FIR, FIR_CLASS, f"{text}\n\n\n{FIR_CLASS}")


def _imported(path: str, line: str) -> Edit:
    return Edit(path, "from typing import Any\n", f"from typing import Any\n\n{line}\n")


def _after(text: str) -> Edit:
    return Edit(REGISTRY, AFTER, f"{text}\n{AFTER}")


EXPORTS = [
    _export("in-a-list", "ModelClass = [FirModel, FirForCausalLM]\n"),
    _export("in-a-tuple-that-is-annotated", "ModelClass: tuple[type, ...] = (FirForCausalLM,)\n"),
    _export("in-a-sum", "ModelClass = [FirModel] + [FirForCausalLM]\n"),
    _export(
        "in-a-try",
        "try:\n    import flash_attn\n\n    ModelClass = FirForCausalLM\nexcept ImportError:\n    ModelClass = None\n",
    ),
    _export("by-a-second-name", "Fir = FirForCausalLM\nModelClass = Fir\n"),
    _export("chained", "ModelClass = Exported = FirForCausalLM\n"),
    _export("spread", "_ALL = (FirForCausalLM, FirModel)\nModelClass = [*_ALL]\n"),
    Harmless(
        "NAM109",
        "another-module-of-the-checkout",
        (
            write(
                f"{PACKAGE}/components/models/fir/again.py",
                f"from {M}.fir.model import FirForCausalLM\n\nModelClass = FirForCausalLM\n",
            ),
        ),
        "the checkout defines the class",
    ),
    _served("relative-import", "from .config import FirConfig", "from .model import FirForCausalLM", "", FIR_ALL),
    _served("star-import", f"from {M}.fir.model import *"),
    _served("all-that-grows", CONFIG_IMPORT + FIR_IMPORT, '__all__ = ["FirConfig"]', '__all__ += ["FirForCausalLM"]'),
    _served(
        "all-that-is-extended",
        CONFIG_IMPORT + FIR_IMPORT,
        '__all__ = ["FirConfig"]',
        '__all__.extend(["FirForCausalLM"])',
    ),
    _served(
        "all-that-is-computed",
        CONFIG_IMPORT + FIR_IMPORT,
        '__all__ = [name for name in globals() if name.startswith("Fir")]',
    ),
    _served("import-in-a-try", "try:", f"    {FIR_IMPORT}", "except ImportError:", "    FirForCausalLM = None"),
    _served(
        "lazy-table",
        "import importlib",
        "",
        '_LAZY = {"FirConfig": ".config", "FirForCausalLM": ".model"}',
        "",
        "",
        "def __getattr__(name):",
        "    if name in _LAZY:",
        "        return getattr(importlib.import_module(_LAZY[name], __name__), name)",
        "    raise AttributeError(name)",
    ),
    _served(
        "lazy-branch",
        "def __getattr__(name):",
        '    if name == "FirForCausalLM":',
        "        from .model import FirForCausalLM",
        "",
        "        return FirForCausalLM",
        "    raise AttributeError(name)",
    ),
    Harmless(
        "NAM110",
        "plain-mixin-ahead",
        (
            Edit(
                SPRUCE,
                "(HFCheckpointingMixin, MoEFSDPSyncMixin, nn.Module)",
                "(MoEFSDPSyncMixin, HFCheckpointingMixin, nn.Module)",
            ),
        ),
        "it defines neither method",
    ),
    Harmless(
        "NAM110",
        "base-that-has-the-mixin-ahead",
        (
            Edit(
                LARCH,
                "class LarchForCausalLM(CausalLMBase):",
                "class LarchForCausalLM(CausalLMBase, HFCheckpointingMixin):",
            ),
            Edit(LARCH, "import CausalLMBase\n", "import CausalLMBase, HFCheckpointingMixin\n"),
        ),
        "the mixin's methods win",
    ),
    Harmless(
        "NAM110",
        "mixin-under-another-name",
        (
            Edit(FIR, FIR_CLASS, "class FirForCausalLM(checkpointing.HFCheckpointingMixin, nn.Module):\n"),
            Edit(
                FIR,
                f"from {M}.common.hf_checkpointing_mixin import HFCheckpointingMixin\n",
                f"from {M}.common import hf_checkpointing_mixin as checkpointing\n",
            ),
        ),
        "meaning over spelling",
    ),
    Harmless(
        "NAM110",
        "no-head",
        (
            Edit(
                WILLOW,
                "class WillowBidirectionalModel(HFCheckpointingMixin, nn.Module):",
                "class WillowBidirectionalModel(nn.Module):",
            ),
        ),
        "the class owns no head",
    ),
    Harmless(
        "NAM301",
        "stand-in-by-a-call",
        (
            Edit(
                JUNIPER, STAND_IN, '    JuniperForCausalLM = make_unavailable("JuniperForCausalLM", "transformers")\n'
            ),
            Edit(
                JUNIPER,
                "\n\nif _HF_AVAILABLE:\n",
                "\n\ndef make_unavailable(name, needs):\n    raise NotImplementedError\n\n\nif _HF_AVAILABLE:\n",
            ),
        ),
        "stand-ins are never linted",
    ),
    Harmless(
        "NAM301",
        "stand-in-ahead-of-the-class",
        (
            Edit(JUNIPER, f"\nelse:\n\n{STAND_IN}", "\n"),
            Edit(JUNIPER, "\n\nif _HF_AVAILABLE:\n", f"\n\nif not _HF_AVAILABLE:\n\n{STAND_IN}\nelse:\n"),
        ),
        "stand-ins are never linted",
    ),
]

CAPABILITIES = [
    Harmless(
        "NAM301",
        "taken-from-another-class",
        (
            Edit(SPRUCE, BLOCK, "    ModelCapabilities = FirForCausalLM.ModelCapabilities\n"),
            _imported(SPRUCE, f"from {M}.fir.model import FirForCausalLM"),
        ),
        "an assignment of one counts",
    ),
    Harmless(
        "NAM301",
        "the-shared-class-itself",
        (Edit(FIR, BLOCK, "    ModelCapabilities = Flags\n"), _imported(FIR, f"{CANONICAL} as Flags")),
        "an assignment of one counts",
    ),
    Harmless(
        "NAM301", "imported-in-the-class-body", (Edit(FIR, BLOCK, f"    {CANONICAL}\n"),), "the body binds the name"
    ),
    Harmless(
        "NAM301",
        "method-by-assignment",
        (
            Edit(FIR, BLOCK, "    get_capabilities = classmethod(_capabilities)\n"),
            _before_fir("def _capabilities(cls, config):\n    return Flags()"),
            _imported(FIR, f"{CANONICAL} as Flags"),
        ),
        "the body binds the name",
    ),
    Harmless(
        "NAM303",
        "frozen-through-the-module",
        (
            Edit(FIR, DECORATOR, "    @dc.dataclass(slots=True, frozen=True)\n"),
            Edit(FIR, "from dataclasses import dataclass\n", "import dataclasses as dc\n"),
        ),
        "it is frozen",
    ),
    Harmless(
        "NAM303",
        "frozen-by-a-decorator-of-our-own",
        (Edit(FIR, DECORATOR, "    @_frozen\n"), _before_fir("_frozen = dataclass(frozen=True)")),
        "it is frozen",
    ),
    Harmless(
        "NAM303",
        "frozen-in-a-branch",
        (
            Edit(
                FIR,
                BLOCK,
                "    if __debug__:\n        @dataclass(frozen=True)\n        class ModelCapabilities:\n"
                + FIELDS.replace("        ", "            ")
                + "    else:\n        ModelCapabilities = None\n",
            ),
        ),
        "it is frozen",
    ),
    Harmless(
        "NAM304",
        "optional-field",
        (Edit(FIR, FIELDS, FIELDS + "        supports_thd: bool = False\n"),),
        "the shared class has it",
    ),
    Harmless(
        "NAM304",
        "defaults-of-the-shared-class",
        (
            Edit(FIR, HEAD, "    class ModelCapabilities(Flags):\n"),
            Edit(FIR, FIELDS, "        supports_tp: bool = False\n"),
            _imported(FIR, f"{CANONICAL} as Flags"),
        ),
        "inherited defaults apply",
    ),
    Harmless(
        "NAM304",
        "axes-of-a-base",
        (
            Edit(FIR, BLOCK, DECORATOR + "    class ModelCapabilities(_Flags):\n        supports_ep: bool = False\n"),
            _before_fir(
                "@dataclass(frozen=True)\nclass _Flags:\n"
                + FIELDS.replace("        ", "    ").replace("    supports_ep: bool = False\n", "").rstrip()
            ),
        ),
        "inherited fields count",
    ),
    Harmless(
        "NAM304",
        "order-and-method",
        (
            Edit(
                FIR,
                FIELDS,
                "".join(reversed(FIELDS.splitlines(keepends=True)))
                + "\n        def any(self) -> bool:\n            return self.supports_tp\n",
            ),
        ),
        "a method is no field",
    ),
    Harmless(
        "NAM305",
        "returned-by-a-name",
        (Edit(LARCH, DYNAMIC_BODY, "        flags = ModelCapabilities(supports_cp=True)\n        return flags\n"),),
        "it is one",
    ),
    Harmless(
        "NAM305",
        "returned-by-a-helper",
        (
            Edit(
                LARCH,
                DYNAMIC_BODY,
                "        return cls._flags(config)\n\n    @classmethod\n"
                "    def _flags(cls, config):\n"
                "        return ModelCapabilities(supports_cp=True)\n",
            ),
        ),
        "it is one",
    ),
    Harmless(
        "NAM305",
        "replaced",
        (
            Edit(LARCH, DYNAMIC_BODY, "        return replace(ModelCapabilities(), supports_cp=True)\n"),
            Edit(LARCH, "from typing import Any\n", "from dataclasses import replace\nfrom typing import Any\n"),
        ),
        "it is one",
    ),
    Harmless(
        "NAM305",
        "raises-on-one-path",
        (
            Edit(
                LARCH,
                DYNAMIC_BODY,
                "        if config.attention_window is None:\n"
                "            return ModelCapabilities(supports_cp=True)\n"
                "        raise ValueError(config)\n",
            ),
        ),
        "every return is one",
    ),
    Harmless(
        "NAM305",
        "every-path-returns",
        (
            Edit(
                LARCH,
                DYNAMIC_BODY,
                "        try:\n"
                "            return ModelCapabilities(supports_cp=config.attention_window is None)\n"
                "        except AttributeError:\n            return ModelCapabilities()\n",
            ),
        ),
        "every return is one",
    ),
    Harmless(
        "NAM305",
        "through-its-module",
        (
            Edit(LARCH, CANONICAL + "\n", f"from {PACKAGE}._transformers import model_capabilities as mc\n"),
            Edit(
                LARCH,
                DYNAMIC,
                DYNAMIC.replace("-> ModelCap", "-> mc.ModelCap").replace("return ModelCap", "return mc.ModelCap"),
            ),
        ),
        "it is one",
    ),
]

HARMLESS = [*EXPORTS, *CAPABILITIES]
