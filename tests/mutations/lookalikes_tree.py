"""What looks like a fault of NAM210, NAM214 or NAM215 and is none."""

from __future__ import annotations

from . import PACKAGE, Edit, Harmless, config
from .policy import CEDAR, CEDAR_KEYS, FIR, KEYS, LARCH, NN, SPRUCE
from .tree_ties import (
    CEDAR_CONFIG,
    EMBED,
    HEAD,
    NESTED,
    NOT_TAKEN,
    OUTPUT,
    PASSED,
    TIED,
    before_fir,
)

FEED_FORWARD = f"{PACKAGE}/components/models/common/feed_forward.py"
_MODEL_BUILT = "        self.model = FirModel(config)\n"
_TIE = "self.lm_head.weight = self.model.embed_tokens.weight"


def _names(name: str, keys: str, why: str, *more: Edit) -> Harmless:
    """Other keys for Fir."""
    return Harmless("NAM210", name, (Edit(FIR, KEYS, f"    _tied_weights_keys = {keys}\n"), *more), why)


NAMES = [
    _names("modules", '{"lm_head": "model.embed_tokens"}', "transformers 5 ties all that begins so"),
    _names("older-list-of-names", '["lm_head.weight"]', "the head is there"),
    _names("pattern", '{r"lm_head\\.(weight|scale)": "model.embed_tokens.weight"}', "a pattern is no name"),
    _names(
        "one-layer",
        '{"lm_head.weight": "model.embed_tokens.weight", '
        '"model.layers.1.mlp.up_proj.weight": "model.layers.0.mlp.up_proj.weight"}',
        "an index stands for a layer",
    ),
    _names(
        "one-variant",
        '{"lm_head.weight": "model.embed_tokens.weight", '
        '"model.layers.0.self_attn.k_proj.bias": "model.layers.0.self_attn.v_proj.bias"}',
        "there if the config says so",
    ),
    _names(
        "second-head",
        '{"lm_head.weight": "model.embed_tokens.weight", "draft_head.weight": "model.embed_tokens.weight"}',
        "there if the config says so",
        Edit(
            FIR,
            HEAD,
            HEAD + "        if config.num_hidden_layers > 8:\n"
            "            self.draft_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)\n",
        ),
    ),
    _names(
        "tree-that-is-not-complete",
        '{"lm_head.weight": "model.wte.weight"}',
        "the source of the decoder is not at hand",
        Edit(FIR, NN, NN + "from acme_kernels import FusedDecoder\n"),
        Edit(FIR, _MODEL_BUILT, "        self.model = FusedDecoder(config)\n"),
    ),
    _names(
        "put-together",
        '{f"{_HEAD}.weight": ".".join(("model", "embed_tokens", "weight"))}',
        "the names are right",
        before_fir('_HEAD = "lm_head"'),
    ),
    _names(
        "second-name-of-the-embedding",
        '{"lm_head.weight": "embed.weight"}',
        "a module may hang at two names",
        Edit(FIR, HEAD, "        self.embed = self.model.embed_tokens\n" + HEAD),
    ),
    Harmless(
        "NAM210",
        "wrapper-left-out-by-both",
        (
            Edit(CEDAR, CEDAR_KEYS, CEDAR_KEYS.replace("model.language_model.", "language_model.")),
            Edit(
                CEDAR,
                "        self.model = CedarModel(config)\n",
                "        self.model = CedarModel(config)\n        self.language_model = self.model.language_model\n",
            ),
        ),
        "the language model hangs at both names",
    ),
]


def _behind_the_tie(name: str, why: str, *lines: str, more: tuple[Edit, ...] = (), path: str = FIR) -> Harmless:
    """More statements at the end of a constructor."""
    text = TIED.replace("\n\n", "\n" + "".join(f"        {line}\n" for line in lines) + "\n")
    return Harmless("NAM214", name, (Edit(path, TIED, text), *more), why)


_REBUILT = f"    def _rebuild(self, config):\n{_MODEL_BUILT}\n{OUTPUT}"

TIES = [
    _behind_the_tie("tied-again", "the tie is renewed", "self.model = FirModel(config)", "self.tie_weights()"),
    _behind_the_tie(
        "aliased-by-hand",
        "the tie is renewed",
        "self.model = FirModel(config)",
        "if config.tie_word_embeddings:",
        f"    {_TIE}",
    ),
    _behind_the_tie(
        "aliased-by-setattr",
        "the tie is renewed",
        f"self.model.embed_tokens = {EMBED}",
        'setattr(self.lm_head, "weight", self.model.embed_tokens.weight)',
    ),
    _behind_the_tie(
        "tied-by-a-helper",
        "the tie is renewed",
        "self.model = FirModel(config)",
        "_share(self.lm_head, self.model.embed_tokens)",
        more=(before_fir("def _share(head, source):\n    head.weight = source.weight"),),
    ),
    _behind_the_tie(
        "head-of-its-own", "a new head is tied to nothing", "self.model = FirModel(config)", *HEAD.strip().split("\n")
    ),
    _behind_the_tie("another-module", "the embedding stays", "self.model.norm = nn.LayerNorm(config.hidden_size)"),
    _behind_the_tie(
        "wrapped-again", "what was there goes on", "self.model.embed_tokens = self.model.embed_tokens.cpu()"
    ),
    _behind_the_tie("attribute-that-is-no-module", "nothing is replaced", "self.model.embed_scale = 2.0"),
    _behind_the_tie(
        "tower-beside-it",
        "the language model stays",
        "self.model.vision_tower = CedarVisionTower(config.vision_config)",
        path=CEDAR,
        more=(
            Edit(
                CEDAR,
                "import CedarProjector, CedarVisionTower",
                "import (  # both\n    CedarProjector,\n    CedarVisionTower,\n)",
            ),
        ),
    ),
    Harmless(
        "NAM214",
        "replaced-before-the-tie",
        (Edit(FIR, _MODEL_BUILT, f"{_MODEL_BUILT}        self.model.embed_tokens = {EMBED}\n"),),
        "the tie comes later",
    ),
    Harmless(
        "NAM214",
        "helper-before-the-tie",
        (Edit(FIR, _MODEL_BUILT, "        self._rebuild(config)\n"), Edit(FIR, OUTPUT, _REBUILT)),
        "the tie comes later",
    ),
    Harmless(
        "NAM214",
        "method-that-ties",
        (
            Edit(
                FIR,
                OUTPUT,
                "    def grow(self, size: int) -> None:\n"
                "        self.model.embed_tokens = nn.Embedding(size, self.config.hidden_size)\n"
                f"        self.tie_weights()\n\n{OUTPUT}",
            ),
        ),
        "the tie is renewed",
    ),
    Harmless(
        "NAM214",
        "setter",
        (
            Edit(
                FIR,
                OUTPUT,
                "    def set_input_embeddings(self, value: nn.Module) -> None:\n"
                f"        self.model.embed_tokens = value\n\n{OUTPUT}",
            ),
        ),
        "who sets another embedding ties it",
    ),
    Harmless(
        "NAM214",
        "never-tied",
        (
            Edit(
                SPRUCE,
                "        if self.backend.enable_hf_state_dict_adapter:\n",
                "        self.model = SpruceModel(config, self.backend, moe_overrides)\n"
                "        if self.backend.enable_hf_state_dict_adapter:\n",
            ),
        ),
        "UNTIED_ONLY has no tie to lose",
    ),
    Harmless(
        "NAM214",
        "tie-of-the-base-does-nothing",
        (
            Edit(
                LARCH,
                "        super().__init__(config, backend)\n",
                "        super().__init__(config, backend)\n        super().tie_weights()\n",
            ),
        ),
        "the tie comes later",
    ),
]


def _flag(name: str, why: str, *edits: Edit) -> Harmless:
    return Harmless("NAM215", name, edits, why)


def _passed(*lines: str) -> Edit:
    return Edit(CEDAR_CONFIG, PASSED, "".join(f"        {line}\n" for line in lines))


FLAGS = [
    _flag("among-the-rest", "the rest has it", NOT_TAKEN, _passed("super().__init__(**kwargs)")),
    _flag(
        "default-among-the-rest",
        "what the caller gave stays",
        NOT_TAKEN,
        _passed('kwargs.setdefault("tie_word_embeddings", True)', "super().__init__(**kwargs)"),
    ),
    _flag(
        "nested-as-a-fallback",
        "the caller's counts first",
        NOT_TAKEN,
        _passed(
            'tied = kwargs.pop("tie_word_embeddings", None)',
            f"super().__init__(tie_word_embeddings={NESTED} if tied is None else tied, **kwargs)",
        ),
    ),
    _flag(
        "nested-where-none-is-given",
        "the caller's counts first",
        NOT_TAKEN,
        _passed(
            'if "tie_word_embeddings" not in kwargs:',
            f'    kwargs["tie_word_embeddings"] = {NESTED}',
            "super().__init__(**kwargs)",
        ),
    ),
    _flag(
        "popped-and-put-back",
        "the caller's counts first",
        NOT_TAKEN,
        _passed(
            'tied = kwargs.pop("tie_word_embeddings", True)',
            'kwargs["tie_word_embeddings"] = bool(tied)',
            "super().__init__(**kwargs)",
        ),
    ),
    _flag(
        "set-afterwards",
        "it is on the config",
        _passed("super().__init__(**kwargs)", "self.tie_word_embeddings = tie_word_embeddings"),
    ),
    _flag(
        "set-by-name",
        "it is on the config",
        _passed('setattr(self, "tie_word_embeddings", tie_word_embeddings)', "super().__init__(**kwargs)"),
    ),
    _flag(
        "set-in-a-loop",
        "it is on the config",
        NOT_TAKEN,
        _passed("super().__init__()", "for name, value in kwargs.items():", "    setattr(self, name, value)"),
    ),
    _flag(
        "through-a-local",
        "it is handed on",
        _passed("tied = bool(tie_word_embeddings)", "super().__init__(**kwargs, tie_word_embeddings=tied)"),
    ),
    _flag(
        "in-a-new-dict",
        "it is handed on",
        _passed("super().__init__(**{**kwargs, 'tie_word_embeddings': tie_word_embeddings})"),
    ),
    _flag(
        "through-a-method",
        "the method hands it on",
        Edit(
            CEDAR_CONFIG,
            PASSED,
            "        self._accept(tie_word_embeddings, kwargs)\n\n"
            "    def _accept(self, tied: bool, rest: dict[str, Any]) -> None:\n"
            "        AcmePretrainedConfig.__init__(self, tie_word_embeddings=tied, **rest)\n",
        ),
    ),
    Harmless(
        "NAM215",
        "language-only",
        (
            Edit(
                config("fir"),
                "        super().__init__(**kwargs)\n",
                '        kwargs.pop("tie_word_embeddings", None)\n'
                "        super().__init__(tie_word_embeddings=False, **kwargs)\n",
            ),
        ),
        "there is no other config beside it",
    ),
]

HARMLESS = [*NAMES, *TIES, *FLAGS]
