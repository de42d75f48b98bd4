"""What looks like a fault of the tie policy (NAM201, NAM202, NAM208, NAM209, NAM212, NAM213) and is none."""

from __future__ import annotations

from . import Edit, Harmless, model
from .guard import CALL, GUARD
from .policy import CEDAR_BODY, CONFIG_SET, DEF, FIR_CLASS, GATED, KEYS, NN, POLICY, SPRUCE_EMBEDDINGS, TIE, UNTIED

FIR, CEDAR, LARCH, SPRUCE, JUNIPER = (model(name) for name in ("fir", "cedar", "larch", "spruce", "juniper"))
ALIAS = "self.lm_head.weight = self.model.embed_tokens.weight"
JUNIPER_GUARD = f"            {CALL}\n"


def _lines(*lines: str) -> str:
    return "".join(f"        {line}\n" for line in lines)


def _guard(name: str, why: str, *lines: str, more: tuple[Edit, ...] = (), code: str = "NAM205") -> Harmless:
    """Other statements where Fir's guard stands."""
    return Harmless(code, name, (Edit(FIR, GUARD, _lines(*lines)), *more), why)


def _imported(line: str) -> Edit:
    return Edit(FIR, "from typing import Any\n", f"{line}\nfrom typing import Any\n")


def _before_fir(text: str) -> Edit:
    return Edit(FIR, FIR_CLASS, f"{text}\n\n\n{FIR_CLASS}")


def _gate(name: str, why: str, *lines: str, more: tuple[Edit, ...] = ()) -> Harmless:
    """Another body for Fir's ``tie_weights``."""
    return Harmless("NAM213", name, (Edit(FIR, GATED, _lines(*lines)), *more), why)


_METHOD = "    def get_output_embeddings(self)"

GATES = [
    _gate("early-return", "the rest runs only if tied", "if not self.config.tie_word_embeddings:", "    return", ALIAS),
    _gate(
        "read-into-a-local",
        "the flag is consulted",
        'tied = getattr(self.config, "tie_word_embeddings", False)',
        "if tied:",
        f"    {ALIAS}",
    ),
    _gate(
        "walrus-of-the-flag",
        "the flag is consulted",
        'if (tied := getattr(self.config, "tie_word_embeddings", False)) and tied:',
        f"    {ALIAS}",
    ),
    _gate(
        "conditional-expression",
        "the flag is consulted",
        "self.lm_head.weight = (",
        "    self.model.embed_tokens.weight if self.config.tie_word_embeddings else self.lm_head.weight",
        ")",
    ),
    _gate(
        "shared-reader",
        "the framework's reader of the flag",
        "if get_controlling_tie_word_embeddings(self.config):",
        f"    {ALIAS}",
        more=(_imported("from acme_automodel.shared.tied_weights import get_controlling_tie_word_embeddings"),),
    ),
    _gate(
        "own-property",
        "the property reads the flag",
        "if self._shares:",
        f"    {ALIAS}",
        more=(
            Edit(
                FIR,
                _METHOD,
                "    @property\n    def _shares(self) -> bool:\n"
                f"        return self.config.tie_word_embeddings\n\n{_METHOD}",
            ),
        ),
    ),
    _gate(
        "own-method",
        "the method reads the flag",
        "if self._shares():",
        f"    {ALIAS}",
        more=(
            Edit(
                FIR,
                _METHOD,
                f"    def _shares(self) -> bool:\n        return self.config.tie_word_embeddings\n\n{_METHOD}",
            ),
        ),
    ),
    _gate(
        "kept-by-the-constructor",
        "the flag was read into an attribute",
        "if self.shares:",
        f"    {ALIAS}",
        more=(Edit(FIR, CONFIG_SET, CONFIG_SET + "        self.shares = config.tie_word_embeddings\n"),),
    ),
    _gate(
        "helper-under-the-flag",
        "the helper runs only if tied",
        "if self.config.tie_word_embeddings:",
        "    _share(self.lm_head, self.model.embed_tokens)",
        more=(_before_fir("def _share(head, source):\n    head.weight = source.weight"),),
    ),
    _gate(
        "loop-over-a-condition",
        "runs only if tied",
        "while self.config.tie_word_embeddings:",
        f"    {ALIAS}",
        "    break",
    ),
    _gate(
        "match-on-the-flag",
        "runs only if tied",
        "match self.config.tie_word_embeddings:",
        "    case True:",
        f"        {ALIAS}",
    ),
    Harmless(
        "NAM213",
        "named-arguments-of-transformers-5",
        (
            Edit(FIR, NN, NN + "from transformers import PreTrainedModel\n"),
            Edit(FIR, FIR_CLASS, "class FirForCausalLM(HFCheckpointingMixin, PreTrainedModel):\n"),
            Edit(FIR, DEF, "    def tie_weights(self, missing_keys=None, recompute_mapping=True):\n"),
        ),
        "both arguments are accepted",
    ),
    Harmless(
        "NAM213",
        "no-arguments-without-transformers",
        (Edit(FIR, DEF, "    def tie_weights(self) -> None:\n"),),
        "no PreTrainedModel calls it",
    ),
    Harmless(
        "NAM213",
        "always-tied",
        (Edit(CEDAR, CEDAR_BODY, "        assert self.lm_head is not None\n" + CEDAR_BODY),),
        "TIED_ONLY may tie without asking",
    ),
]

POLICIES = [
    Harmless(
        "NAM202",
        "member-by-name",
        (Edit(FIR, POLICY, '    tie_word_embeddings_support = TieSupport["BOTH"]\n'),),
        "it is a member",
    ),
    Harmless(
        "NAM202",
        "member-by-value",
        (Edit(FIR, POLICY, '    tie_word_embeddings_support = TieSupport("both")\n'),),
        "it is a member",
    ),
    Harmless(
        "NAM202",
        "member-kept-in-a-name",
        (_before_fir("_POLICY = TieSupport.BOTH"), Edit(FIR, POLICY, "    tie_word_embeddings_support = _POLICY\n")),
        "it is a member",
    ),
    Harmless(
        "NAM202",
        "two-members",
        (
            Edit(
                FIR,
                POLICY,
                POLICY.replace("= TieSupport.BOTH", "= TieSupport.BOTH if __debug__ else TieSupport.TIED_ONLY"),
            ),
        ),
        "either is a member",
    ),
    Harmless(
        "NAM201",
        "taken-from-another-class",
        (Edit(LARCH, KEYS, "    tie_word_embeddings_support = CausalLMBase.tie_word_embeddings_support\n" + KEYS),),
        "it is a member",
    ),
    Harmless(
        "NAM201",
        "in-a-branch",
        (Edit(FIR, POLICY, "    if __debug__:\n    " + POLICY + "    else:\n    " + POLICY),),
        "both branches have it",
    ),
    Harmless(
        "NAM201",
        "moved-to-a-local-base",
        (
            Edit(FIR, POLICY, ""),
            Edit(
                FIR,
                FIR_CLASS,
                f'class FirTraits:\n    """Shared."""\n\n{POLICY}\n\n'
                "class FirForCausalLM(FirTraits, HFCheckpointingMixin, nn.Module):\n",
            ),
        ),
        "local or inherited",
    ),
    Harmless(
        "NAM208",
        "merged-keys",
        (
            _before_fir('_KEYS = {"lm_head.weight": "model.embed_tokens.weight"}'),
            Edit(FIR, KEYS, "    _tied_weights_keys = {**_KEYS}\n"),
        ),
        "local keys",
    ),
    Harmless(
        "NAM208",
        "keys-in-a-branch",
        (Edit(FIR, KEYS, "    if __debug__:\n    " + KEYS),),
        "bound in the class body, in whatever branch",
    ),
    Harmless(
        "NAM209",
        "method-by-assignment",
        (
            _before_fir("def _tie(self, *args, **kwargs):\n    if self.config.tie_word_embeddings:\n        " + ALIAS),
            Edit(FIR, TIE, "    tie_weights = _tie\n"),
        ),
        "a local definition",
    ),
    Harmless(
        "NAM209",
        "method-in-both-branches",
        (
            Edit(
                FIR,
                TIE,
                "    if __debug__:\n"
                + TIE.replace("\n    ", "\n        ").replace("    def", "        def", 1)
                + "    else:\n"
                + TIE.replace("\n    ", "\n        ").replace("    def", "        def", 1),
            ),
        ),
        "a local definition",
    ),
    Harmless(
        "NAM212",
        "empty-keys",
        (Edit(SPRUCE, UNTIED, UNTIED + "    _tied_weights_keys: dict[str, str] = {}\n"),),
        "an empty one neutralises an inherited one",
    ),
    Harmless(
        "NAM212",
        "no-keys-by-none",
        (Edit(SPRUCE, UNTIED, UNTIED + "    _tied_weights_keys = None\n"),),
        "an empty one neutralises an inherited one",
    ),
    Harmless(
        "NAM212",
        "empty-keys-by-call",
        (Edit(SPRUCE, UNTIED, UNTIED + "    _tied_weights_keys = dict()\n"),),
        "an empty one neutralises an inherited one",
    ),
    Harmless(
        "NAM212",
        "method-that-does-nothing",
        (Edit(SPRUCE, SPRUCE_EMBEDDINGS, f"{DEF}        return None\n\n{SPRUCE_EMBEDDINGS}"),),
        "it does not alias",
    ),
    Harmless(
        "NAM212",
        "tied-through-a-helper",
        (Edit(CEDAR, CEDAR_BODY, "        self._share()\n\n    def _share(self):\n" + CEDAR_BODY),),
        "the helper aliases",
    ),
    Harmless(
        "NAM212",
        "tied-by-setattr-and-locals",
        (
            Edit(
                CEDAR,
                CEDAR_BODY,
                _lines(
                    "weight = self.model.language_model.embed_tokens.weight", 'setattr(self.lm_head, "weight", weight)'
                ),
            ),
        ),
        "it aliases",
    ),
]

HARMLESS = [*GATES, *POLICIES]
