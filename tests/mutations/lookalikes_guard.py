"""What looks like a fault of the constructor's guard (NAM203-NAM207) or of loading (NAM211) and is none."""

from __future__ import annotations

from . import BASE, Edit, Harmless, model
from .guard import CALL, GUARD, LARCH_SUPER, NAME, NO_CONSTRUCTOR
from .loading import FLIP, PATH, added
from .policy import CONFIG_SET, FIR_CLASS, GATED, POLICY

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

GUARDS = [
    _guard(
        "docstring-and-import-first",
        "both may stand before the guard",
        '"""Build."""',
        "import math  # noqa: F401",
        CALL,
    ),
    _guard(
        "deprecation-warning-first",
        "it may stand before the guard",
        'warnings.warn("use Larch", DeprecationWarning, stacklevel=2)',
        CALL,
        more=(_imported("import warnings"),),
    ),
    _guard(
        "deprecation-helper-first",
        "it may stand before the guard",
        'warn_deprecated_class("Fir")',
        CALL,
        more=(_before_fir("def warn_deprecated_class(name):\n    raise NotImplementedError"),),
    ),
    Harmless(
        "NAM205",
        "availability-check-first",
        (
            Edit(
                JUNIPER,
                JUNIPER_GUARD,
                "            if not _HF_AVAILABLE:\n"
                f'                raise ImportError("transformers")\n{JUNIPER_GUARD}',
            ),
        ),
        "`if not <availability flag>: raise` may stand before the guard",
    ),
    _guard("nothing-but-pass-first", "a statement without meaning", "pass", CALL),
    _guard("in-a-with", "it runs whatever happens, and first", "with torch.no_grad():", f"    {CALL}", code="NAM203"),
    _guard("under-if-true", "a literal decides the condition", "if True:", f"    {CALL}", code="NAM203"),
    _guard(
        "in-both-branches",
        "every path runs it, and first",
        "if backend is None:",
        f"    {CALL}",
        "else:",
        f"    {CALL}",
        code="NAM203",
    ),
    _guard(
        "error-reported-and-raised",
        "the error still comes out",
        "try:",
        f"    {CALL}",
        "except NotImplementedError:",
        '    print("no")',
        "    raise",
        code="NAM203",
    ),
    _guard(
        "own-method-calls-it",
        "the method runs it on the config it is given",
        "self._check(config)",
        code="NAM203",
        more=(Edit(FIR, _METHOD, f"    def _check(self, config):\n        {CALL}\n\n{_METHOD}"),),
    ),
    Harmless(
        "NAM203",
        "constructor-inherited",
        NO_CONSTRUCTOR,
        "a class without its own `__init__` inherits its base's guard",
    ),
    Harmless(
        "NAM203",
        "base-guards-by-keyword",
        (Edit(LARCH, LARCH_SUPER, "        super().__init__(backend=backend, config=config)\n"),),
        "the base gets the same config",
    ),
    Harmless(
        "NAM203",
        "base-called-by-name",
        (Edit(LARCH, LARCH_SUPER, "        CausalLMBase.__init__(self, config, backend)\n"),),
        "the base gets the same config",
    ),
    Harmless(
        "NAM203",
        "base-with-two-arguments-to-super",
        (Edit(LARCH, LARCH_SUPER, "        super(LarchForCausalLM, self).__init__(config, backend)\n"),),
        "the same call",
    ),
    Harmless(
        "NAM203",
        "kept-first-in-larch",
        (Edit(LARCH, LARCH_SUPER, "        super().__init__(config, backend)\n        config = config.to_dict()\n"),),
        "rebound behind the guard",
    ),
    _guard("keyword-arguments", "the same call", f"{NAME}(config=config, model_cls=type(self))", code="NAM206"),
    _guard(
        "dunder-class",
        "`self.__class__` is the class of the instance",
        f"{NAME}(self.__class__, config)",
        code="NAM207",
    ),
    _guard(
        "class-by-a-keyword",
        "`self.__class__` is the class of the instance",
        f"{NAME}(model_cls=self.__class__, config=config)",
        code="NAM207",
    ),
    _guard(
        "alias-behind-it",
        "the guard has run",
        CALL,
        "cfg = config",
        "self.tied = cfg.tie_word_embeddings",
        code="NAM206",
    ),
    _guard(
        "changes-behind-it",
        "the guard has run",
        CALL,
        "setattr(config, 'dtype', config.dtype)",
        "config.use_cache = False",
        code="NAM204",
    ),
    _guard("annotated-result", "the same call", f"_: None = {CALL}", code="NAM203"),
    Harmless(
        "NAM204",
        "unwraps-behind-it",
        (Edit(CEDAR, GUARD, GUARD + "        outer, config = config, config\n"),),
        "the guard has run",
    ),
    Harmless(
        "NAM203",
        "guard-through-its-module",
        (
            Edit(FIR, f"    TieSupport,\n    {NAME},\n", "    TieSupport,\n"),
            _imported("import acme_automodel.components.models.common.tie_word_embeddings as ties"),
            Edit(FIR, GUARD, f"        ties.{NAME}(type(self), config)\n"),
        ),
        "meaning over spelling",
    ),
    Harmless(
        "NAM203",
        "config-by-another-name",
        (
            Edit(
                FIR, "def __init__(self, config: FirConfig, backend", "def __init__(self, hf_config: FirConfig, backend"
            ),
            Edit(FIR, GUARD, f"        {NAME}(type(self), hf_config)\n        config = hf_config\n"),
        ),
        "it is the constructor's own config parameter",
    ),
]

LOADING = [
    Harmless(
        "NAM211",
        "only-the-checkpoint's-own-config",
        (
            added(
                "fir", f"{PATH}, **kwargs", f"config = FirConfig.from_pretrained({PATH})", 'kwargs.pop("device", None)'
            ),
        ),
        "one that only builds from the checkpoint's own config is fine",
    ),
    Harmless(
        "NAM211",
        "written-out-hub-options",
        (
            added(
                "fir",
                f"{PATH}, **kwargs",
                'hub = {k: kwargs[k] for k in ("revision", "token", "cache_dir") if k in kwargs}',
                f"config = FirConfig.from_pretrained({PATH}, **hub)",
            ),
        ),
        "none of the options changes the tie",
    ),
    Harmless(
        "NAM211",
        "named-hub-options",
        (
            added(
                "fir",
                f"{PATH}, revision=None, **kwargs",
                f"config = FirConfig.from_pretrained({PATH}, revision=revision)",
            ),
        ),
        "only written-out options are handed on",
    ),
    Harmless(
        "NAM211",
        "handed-to-the-mixin",
        (added("fir", f"{PATH}, **kwargs", f"return super().from_pretrained({PATH}, **kwargs)", "config = None"),),
        "the mixin's own loader refuses a flip",
    ),
    Harmless(
        "NAM211",
        "guard-under-another-name",
        (
            Edit(CEDAR, "    reject_tie_word_embeddings_flip,\n", "    reject_tie_word_embeddings_flip as same_tie,\n"),
            Edit(CEDAR, FLIP, FLIP.replace("reject_tie_word_embeddings_flip(", "same_tie(")),
        ),
        "meaning over spelling",
    ),
    Harmless(
        "NAM211",
        "guard-in-a-helper",
        (
            Edit(CEDAR, FLIP, "        cls._refuse_flip(checkpoint_config, requested_config)\n"),
            Edit(
                CEDAR,
                "    @classmethod\n    def from_pretrained(",
                "    @classmethod\n"
                f"    def _refuse_flip(cls, checkpoint_config, requested_config):\n{FLIP}\n"
                "    @classmethod\n    def from_pretrained(",
            ),
        ),
        "the helper compares the two",
    ),
    Harmless(
        "NAM216",
        "one-default",
        (
            Edit(
                FIR,
                "        if self.config.tie_word_embeddings:\n",
                '        if getattr(self.config, "tie_word_embeddings", None):\n',
            ),
        ),
        "there is no second default",
    ),
    Harmless(
        "NAM216",
        "same-default-twice",
        (
            Edit(
                FIR,
                "        if self.config.tie_word_embeddings:\n",
                '        if getattr(self.config, "tie_word_embeddings", False):\n',
            ),
            Edit(FIR, CONFIG_SET, CONFIG_SET + "        self.tied = getattr(config, 'tie_word_embeddings', False)\n"),
        ),
        "the defaults agree",
    ),
    Harmless(
        "NAM216",
        "two-packages",
        (
            Edit(
                FIR,
                "        if self.config.tie_word_embeddings:\n",
                '        if getattr(self.config, "tie_word_embeddings", False):\n',
            ),
            Edit(
                LARCH,
                "        if self.config.tie_word_embeddings:\n",
                '        if getattr(self.config, "tie_word_embeddings", None):\n',
            ),
        ),
        "the rule looks at one package at a time",
    ),
    Harmless(
        "NAM208",
        "policy-of-the-base-unused",
        (Edit(BASE, POLICY, POLICY + "    _nemo_tied_weights_keys = {}\n"),),
        "the local keys are there",
    ),
]

HARMLESS = [*GUARDS, *LOADING]
