"""NAM201, NAM202, NAM208, NAM209: the tie policy, and what must be declared with it."""

from __future__ import annotations

from . import BASE, Edit, Fault, model

FIR, CEDAR, LARCH, SPRUCE = model("fir"), model("cedar"), model("larch"), model("spruce")
POLICY = "    tie_word_embeddings_support: TieSupport = TieSupport.BOTH\n"
UNTIED = "    tie_word_embeddings_support: TieSupport = TieSupport.UNTIED_ONLY\n"
KEYS = '    _tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}\n'
CEDAR_KEYS = '    _tied_weights_keys = {"lm_head.weight": "model.language_model.embed_tokens.weight"}\n'
DEF = "    def tie_weights(self, *args: Any, **kwargs: Any) -> None:\n"
DOC = '        """Let the head share the embedding\'s weight ``[V, H]``, if the config says so."""\n'
GATED = (
    "        if self.config.tie_word_embeddings:\n            self.lm_head.weight = self.model.embed_tokens.weight\n"
)
TIE = DEF + DOC + GATED
CEDAR_DOC = '        """Let the head share the embedding\'s weight ``[V, H]``; there is no untied checkpoint."""\n'
CEDAR_BODY = "        self.lm_head.weight = self.model.language_model.embed_tokens.weight\n"
CEDAR_TIE = DEF + CEDAR_DOC + CEDAR_BODY
CONFIG_SET = "        self.config = config\n"
SPRUCE_EMBEDDINGS = "    def get_input_embeddings(self) -> nn.Module:\n"
FIR_CLASS = "class FirForCausalLM(HFCheckpointingMixin, nn.Module):\n"
NN = "import torch.nn as nn\n"


def _body(*lines: str) -> Edit:
    """Another body for Fir's ``tie_weights``, which is gated by the flag."""
    return Edit(FIR, GATED, "".join(f"        {line}\n" for line in lines))


def _policy(value: str, before_class: str = "") -> tuple[Edit, ...]:
    head = (Edit(FIR, FIR_CLASS, f"{before_class}\n\n\n{FIR_CLASS}"),) if before_class else ()
    return (Edit(FIR, POLICY, f"    tie_word_embeddings_support = {value}\n"), *head)


MISSING_POLICY = [
    Fault("NAM201", "no-policy", (Edit(FIR, POLICY, ""),), at="class FirForCausalLM("),
    Fault(
        "NAM201",
        "misspelled",
        (Edit(FIR, POLICY, POLICY.replace("embeddings_support", "embedding_support")),),
        at="class FirForCausalLM(",
    ),
    Fault(
        "NAM201",
        "annotation-without-a-value",
        (Edit(FIR, POLICY, "    tie_word_embeddings_support: TieSupport\n"),),
        at="class FirForCausalLM(",
    ),
    Fault(
        "NAM201",
        "base-in-another-file-lost-it",
        (Edit(BASE, POLICY, "    supports_tying = TieSupport.BOTH\n"),),
        path=LARCH,
        at="class LarchForCausalLM(",
    ),
    Fault(
        "NAM201",
        "on-the-instance",
        (
            Edit(FIR, POLICY, ""),
            Edit(FIR, CONFIG_SET, CONFIG_SET + "        self.tie_word_embeddings_support = TieSupport.BOTH\n"),
        ),
        at="class FirForCausalLM(",
    ),
    Fault(
        "NAM201",
        "on-the-decoder",
        (
            Edit(FIR, POLICY, ""),
            Edit(
                FIR,
                '    """Embedding, layers and final norm."""\n',
                '    """Embedding, layers and final norm."""\n\n' + POLICY,
            ),
        ),
        at="class FirForCausalLM(",
    ),
]

INVALID_POLICY = [
    Fault("NAM202", "text", _policy('"both"'), at="tie_word_embeddings_support = "),
    Fault("NAM202", "bool", _policy("True"), at="tie_word_embeddings_support = "),
    Fault("NAM202", "none", _policy("None"), at="tie_word_embeddings_support = "),
    Fault("NAM202", "unknown-member", _policy("TieSupport.NEVER"), at="tie_word_embeddings_support = "),
    Fault("NAM202", "the-enum-itself", _policy("TieSupport"), at="tie_word_embeddings_support = "),
    Fault("NAM202", "value-of-a-member", _policy("TieSupport.BOTH.value"), at="tie_word_embeddings_support = "),
    Fault(
        "NAM202",
        "text-kept-in-a-name",
        _policy("_POLICY", '_POLICY = "tied_only"'),
        at="tie_word_embeddings_support = ",
    ),
    Fault(
        "NAM202",
        "tuple-of-members",
        _policy("(TieSupport.BOTH, TieSupport.TIED_ONLY)"),
        at="tie_word_embeddings_support = ",
    ),
    Fault(
        "NAM202",
        "inherited-from-another-file",
        (Edit(BASE, POLICY, '    tie_word_embeddings_support: str = "both"\n'),),
        at="tie_word_embeddings_support",
    ),
]

MISSING_KEYS = [
    Fault("NAM208", "no-keys", (Edit(FIR, KEYS, ""),), at="class FirForCausalLM("),
    Fault("NAM208", "tied-only", (Edit(CEDAR, CEDAR_KEYS, ""),), at="class CedarForConditionalGeneration("),
    Fault(
        "NAM208", "misspelled", (Edit(FIR, KEYS, KEYS.replace("_weights_", "_weight_")),), at="class FirForCausalLM("
    ),
    Fault(
        "NAM208",
        "on-the-instance",
        (Edit(FIR, KEYS, ""), Edit(FIR, CONFIG_SET, CONFIG_SET + "    " + KEYS.replace("_tied", "self._tied"))),
        at="class FirForCausalLM(",
    ),
    Fault(
        "NAM208",
        "our-own-name-only",
        (Edit(FIR, KEYS, KEYS.replace("_tied", "_nemo_tied")),),
        at="class FirForCausalLM(",
    ),
    Fault(
        "NAM208",
        "annotation-without-a-value",
        (Edit(FIR, KEYS, "    _tied_weights_keys: dict[str, str]\n"),),
        at="class FirForCausalLM(",
    ),
    Fault(
        "NAM208",
        "moved-to-a-base-in-another-file",
        (Edit(LARCH, KEYS, ""), Edit(BASE, POLICY, POLICY + KEYS)),
        at="class LarchForCausalLM(",
    ),
    Fault(
        "NAM208",
        "policy-that-depends-on-the-environment",
        (
            Edit(FIR, KEYS, ""),
            Edit(
                FIR,
                POLICY,
                POLICY.replace("= TieSupport.BOTH", "= TieSupport.TIED_ONLY if __debug__ else TieSupport.BOTH"),
            ),
        ),
        at="class FirForCausalLM(",
    ),
]

MISSING_METHOD = [
    Fault("NAM209", "no-method", (Edit(FIR, TIE + "\n", ""),), at="class FirForCausalLM("),
    Fault("NAM209", "only-the-base-has-one", (Edit(LARCH, TIE, ""),), at="class LarchForCausalLM("),
    Fault(
        "NAM209",
        "tied-in-the-constructor",
        (
            Edit(CEDAR, "\n" + CEDAR_TIE, ""),
            Edit(CEDAR, "        self.tie_weights()\n\n    def get_input", f"{CEDAR_BODY}\n    def get_input"),
        ),
        at="class CedarForConditionalGeneration(",
    ),
    Fault(
        "NAM209", "misspelled", (Edit(FIR, DEF, DEF.replace("tie_weights", "tie_weight")),), at="class FirForCausalLM("
    ),
    Fault(
        "NAM209", "annotation-without-a-value", (Edit(FIR, TIE, "    tie_weights: Any\n"),), at="class FirForCausalLM("
    ),
    Fault(
        "NAM209",
        "on-the-instance",
        (
            Edit(FIR, TIE + "\n", ""),
            Edit(FIR, CONFIG_SET, CONFIG_SET + "        self.tie_weights = lambda *args, **kwargs: None\n"),
        ),
        at="class FirForCausalLM(",
    ),
]

FAULTS = [*MISSING_POLICY, *INVALID_POLICY, *MISSING_KEYS, *MISSING_METHOD]
