"""NAM210, NAM214, NAM215: tied names that the module tree does not have, ties undone, flags lost on the way."""

from __future__ import annotations

from . import BASE, Edit, Fault, Place, config
from .policy import (
    CEDAR,
    CEDAR_KEYS,
    CONFIG_SET,
    FIR,
    FIR_CLASS,
    GATED,
    KEYS,
    LARCH,
    NN,
    POLICY,
)

# The end of a constructor that ties, and a place for another method.
TIED = "        self.tie_weights()\n\n    def get_input_embeddings(self)"
EMBEDDINGS = "    def get_input_embeddings(self)"
OUTPUT = "    def get_output_embeddings(self)"
HEAD = """        self.lm_head = initialize_linear_module(
            self.backend.linear, config.hidden_size, config.vocab_size, dtype=dtype_of(config)
        )
"""
EMBED = "nn.Embedding(config.vocab_size, config.hidden_size)"
LARCH_EMBED = "self.embed_tokens = nn.Embedding("
CEDAR_CONFIG = config("cedar")
FLAG = "        tie_word_embeddings: bool = True,\n"
REST = "        **kwargs: Any,\n    ):\n        self.text_config = ("
PASSED = "        super().__init__(tie_word_embeddings=tie_word_embeddings, **kwargs)\n"
COMPOSITE = "class CedarConfig(AcmePretrainedConfig):\n"
NESTED = "self.text_config.tie_word_embeddings"


def _keys(value: str) -> Edit:
    return Edit(FIR, KEYS, f"    _tied_weights_keys = {value}\n")


def before_fir(text: str) -> Edit:
    """Something new at the top level of Fir's module, above its registered class."""
    return Edit(FIR, FIR_CLASS, f"{text}\n\n\n{FIR_CLASS}")


UNKNOWN_NAMES = [
    Fault(
        "NAM210",
        "embedding-misspelled",
        (_keys('{"lm_head.weight": "model.embed_token.weight"}'),),
        at="model.embed_token.weight",
    ),
    Fault("NAM210", "head-misspelled", (_keys('{"head.weight": "model.embed_tokens.weight"}'),), at='"head.weight"'),
    Fault("NAM210", "the-older-list", (_keys('["lm_head.weights"]'),), at="lm_head.weights"),
    Fault("NAM210", "tuple", (_keys('("lm_head.weight", "model.wte.weight")'),), at="model.wte.weight"),
    Fault(
        "NAM210",
        "parameter-that-the-head-lacks",
        (_keys('{"lm_head.weight": "model.embed_tokens.weight", "lm_head.bias": "model.embed_tokens.weight"}'),),
        at="lm_head.bias",
    ),
    Fault(
        "NAM210",
        "dict-by-call",
        (_keys('dict([("lm_head.weight", "embed_tokens.weight")])'),),
        at="embed_tokens.weight",
    ),
    Fault(
        "NAM210",
        "spread-from-a-name",
        (
            before_fir('_SHARED = {"lm_head.weight": "backbone.embed_tokens.weight"}'),
            _keys("{**_SHARED}"),
        ),
        at="_tied_weights_keys",
    ),
    Fault(
        "NAM210",
        "put-together-from-parts",
        (before_fir('_PREFIX = "decoder."'), _keys('{"lm_head.weight": f"{_PREFIX}embed_tokens.weight"}')),
        at="_tied_weights_keys",
    ),
    Fault(
        "NAM210",
        "inside-a-layer",
        (_keys('{"lm_head.weight": "model.layers.0.mlp.weight"}'),),
        at="model.layers.0.mlp.weight",
    ),
    Fault(
        "NAM210",
        "annotated",
        (Edit(FIR, KEYS, '    _tied_weights_keys: dict = {"lm_head.weight": "embed_tokens.weight"}\n'),),
        at="embed_tokens.weight",
    ),
    Fault(
        "NAM210",
        "backbone-was-wrapped",
        (Edit(CEDAR, CEDAR_KEYS, CEDAR_KEYS.replace("language_model.", "")),),
        at="model.embed_tokens.weight",
    ),
    Fault(
        "NAM210",
        "embedding-was-renamed",
        (
            Edit(LARCH, LARCH_EMBED, LARCH_EMBED.replace("embed_tokens", "embed_in")),
            Edit(LARCH, "hidden = self.embed_tokens(input_ids)", "hidden = self.embed_in(input_ids)"),
            Edit(LARCH, "return self.model.embed_tokens\n", "return self.model.embed_in\n"),
            Edit(LARCH, GATED, GATED.replace("embed_tokens", "embed_in")),
        ),
        at="_tied_weights_keys",
    ),
    Fault(
        "NAM210",
        "backbone-was-renamed-in-a-base",
        (
            Edit(BASE, "hidden = self.model(", "hidden = self.decoder("),
            Edit(LARCH, "self.model = LarchModel(", "self.decoder = LarchModel("),
            Edit(LARCH, "return self.model.embed_tokens\n", "return self.decoder.embed_tokens\n"),
            Edit(LARCH, GATED, GATED.replace("self.model.", "self.decoder.")),
        ),
        path=LARCH,
        at="_tied_weights_keys",
    ),
    Fault(
        "NAM210",
        "keys-of-a-base-in-another-file",
        (Edit(BASE, POLICY, POLICY + KEYS.replace("model.embed", "embed")), Edit(LARCH, KEYS, "")),
        at="_tied_weights_keys",
        also=(Place("NAM208", LARCH, "class LarchForCausalLM("),),
    ),
]


def _behind_the_tie(*lines: str) -> Edit:
    """More statements at the end of Fir's constructor."""
    return Edit(FIR, TIED, TIED.replace("\n\n", "\n" + "".join(f"        {line}\n" for line in lines) + "\n"))


def _replaced(name: str, *lines: str, at: str = "", more: tuple[Edit, ...] = ()) -> Fault:
    """A replacement behind the tie; the finding is at the last line, if nothing else is said."""
    return Fault("NAM214", name, (_behind_the_tie(*lines), *more), at=at or lines[-1].strip())


_TWO_STEPS = """        super().__init__(config, backend)
        self.model = LarchModel(config)
        self.tie_weights()

    def get_input_embeddings(self) -> nn.Module:
        return self.model.embed_tokens

    def tie_weights(self, *args: Any, **kwargs: Any) -> None:
        \"\"\"Let the head share the embedding's weight ``[V, H]``, if the config says so.\"\"\"
"""
_LARCH_CLASS = "class LarchForCausalLM(CausalLMBase):\n"
_LARCH_BASE = f"""class LarchBase(CausalLMBase):
    \"\"\"Builds and ties.\"\"\"

    def __init__(self, config: LarchConfig, backend: BackendConfig | None = None):
        super().__init__(config, backend)
        self.model = LarchModel(config)
        self.tie_weights()

    def tie_weights(self, *args: Any, **kwargs: Any) -> None:
{GATED}

class LarchForCausalLM(LarchBase):
"""

UNDONE = [
    _replaced("the-backbone", "self.model = FirModel(config)"),
    _replaced("the-embedding", f"self.model.embed_tokens = {EMBED}"),
    _replaced("annotated", "self.model: nn.Module = FirModel(config)"),
    _replaced("one-of-two", "self.model, self.extra = FirModel(config), None"),
    _replaced("chained", "self.model = backbone = FirModel(config)"),
    _replaced("through-a-local", "backbone = FirModel(config)", "self.model = backbone"),
    _replaced("below-a-local", "inner = self.model", f"inner.embed_tokens = {EMBED}"),
    _replaced("setattr", f'setattr(self.model, "embed_tokens", {EMBED})'),
    _replaced("add-module", f'self.model.add_module("embed_tokens", {EMBED})'),
    _replaced(
        "under-a-condition",
        "if config.vocab_size % 64:",
        f"    self.model.embed_tokens = {EMBED}",
    ),
    _replaced(
        "in-a-with",
        'with torch.device("meta"):',
        f"    self.model.embed_tokens = {EMBED}",
    ),
    _replaced(
        "made-by-a-function",
        "self.model = _backbone(config)",
        more=(before_fir("def _backbone(config):\n    return FirModel(config)"),),
    ),
    _replaced(
        "in-a-helper",
        "self._rebuild(config)",
        at="self.model = FirModel(config)",
        more=(
            Edit(FIR, OUTPUT, f"    def _rebuild(self, config):\n        self.model = FirModel(config)\n\n{OUTPUT}"),
        ),
    ),
    _replaced(
        "by-the-setter",
        f"self.set_input_embeddings({EMBED})",
        more=(
            Edit(
                FIR,
                OUTPUT,
                "    def set_input_embeddings(self, value):\n        self.model.embed_tokens = value\n\n" + OUTPUT,
            ),
        ),
    ),
    Fault(
        "NAM214",
        "in-a-method",
        (
            Edit(
                FIR,
                OUTPUT,
                "    def grow(self, size: int) -> None:\n"
                f"        self.model.embed_tokens = nn.Embedding(size, self.config.hidden_size)\n\n{OUTPUT}",
            ),
        ),
        at="self.model.embed_tokens = nn.Embedding(size",
    ),
    Fault(
        "NAM214",
        "the-language-model-inside",
        (
            Edit(
                CEDAR,
                TIED,
                TIED.replace("\n\n", "\n        self.model.language_model = FirModel(config.text_config)\n\n"),
            ),
        ),
        at="self.model.language_model = ",
    ),
    Fault(
        "NAM214",
        "after-a-base-that-ties",
        (
            Edit(LARCH, _LARCH_CLASS, _LARCH_BASE),
            Edit(
                LARCH,
                _TWO_STEPS,
                _TWO_STEPS.replace("        self.tie_weights()\n", "").replace(
                    "self.model = LarchModel(config)", "self.model = LarchModel(config)  # again"
                ),
            ),
        ),
        at="# again",
    ),
    Fault(
        "NAM214",
        "after-a-base-of-transformers",
        (
            Edit(FIR, NN, NN + "from transformers import LlamaForCausalLM\n"),
            Edit(FIR, FIR_CLASS, "class FirForCausalLM(HFCheckpointingMixin, LlamaForCausalLM):\n"),
            Edit(FIR, f"        super().__init__()\n{CONFIG_SET}", f"        super().__init__(config)\n{CONFIG_SET}"),
            Edit(FIR, HEAD + "        self.tie_weights()\n", ""),
        ),
        at="self.model = FirModel(config)",
    ),
]


# Which of the three constructors of the file it is.
_SIGNATURE = "    def __init__(\n        self,\n        text_config:"
_MARKED = Edit(CEDAR_CONFIG, _SIGNATURE, _SIGNATURE.replace("(\n", "(  # of all\n", 1))


def _flag(name: str, *edits: Edit, at: str = "# of all") -> Fault:
    return Fault("NAM215", name, (_MARKED, *edits), at=at)


def _passed(*lines: str) -> Edit:
    return Edit(CEDAR_CONFIG, PASSED, "".join(f"        {line}\n" for line in lines))


NOT_TAKEN = Edit(CEDAR_CONFIG, FLAG, "")

LOST_FLAGS = [
    _flag("taken-and-dropped", _passed("super().__init__(**kwargs)")),
    _flag("always-tied", _passed("super().__init__(tie_word_embeddings=True, **kwargs)")),
    _flag("that-of-the-text-config", _passed(f"super().__init__(tie_word_embeddings={NESTED}, **kwargs)")),
    _flag(
        "that-of-the-text-config-not-taken",
        NOT_TAKEN,
        _passed('kwargs.pop("tie_word_embeddings", None)', f"super().__init__(tie_word_embeddings={NESTED}, **kwargs)"),
    ),
    _flag(
        "read-by-name",
        _passed(
            "text = self.text_config",
            'tied = getattr(text, "tie_word_embeddings")',
            "super().__init__(tie_word_embeddings=tied, **kwargs)",
        ),
    ),
    _flag(
        "put-among-the-rest",
        NOT_TAKEN,
        _passed(f'kwargs["tie_word_embeddings"] = {NESTED}', "super().__init__(**kwargs)"),
    ),
    _flag(
        "updated-among-the-rest",
        NOT_TAKEN,
        _passed(f"kwargs.update(tie_word_embeddings={NESTED})", "super().__init__(**kwargs)"),
    ),
    _flag(
        "taken-out-of-the-rest",
        NOT_TAKEN,
        _passed('kwargs.pop("tie_word_embeddings", None)', "super().__init__(**kwargs)"),
    ),
    _flag(
        "deleted-from-the-rest",
        NOT_TAKEN,
        _passed(
            'if "tie_word_embeddings" in kwargs:',
            '    del kwargs["tie_word_embeddings"]',
            "super().__init__(**kwargs)",
        ),
    ),
    _flag("written-over", _passed(PASSED.strip(), f"self.tie_word_embeddings = {NESTED}")),
    _flag("written-over-by-setattr", _passed(PASSED.strip(), f'setattr(self, "tie_word_embeddings", {NESTED})')),
    _flag("base-by-name", _passed("AcmePretrainedConfig.__init__(self, **kwargs)")),
    _flag(
        "no-way-to-give-it",
        NOT_TAKEN,
        Edit(CEDAR_CONFIG, REST, REST.replace("        **kwargs: Any,\n", "")),
        _passed("super().__init__()"),
    ),
    _flag(
        "rest-goes-nowhere",
        NOT_TAKEN,
        _passed('super().__init__(architectures=kwargs.get("architectures"))'),
    ),
    _flag(
        "in-a-base",
        Edit(
            CEDAR_CONFIG,
            COMPOSITE,
            "class CedarComposite(AcmePretrainedConfig):\n"
            "    def __init__(self, tie_word_embeddings: bool = True, **kwargs: Any):  # drops it\n"
            "        super().__init__(**kwargs)\n\n\nclass CedarConfig(CedarComposite):\n",
        ),
        at="# drops it",
    ),
]

FAULTS = [*UNKNOWN_NAMES, *UNDONE, *LOST_FLAGS]
