"""NAM101-NAM104 and NAM108: what the registry says and is not so."""

from __future__ import annotations

from . import REGISTRY, Edit, Fault, Place, config, delete, model, package, write

M = "acme_automodel.components.models"
FIR_ENTRY = f'        ("FirForCausalLM", ("{M}.fir.model", "FirForCausalLM")),\n'
LARCH_ENTRY = f'        ("LarchForCausalLM", ("{M}.larch.model", "LarchForCausalLM")),\n'
MAPPING_START = "MODEL_ARCH_MAPPING = OrderedDict(\n    [\n"
AFTER = "# ``model_type`` of a config.json -> (module, configuration class).\n"
CONFIGS = "_CUSTOM_CONFIG_REGISTRATIONS: Dict[str, Tuple[str, str]] = {\n"
CONFIGS_END = "\n\ndef resolve_custom_config_cls("
FIR_CONFIG = f'    "fir": ("{M}.fir.config", "FirConfig"),\n'


def _after(text: str) -> Edit:
    """Statements behind the table of architectures."""
    return Edit(REGISTRY, AFTER, f"{text}\n{AFTER}")


def _entry(text: str) -> Edit:
    """One more entry at the start of that table."""
    return Edit(REGISTRY, MAPPING_START, f"{MAPPING_START}        {text}\n")


def _config_entry(text: str) -> Edit:
    return Edit(REGISTRY, CONFIGS, f"{CONFIGS}    {text}\n")


def _after_configs(text: str) -> Edit:
    return Edit(REGISTRY, CONFIGS_END, f"\n{text}\n{CONFIGS_END}")


def _registered(model_type: str, module: str, name: str) -> str:
    return f'    "{model_type}": ("{M}.{module}", "{name}"),\n'


MISSING_MODULES = [
    Fault(
        "NAM101",
        "typo-in-a-literal",
        (Edit(REGISTRY, FIR_ENTRY, FIR_ENTRY.replace("fir.model", "fir.modeling")),),
        at='("FirForCausalLM"',
        also=(Place("NAM107", model("fir"), "class FirForCausalLM("),),
    ),
    Fault(
        "NAM101",
        "path-from-an-f-string",
        (
            Edit(REGISTRY, "MODEL_ARCH_MAPPING = ", f'_MODELS = "{M}"\nMODEL_ARCH_MAPPING = '),
            _entry('("HazelForCausalLM", (f"{_MODELS}.hazel.model", "HazelForCausalLM")),'),
        ),
        at='("HazelForCausalLM"',
    ),
    Fault(
        "NAM101",
        "added-by-subscript",
        (_after(f'MODEL_ARCH_MAPPING["HazelForCausalLM"] = ("{M}.hazel.model", "HazelForCausalLM")'),),
        at='MODEL_ARCH_MAPPING["HazelForCausalLM"]',
    ),
    Fault(
        "NAM101",
        "updated-with-a-sum-of-texts",
        (
            _after(
                'MODEL_ARCH_MAPPING.update(\n    {\n        "HazelForCausalLM": '
                f'("{M}" + ".hazel.model", "HazelForCausalLM"),\n    }}\n)'
            ),
        ),
        at='"HazelForCausalLM": (',
    ),
    Fault(
        "NAM101",
        "updated-by-keyword",
        (_after(f'MODEL_ARCH_MAPPING.update(HazelForCausalLM=("{M}.hazel.model", "HazelForCausalLM", {{"x"}}))'),),
        at="MODEL_ARCH_MAPPING.update(",
    ),
    Fault(
        "NAM101",
        "joined-path",
        (_entry(f'("HazelForCausalLM", (".".join(["{M}", "hazel", "model"]), "HazelForCausalLM")),'),),
        at='("HazelForCausalLM"',
    ),
    Fault(
        "NAM101",
        "class-for-a-module",
        (_entry(f'("FirTwo", ("{M}.fir.model.FirForCausalLM", "FirForCausalLM")),'),),
        at='("FirTwo"',
    ),
    Fault(
        "NAM101",
        "file-is-gone",
        (delete(model("larch")), write(package("larch"), '"""Empty."""\n')),
        path=REGISTRY,
        at='("LarchForCausalLM"',
    ),
    Fault(
        "NAM101",
        "dict-that-is-merged-in",
        (
            _after(
                "_LATE: dict[str, tuple] = {\n    **{},\n"
                f'    "HazelForCausalLM": ("{M}.hazel.model", "HazelForCausalLM"),\n}}\n'
                "MODEL_ARCH_MAPPING.update(_LATE)"
            ),
        ),
        at='"HazelForCausalLM": (',
    ),
]

MISSING_CLASSES = [
    Fault(
        "NAM102",
        "typo-in-a-literal",
        (Edit(REGISTRY, FIR_ENTRY, FIR_ENTRY.replace('"FirForCausalLM"))', '"FirForCausualLM"))')),),
        at='("FirForCausalLM"',
        also=(Place("NAM107", model("fir"), "class FirForCausalLM("),),
    ),
    Fault(
        "NAM102",
        "package-that-does-not-re-export-it",
        (_entry(f'("FirModel", ("{M}.fir", "FirModel")),'),),
        at='("FirModel"',
    ),
    Fault(
        "NAM102",
        "updated-by-keyword",
        (_after(f'MODEL_ARCH_MAPPING.update(SpruceModelX=("{M}.spruce.model", "SpruceModelX"))'),),
        at="MODEL_ARCH_MAPPING.update(",
    ),
    Fault(
        "NAM102",
        "merged-in-place",
        (_after(f'MODEL_ARCH_MAPPING |= {{"SpruceTwo": ("{M}.spruce.model", "SpruceTwo")}}'),),
        at='"SpruceTwo"',
    ),
    Fault(
        "NAM102",
        "imported-for-type-checkers-only",
        (
            _entry(f'("FirInLarch", ("{M}.larch.model", "FirForCausalLM")),'),
            Edit(
                model("larch"),
                "\n\nclass LarchDecoderLayer(",
                f"\nif TYPE_CHECKING:\n    from {M}.fir.model import FirForCausalLM\n\n\nclass LarchDecoderLayer(",
            ),
            Edit(model("larch"), "from typing import Any\n", "from typing import TYPE_CHECKING, Any\n"),
        ),
        at='("FirInLarch"',
    ),
    Fault(
        "NAM102",
        "class-inside-a-function",
        (
            _entry(f'("LarchTwo", ("{M}.larch.model", "LarchTwo")),'),
            Edit(
                model("larch"),
                "ModelClass = ",
                "def _two():\n    class LarchTwo(LarchForCausalLM):\n        pass\n\n"
                "    return LarchTwo\n\n\nModelClass = ",
            ),
        ),
        at='("LarchTwo"',
    ),
]

DUPLICATES = [
    Fault("NAM103", "same-line-twice", (Edit(REGISTRY, FIR_ENTRY, FIR_ENTRY + LARCH_ENTRY),), at='("LarchForCausalLM"'),
    Fault(
        "NAM103",
        "key-kept-in-a-name",
        (
            Edit(REGISTRY, "MODEL_ARCH_MAPPING = ", '_LARCH = "LarchForCausalLM"\nMODEL_ARCH_MAPPING = '),
            Edit(REGISTRY, LARCH_ENTRY, LARCH_ENTRY + LARCH_ENTRY.replace('("LarchForCausalLM", (', "(_LARCH, (")),
        ),
        at="(_LARCH, (",
    ),
    Fault(
        "NAM103",
        "subscript-behind-the-table",
        (_after(f'MODEL_ARCH_MAPPING["FirForCausalLM"] = ("{M}.larch.model", "LarchForCausalLM")'),),
        at='MODEL_ARCH_MAPPING["FirForCausalLM"]',
    ),
    Fault(
        "NAM103",
        "update-with-pairs",
        (_after(f'MODEL_ARCH_MAPPING.update([("FirForCausalLM", ("{M}.fir.model", "FirForCausalLM"))])'),),
        at="MODEL_ARCH_MAPPING.update(",
    ),
    Fault(
        "NAM103",
        "two-texts-side-by-side",
        (_entry(f'("Fir" "ForCausalLM", ("{M}.fir.model", "FirForCausalLM")),'),),
        at=FIR_ENTRY.strip(),
    ),
]

CONFIG_ENTRIES = [
    Fault(
        "NAM104", "module-is-missing", (_config_entry(f'"hazel": ("{M}.hazel.config", "HazelConfig"),'),), at='"hazel"'
    ),
    Fault(
        "NAM104",
        "class-is-missing",
        (_config_entry(f'"fir_text": ("{M}.fir.config", "FirTextConfig"),'),),
        at='"fir_text"',
    ),
    Fault("NAM104", "key-differs", (_config_entry(f'"fir_v2": ("{M}.fir.config", "FirConfig"),'),), at='"fir_v2"'),
    Fault(
        "NAM104",
        "key-differs-from-a-name",
        (
            Edit(config("larch"), "class LarchConfig(", '_KIND = "larix"\n\n\nclass LarchConfig('),
            Edit(config("larch"), '    model_type = "larch"\n', "    model_type: str = _KIND\n"),
        ),
        path=REGISTRY,
        at='"larch": (',
        also=(Place("NAM108", config("larch"), "class LarchConfig("),),  # larix is no key, so both hold
    ),
    Fault(
        "NAM104",
        "update-with-an-unknown-class",
        (_after_configs(f'_CUSTOM_CONFIG_REGISTRATIONS.update(hazel=("{M}.fir.config", "HazelConfig"))'),),
        at="_CUSTOM_CONFIG_REGISTRATIONS.update(",
    ),
    Fault(
        "NAM104",
        "subscript-with-an-f-string",
        (
            _after_configs(
                f'_BASE = "{M}"\n_CUSTOM_CONFIG_REGISTRATIONS["hazel"] = (f"{{_BASE}}.hazel.config", "HazelConfig")'
            ),
        ),
        at='_CUSTOM_CONFIG_REGISTRATIONS["hazel"]',
    ),
    Fault(
        "NAM104",
        "another-class-of-the-same-type",
        (
            Edit(REGISTRY, FIR_CONFIG, FIR_CONFIG.replace("FirConfig", "FirLegacyConfig")),
            Edit(
                config("fir"),
                "# All sizes differ",
                'class FirLegacyConfig(AcmePretrainedConfig):\n    """Old."""\n\n    model_type = "fir"\n\n\n'
                "# All sizes differ",
            ),
        ),
        at='"fir": (',
    ),
]

UNREGISTERED_CONFIGS = [
    Fault("NAM108", "entry-is-gone", (Edit(REGISTRY, FIR_CONFIG, ""),), path=config("fir"), at="class FirConfig("),
    Fault(
        "NAM108",
        "known-only-from-the-annotation",
        (
            Edit(model("juniper"), "        config_class = JuniperConfig\n", ""),
            Edit(
                model("juniper"),
                "def __init__(self, config: JuniperConfig, backend: BackendConfig | None = None):",
                'def __init__(self, config: "JuniperConfig | None" = None, backend: BackendConfig | None = None):',
            ),
            Edit(REGISTRY, _registered("juniper", "juniper.config", "JuniperConfig"), ""),
        ),
        path=config("juniper"),
        at="class JuniperConfig(",
    ),
    Fault(
        "NAM108",
        "imported-under-another-name",
        (
            Edit(model("spruce"), "spruce.config import SpruceConfig\n", "spruce import config as sizes\n"),
            Edit(
                model("spruce"),
                "class SpruceDecoderLayer(",
                "SpruceConfig = sizes.SpruceConfig\n\n\nclass SpruceDecoderLayer(",
            ),
            Edit(REGISTRY, _registered("spruce", "spruce.config", "SpruceConfig"), ""),
        ),
        path=config("spruce"),
        at="class SpruceConfig(",
    ),
    Fault(
        "NAM108",
        "defined-beside-the-model",
        (
            Edit(
                model("spruce"),
                "class SpruceForCausalLM(",
                'class SpruceNextConfig(SpruceConfig):\n    """Later."""\n\n    model_type = "spruce_next"\n\n\n'
                "class SpruceForCausalLM(",
            ),
            Edit(model("spruce"), "    config_class = SpruceConfig\n", "    config_class: type = SpruceNextConfig\n"),
        ),
        at="class SpruceNextConfig(",
    ),
]

FAULTS = [*MISSING_MODULES, *MISSING_CLASSES, *DUPLICATES, *CONFIG_ENTRIES, *UNREGISTERED_CONFIGS]
