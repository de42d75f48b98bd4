"""What looks like a fault of NAM0xx or of the registry (NAM101-NAM104, NAM107, NAM108) and is none."""

from __future__ import annotations

from . import PACKAGE, REGISTRY, SETTINGS, Edit, Harmless, config, model, package, write
from .exports import CONFIG_IMPORT, FIR_CLASS, FIR_ENTRY, FIR_EXPORT, FIR_IMPORT, M
from .guard import GUARD
from .registry import AFTER, CONFIGS, FIR_CONFIG

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


ENGINE = [
    Harmless(
        "NAM001",
        "comment-that-is-needed",
        (Edit(FIR, GUARD, GUARD.replace("type(self)", "FirForCausalLM").rstrip() + "  # noqa: NAM207\n"),),
        "it silences a finding",
    ),
    Harmless(
        "NAM001",
        "own-comment-that-is-needed",
        (
            Edit(
                FIR,
                GUARD,
                "        # automodel-lint: ignore[NAM207] no subclasses\n"
                + GUARD.replace("type(self)", "FirForCausalLM"),
            ),
        ),
        "it silences a finding",
    ),
    Harmless(
        "NAM001",
        "codes-of-other-tools",
        (Edit(FIR, FIR_EXPORT, "ModelClass = FirForCausalLM  # noqa: F401, E501\n"),),
        "only NAM codes are judged",
    ),
    Harmless(
        "NAM001",
        "comment-in-a-text",
        (
            Edit(
                FIR,
                '    """Embedding, layers and final norm."""\n',
                '    """Embedding and layers; write ``# noqa: NAM206`` where needed."""\n',
            ),
        ),
        "it is no comment",
    ),
    Harmless(
        "NAM001",
        "comment-without-codes",
        (Edit(FIR, FIR_EXPORT, "ModelClass = FirForCausalLM  # noqa\n"),),
        "it names no NAM code",
    ),
    Harmless(
        "NAM002",
        "broken-file-elsewhere",
        (write(f"{PACKAGE}/tools/broken.py", "def f(:\n"),),
        "no registration leads there",
    ),
    Harmless(
        "NAM002",
        "byte-order-mark-and-crlf",
        (
            write(
                package("fir"),
                "\ufeff" + '"""Fir."""\r\n' + CONFIG_IMPORT.replace("\n", "\r\n") + FIR_IMPORT.replace("\n", "\r\n"),
            ),
        ),
        "both are valid Python",
    ),
    Harmless(
        "NAM003",
        "exemption-that-is-needed",
        (
            Edit(
                SETTINGS,
                'package = "acme_automodel"\n',
                'package = "acme_automodel"\n\n[tool.automodel-lint.exempt]\n'
                'NAM207 = { FirForCausalLM = "no subclasses" }\n',
            ),
            Edit(FIR, GUARD, GUARD.replace("type(self)", "FirForCausalLM")),
        ),
        "it silences a finding",
    ),
]

REGISTRATIONS = [
    Harmless(
        "NAM101",
        "package-for-a-module",
        (_after(f'MODEL_ARCH_MAPPING["FirAgain"] = ("{M}.fir", "FirForCausalLM")'),),
        "the package binds the name",
    ),
    Harmless(
        "NAM102",
        "second-name-of-a-class",
        (
            _after(f'MODEL_ARCH_MAPPING["FirAgain"] = ("{M}.fir.model", "FirAgain")'),
            Edit(FIR, FIR_EXPORT, "FirAgain = FirForCausalLM\n" + FIR_EXPORT),
        ),
        "the module binds the name",
    ),
    Harmless(
        "NAM102",
        "module-that-imports-it",
        (
            _after(f'MODEL_ARCH_MAPPING["FirAgain"] = ("{M}.larch.model", "Fir")'),
            _imported(LARCH, f"from {M}.fir.model import FirForCausalLM as Fir"),
        ),
        "the module binds the name",
    ),
    Harmless(
        "NAM103",
        "replaced-in-a-branch",
        (
            _after(
                'if __import__("os").environ.get("ACME"):\n'
                f'    MODEL_ARCH_MAPPING["FirForCausalLM"] = ("{M}.larch.model", "LarchForCausalLM")'
            ),
        ),
        "nobody can tell whether it runs",
    ),
    Harmless(
        "NAM103",
        "same-key-in-another-table",
        (_after(f'_OLD_NAMES = {{"FirForCausalLM": ("{M}.fir.model", "FirForCausalLM")}}'),),
        "another mapping",
    ),
    Harmless(
        "NAM107",
        "registered-by-a-call",
        (
            Edit(REGISTRY, FIR_ENTRY, ""),
            Edit(FIR, FIR_EXPORT, f'{FIR_EXPORT}register_architecture("FirForCausalLM", FirForCausalLM)\n'),
            _imported(FIR, f"from {PACKAGE}._transformers.registry import register_architecture"),
        ),
        "a call registers it",
    ),
    Harmless(
        "NAM107",
        "registered-by-a-method",
        (
            Edit(REGISTRY, FIR_ENTRY, ""),
            Edit(FIR, FIR_EXPORT, f'{FIR_EXPORT}registry.ModelRegistry.register("Fir", model_cls=FirForCausalLM)\n'),
            _imported(FIR, f"from {PACKAGE}._transformers import registry"),
        ),
        "a call registers it",
    ),
    Harmless(
        "NAM107",
        "registered-by-an-entry-point",
        (
            Edit(REGISTRY, FIR_ENTRY, ""),
            Edit(
                SETTINGS,
                "[tool.automodel-lint]\n",
                '[project.entry-points."nemo_automodel.architectures"]\n'
                f'FirForCausalLM = "{M}.fir.model:FirForCausalLM"\n\n[tool.automodel-lint]\n',
            ),
        ),
        "an entry point registers it",
    ),
    Harmless(
        "NAM107",
        "not-exported",
        (_before_fir('class FirBigForCausalLM(HFCheckpointingMixin, nn.Module):\n    """Not exported."""'),),
        "`ModelClass` does not name it",
    ),
    Harmless(
        "NAM107",
        "without-the-mixin",
        (
            Edit(
                FIR,
                FIR_EXPORT,
                'class FirBareForCausalLM(nn.Module):\n    """For tests."""\n\n\n'
                "ModelClass = [FirForCausalLM, FirBareForCausalLM]\n",
            ),
        ),
        "it has no `HFCheckpointingMixin` among its bases",
    ),
    Harmless(
        "NAM104",
        "type-that-is-inherited",
        (
            Edit(REGISTRY, CONFIGS, f'{CONFIGS}    "fir_text": ("{M}.fir.config", "FirTextConfig"),\n'),
            Edit(config("fir"), "# All sizes", 'class FirTextConfig(FirConfig):\n    """Text."""\n\n\n# All sizes'),
        ),
        "the class has no literal `model_type` of its own",
    ),
    Harmless(
        "NAM104",
        "type-that-is-computed",
        (Edit(config("larch"), '    model_type = "larch"\n', '    model_type = __name__.split(".")[-2]\n'),),
        "it cannot be decided",
    ),
    Harmless(
        "NAM108",
        "part-of-another-config",
        (Edit(REGISTRY, f'    "cedar_vision": ("{M}.cedar.config", "CedarVisionConfig"),\n', ""),),
        "it is no top-level config",
    ),
    Harmless(
        "NAM108",
        "known-to-transformers",
        (Edit(REGISTRY, FIR_CONFIG, ""), Edit(config("fir"), '    model_type = "fir"\n', '    model_type = "llama"\n')),
        "transformers has it built in",
    ),
    Harmless(
        "NAM108",
        "registered-later",
        (
            Edit(REGISTRY, FIR_CONFIG, ""),
            Edit(
                REGISTRY,
                "\n\ndef resolve_custom_config_cls(",
                "\n"
                f'_CUSTOM_CONFIG_REGISTRATIONS.update({{"fir": (f"{{\'{M}\'}}.fir.config", "FirConfig")}})\n\n\n'
                "def resolve_custom_config_cls(",
            ),
        ),
        "the key is there",
    ),
]

HARMLESS = [*ENGINE, *REGISTRATIONS]
