"""NAM212, NAM213, NAM216: what a class does about the tie, against what it says."""

from __future__ import annotations

from . import Edit, Fault, Place, config
from .policy import (
    CEDAR,
    CEDAR_BODY,
    CONFIG_SET,
    DEF,
    FIR,
    FIR_CLASS,
    GATED,
    KEYS,
    NN,
    POLICY,
    SPRUCE,
    SPRUCE_EMBEDDINGS,
    UNTIED,
)


def _body(*lines: str) -> Edit:
    """Another body for Fir's ``tie_weights``, which is gated by the flag."""
    return Edit(FIR, GATED, "".join(f"        {line}\n" for line in lines))


def _policy(value: str, before_class: str = "") -> tuple[Edit, ...]:
    head = (Edit(FIR, FIR_CLASS, f"{before_class}\n\n\n{FIR_CLASS}"),) if before_class else ()
    return (Edit(FIR, POLICY, f"    tie_word_embeddings_support = {value}\n"), *head)


CONTRADICTIONS = [
    Fault("NAM212", "untied-with-keys", (Edit(SPRUCE, UNTIED, UNTIED + KEYS),), at="_tied_weights_keys = "),
    Fault(
        "NAM212",
        "untied-with-a-list",
        (Edit(SPRUCE, UNTIED, UNTIED + '    _tied_weights_keys: list = [] + ["lm_head.weight"]\n'),),
        at="_tied_weights_keys",
    ),
    Fault(
        "NAM212",
        "untied-with-keys-from-a-name",
        (
            Edit(SPRUCE, "class SpruceForCausalLM(", '_KEYS = ("lm_head.weight",)\n\n\nclass SpruceForCausalLM('),
            Edit(SPRUCE, UNTIED, UNTIED + "    _tied_weights_keys = [*_KEYS]\n"),
        ),
        at="_tied_weights_keys = ",
    ),
    Fault(
        "NAM212",
        "untied-with-a-method-that-ties",
        (
            Edit(
                SPRUCE,
                SPRUCE_EMBEDDINGS,
                f'{DEF}        setattr(self.lm_head, "weight", self.model.embed_tokens.weight)\n\n{SPRUCE_EMBEDDINGS}',
            ),
        ),
        at="def tie_weights(",
    ),
    Fault(
        "NAM212",
        "untied-with-a-helper-that-ties",
        (
            Edit(
                SPRUCE,
                "class SpruceForCausalLM(",
                "def _share(head, source):\n    head.weight = source.weight\n\n\nclass SpruceForCausalLM(",
            ),
            Edit(
                SPRUCE,
                SPRUCE_EMBEDDINGS,
                f"{DEF}        _share(self.lm_head, self.model.embed_tokens)\n\n{SPRUCE_EMBEDDINGS}",
            ),
        ),
        at="def tie_weights(",
    ),
    Fault(
        "NAM212",
        "tied-only-that-does-nothing",
        (Edit(CEDAR, CEDAR_BODY, "        pass\n"),),
        at="class CedarForConditionalGeneration(",
    ),
    Fault(
        "NAM212",
        "tied-only-that-copies-values",
        (Edit(CEDAR, CEDAR_BODY, CEDAR_BODY.replace("weight = ", "weight.data.copy_(").rstrip() + ")\n"),),
        at="class CedarForConditionalGeneration(",
    ),
    Fault(
        "NAM212",
        "tied-only-that-clones",
        (
            Edit(
                CEDAR, CEDAR_BODY, CEDAR_BODY.replace("= self", "= nn.Parameter(self").rstrip() + ".detach().clone())\n"
            ),
        ),
        at="class CedarForConditionalGeneration(",
    ),
]

UNGATED = [
    Fault(
        "NAM213",
        "no-condition",
        (_body("self.lm_head.weight = self.model.embed_tokens.weight"),),
        at="def tie_weights(",
    ),
    Fault(
        "NAM213",
        "setattr",
        (_body('setattr(self.lm_head, "weight", self.model.embed_tokens.weight)'),),
        at="def tie_weights(",
    ),
    Fault(
        "NAM213",
        "register-parameter",
        (_body('self.lm_head.register_parameter("weight", self.model.embed_tokens.weight)'),),
        at="def tie_weights(",
    ),
    Fault(
        "NAM213",
        "another-condition",
        (_body("if self.lm_head is not None:", "    self.lm_head.weight = self.model.embed_tokens.weight"),),
        at="def tie_weights(",
    ),
    Fault(
        "NAM213",
        "by-way-of-locals",
        (_body("head, source = self.lm_head, self.model.embed_tokens", "head.weight = source.weight"),),
        at="def tie_weights(",
    ),
    Fault(
        "NAM213",
        "walrus",
        (_body("if (weight := self.model.embed_tokens.weight) is not None:", "    self.lm_head.weight = weight"),),
        at="def tie_weights(",
    ),
    Fault(
        "NAM213",
        "chained-assignment",
        (_body("self.lm_head.weight = self.shared = self.model.embed_tokens.weight"),),
        at="def tie_weights(",
    ),
    Fault(
        "NAM213",
        "tuple-assignment",
        (_body("self.lm_head.weight, self.tied = self.model.embed_tokens.weight, True"),),
        at="def tie_weights(",
    ),
    Fault(
        "NAM213",
        "in-a-with-and-a-try",
        (
            _body(
                "with torch.no_grad():",
                "    try:",
                "        self.lm_head.weight = self.model.embed_tokens.weight",
                "    finally:",
                "        pass",
            ),
        ),
        at="def tie_weights(",
    ),
    Fault("NAM213", "module-swapped", (_body("self.lm_head = self.model.embed_tokens"),), at="def tie_weights("),
    Fault(
        "NAM213",
        "flag-read-and-forgotten",
        (
            _body(
                "tied = self.config.tie_word_embeddings",
                "self.lm_head.weight = self.model.embed_tokens.weight",
                "return",
            ),
        ),
        at="def tie_weights(",
    ),
    Fault(
        "NAM213",
        "helper-method",
        (
            Edit(
                FIR,
                GATED,
                "        self._share()\n\n    def _share(self) -> None:\n"
                "        self.lm_head.weight = self.model.embed_tokens.weight\n",
            ),
        ),
        at="def tie_weights(",
    ),
    Fault(
        "NAM213",
        "signature-without-arguments",
        (
            Edit(FIR, NN, NN + "from transformers import PreTrainedModel as HFModel\n"),
            Edit(FIR, FIR_CLASS, "class FirForCausalLM(HFCheckpointingMixin, HFModel):\n"),
            Edit(FIR, DEF, "    def tie_weights(self) -> None:\n"),
        ),
        at="def tie_weights(",
    ),
    Fault(
        "NAM213",
        "untied-signature-with-one-argument",
        (
            Edit(SPRUCE, NN, NN + "from transformers.modeling_utils import PreTrainedModel\n"),
            Edit(SPRUCE, "MoEFSDPSyncMixin, nn.Module):", "MoEFSDPSyncMixin, PreTrainedModel):"),
            Edit(
                SPRUCE,
                SPRUCE_EMBEDDINGS,
                f"    def tie_weights(self, missing_keys=None):\n        return None\n\n{SPRUCE_EMBEDDINGS}",
            ),
        ),
        at="def tie_weights(",
    ),
]

_READ = "if self.config.tie_word_embeddings:"

DEFAULTS = [
    Fault(
        "NAM216",
        "two-files",
        (
            Edit(FIR, _READ, 'if getattr(self.config, "tie_word_embeddings", False):'),
            Edit(
                config("fir"),
                "    return FirConfig(",
                "    config = FirConfig(**overrides)\n"
                '    assert not getattr(config, "tie_word_embeddings", True)\n'
                "    return FirConfig(",
            ),
        ),
        path=config("fir"),
        at='"tie_word_embeddings", True',
    ),
    Fault(
        "NAM216",
        "none-and-false",
        (
            Edit(FIR, _READ, 'if getattr(self.config, "tie_word_embeddings", None):'),
            Edit(FIR, CONFIG_SET, CONFIG_SET + '        self.tied = getattr(config, "tie_word_embeddings", False)\n'),
        ),
        at='"tie_word_embeddings", None',
    ),
    Fault(
        "NAM216",
        "true-and-none",
        (
            Edit(FIR, _READ, 'if getattr(self.config, "tie_word_embeddings", None):'),
            Edit(
                FIR, CONFIG_SET, CONFIG_SET + '        self.tied = bool(getattr(config, "tie_word_embeddings", True))\n'
            ),
        ),
        at='"tie_word_embeddings", True',  # the first of the two in the file
        also=(Place("NAM113", FIR, '"tie_word_embeddings", True'),),
    ),
    Fault(
        "NAM216",
        "name-kept-in-a-constant",
        (
            Edit(FIR, FIR_CLASS, f'_FLAG = "tie_word_embeddings"\n\n\n{FIR_CLASS}'),
            Edit(FIR, _READ, "if getattr(self.config, _FLAG, True):"),
            Edit(FIR, CONFIG_SET, CONFIG_SET + '        self.tied = getattr(config, "tie_word_embeddings", False)\n'),
        ),
        at="_FLAG, True",
        also=(Place("NAM113", FIR, "_FLAG, True"),),
    ),
    Fault(
        "NAM216",
        "default-kept-in-a-constant",
        (
            Edit(FIR, FIR_CLASS, f"_DEFAULT = True\n\n\n{FIR_CLASS}"),
            Edit(FIR, _READ, 'if getattr(self.config, "tie_word_embeddings", _DEFAULT):'),
            Edit(FIR, CONFIG_SET, CONFIG_SET + '        self.tied = getattr(config, "tie_word_embeddings", False)\n'),
        ),
        at="_DEFAULT)",
        also=(Place("NAM113", FIR, "_DEFAULT)"),),
    ),
    Fault(
        "NAM216",
        "sub-config-read-inside",
        (
            Edit(CEDAR, CONFIG_SET, CONFIG_SET + '        self.tied = getattr(config, "tie_word_embeddings", False)\n'),
            Edit(
                CEDAR,
                CEDAR_BODY,
                '        inner = getattr(self.config.get_text_config(), "tie_word_embeddings", True)\n' + CEDAR_BODY,
            ),
        ),
        at='"tie_word_embeddings", True',
        also=(Place("NAM113", CEDAR, '"tie_word_embeddings", False'),),
    ),
]

FAULTS = [*CONTRADICTIONS, *UNGATED, *DEFAULTS]
