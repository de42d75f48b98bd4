"""NAM001-NAM003: comments, files and settings that the linter itself judges."""

from __future__ import annotations

import json

from . import REGISTRY, SETTINGS, Edit, Fault, config, model, write

FIR = model("fir")
GUARD = "        reject_unsupported_tie_word_embeddings(type(self), config)\n"
PACKAGE_KEY = 'package = "acme_automodel"\n'
ENTRY = '("FirForCausalLM", ("acme_automodel.components.models.fir.model", "FirForCausalLM")),'

BASELINE = {
    "version": 1,
    "findings": {
        "0123456789abcdef": {"code": "NAM206", "path": FIR, "symbol": "FirForCausalLM.__init__", "message": "gone"},
    },
}


def _settings(text: str) -> Edit:
    return Edit(SETTINGS, PACKAGE_KEY, PACKAGE_KEY + text)


FAULTS = [
    # -- comments that silence nothing --------------------------------------------------------------------------
    Fault(
        "NAM001",
        "noqa-on-a-clean-guard",
        (Edit(FIR, GUARD, GUARD.rstrip() + "  # noqa: NAM206\n"),),
        at="# noqa: NAM206",
    ),
    Fault(
        "NAM001",
        "beside-the-code-of-another-tool",
        (Edit(FIR, "ModelClass = FirForCausalLM", "ModelClass = FirForCausalLM  # noqa: F401, NAM105"),),
        at="# noqa: F401, NAM105",
    ),
    Fault(
        "NAM001",
        "own-form-alone-above-the-class",
        (
            Edit(
                FIR,
                "class FirForCausalLM(",
                "# automodel-lint: ignore[NAM208] the base has the keys\nclass FirForCausalLM(",
            ),
        ),
        at="# automodel-lint: ignore[NAM208]",
    ),
    Fault(
        "NAM001",
        "one-of-two-codes-is-used",
        (Edit(FIR, GUARD, GUARD.replace("type(self)", "FirForCausalLM").rstrip() + "  # noqa: NAM207,NAM206\n"),),
        at="# noqa: NAM207,NAM206",
    ),
    Fault("NAM001", "in-the-registry-and-upper-case", (Edit(REGISTRY, ENTRY, f"{ENTRY}  # NOQA:NAM101"),), at="NAM101"),
    Fault(
        "NAM001",
        "a-code-that-no-rule-has",
        (Edit(FIR, "    config_class = FirConfig\n", "    config_class = FirConfig  # noqa: NAM999\n"),),
        at="NAM999",
    ),
    # -- files that cannot be read -------------------------------------------------------------------------------
    Fault(
        "NAM002",
        "missing-colon",
        (
            Edit(
                FIR,
                "class FirForCausalLM(HFCheckpointingMixin, nn.Module):",
                "class FirForCausalLM(HFCheckpointingMixin, nn.Module)",
            ),
        ),
        at="class FirForCausalLM(",
    ),
    Fault(
        "NAM002",
        "byte-of-another-encoding",
        (Edit(FIR, '"""The decoder with a language-model head', '"""The d\udce9coder with a language-model head'),),
        at="",
    ),
    Fault(
        "NAM002",
        "codec-that-does-not-exist",
        (Edit(FIR, '"""Fir: a dense', '# -*- coding: no-such-codec -*-\n"""Fir: a dense'),),
        at="",
    ),
    Fault(
        "NAM002",
        "null-byte",
        (Edit(model("larch"), "ModelClass = LarchForCausalLM\n", "ModelClass = LarchForCausalLM\n\0"),),
        at="",
    ),
    Fault(
        "NAM002",
        "config-module-that-others-derive-from",
        (Edit(config("fir"), "        **kwargs: Any,\n    ):", "        **kwargs: Any,\n    :"),),
        at="",
    ),
    Fault(
        "NAM002",
        "merge-conflict",
        (Edit(model("spruce"), "ModelClass = ", "<<<<<<< HEAD\nModelClass = "),),
        at="<<<<<<< HEAD",
    ),
    # -- settings that outlived what they were for ---------------------------------------------------------------
    Fault(
        "NAM003",
        "exempt-class-is-gone",
        (_settings('\n[tool.automodel-lint.exempt]\nNAM201 = { FirEncoder = "no head" }\n'),),
        at="FirEncoder",
    ),
    Fault(
        "NAM003",
        "exempt-class-has-no-such-finding",
        (_settings('exempt.NAM208.FirForCausalLM = "the base has the keys"\n'),),
        at="FirForCausalLM",
    ),
    Fault(
        "NAM003",
        "one-of-two-exemptions-is-used",
        (
            _settings(
                '\n[tool.automodel-lint.exempt.NAM207]\nFirForCausalLM = "no subclasses"\nOldFir = "no subclasses"\n'
            ),
            Edit(FIR, GUARD, GUARD.replace("type(self)", "FirForCausalLM")),
        ),
        at="OldFir",
    ),
    Fault(
        "NAM003",
        "baseline-knows-a-finding-that-is-gone",
        (
            write("baseline.json", json.dumps(BASELINE, indent=1)),
            _settings('baseline = "baseline.json"\n'),
        ),
        at="0123456789abcdef",
    ),
]
