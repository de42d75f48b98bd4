"""The call of the tie guard: how it is reached, which class and which config it gets (NAM203, NAM206, NAM207)."""

from __future__ import annotations

from . import ACME, GUARD, MODEL, PARTS, SIGNATURE, Spelling, acme, function, init, klass, module, registered

CALL = "reject_unsupported_tie_word_embeddings"
BASE = f"{ACME}/base.py"
IN_BASE = "from nemo_automodel.components.models.acme.base import CausalBase\n"
IN_OTHER = "from nemo_automodel.components.models.acme.other import check\n"
TIE_MODULE = "nemo_automodel.components.models.common.tie_word_embeddings"


def _call(
    code: str,
    name: str,
    *lines: str,
    signature: str = SIGNATURE,
    above: str = "",
    members: tuple[str, ...] = (),
    imports: str = "",
    **more: str,
) -> Spelling:
    """A constructor that begins so."""
    text = module(above, klass(*members, constructor=init(*lines, signature=signature)), imports=imports)
    return acme(code, name, text, **more)


def _config(code: str, name: str, signature: str, parameter: str, found: str = "") -> Spelling:
    """A constructor whose config goes by another name."""
    given, _, _ = parameter.partition(".")
    guard = f"{CALL}(type(self), {parameter})" + (f"  # {found}" if found else "")
    return _call(code, name, guard, f"config = {given}", signature=signature)


def _heir(code: str, name: str, base: str, heir: str, *, bases: str = "CausalBase", above: str = "") -> Spelling:
    """A constructor of a base in another file, and the heir's (which may have none)."""
    return Spelling(
        code,
        name,
        {
            BASE: module(klass(name="CausalBase", constructor=base, profile=""), end=""),
            MODEL: module(above, klass(bases=bases, policy="", constructor=heir), imports=IN_BASE),
        },
    )


def _super(line: str, signature: str = SIGNATURE) -> str:
    """Return a constructor that leaves everything to its base."""
    return init(line, signature=signature, build="")


def _shared(code: str, name: str, constructor: str) -> Spelling:
    """A registered base and a registered heir that has nothing of its own: one finding, for both."""
    text = module(
        klass(name="Base", constructor=constructor),
        klass(bases="Base", policy="", constructor=""),
        end="ModelClass = Base",
    )
    files = {MODEL: text, **registered(BaseForCausalLM="Base", AcmeForCausalLM="AcmeForCausalLM")}
    return Spelling(code, name, files, owner="Base.__init__", architectures=("AcmeForCausalLM", "BaseForCausalLM"))


REACHED = [
    _call("NAM203", "partial", "_guard(type(self), config)", above=f"_guard = functools.partial({CALL})\n"),
    _call("NAM203", "static-attribute", "self._guard(type(self), config)", members=(f"_guard = staticmethod({CALL})",)),
    _call("NAM203", "helper-with-the-model", "check(self, config)", above=f"""
        def check(model, config):
            {CALL}(type(model), config)
        """),
    _call("NAM203", "helper-with-the-class", "check(type(self), config)", above=f"""
        def check(cls, config):
            {CALL}(cls, config)
        """),
    _call("NAM203", "helper-of-another-file", "check(type(self), config)", imports=IN_OTHER, other=(
        f"from {TIE_MODULE} import {CALL}\n\n\ndef check(cls, config):\n    {CALL}(cls, config)\n"
    )),
    _call("NAM203", "classmethod-of-self", "self._check(config)", members=(
        function("_check", "cls, config", f"{CALL}(cls, config)", above="@classmethod\n"),
    )),
    _call("NAM203", "classmethod-of-its-type", "type(self)._check(config)", members=(
        function("_check", "cls, config", f"{CALL}(cls, config)", above="@classmethod\n"),
    )),
    acme("NAM203", "decorated-constructor", module(f"""
        def guarded(constructor):
            @functools.wraps(constructor)
            def wrapper(self, config, *args, **kwargs):
                {CALL}(type(self), config)
                constructor(self, config, *args, **kwargs)

            return wrapper
        """, klass(constructor="@guarded\n" + init()))),
    _call("NAM207", "class-bound-on-the-way", f"{CALL}(cls := type(self), config)"),
    _call("NAM206", "cast-to-its-type", f"{CALL}(type(self), cast(AcmeConfig, config))"),
    _call("NAM206", "helper-given-a-sub-config", "check(self, config.text_config)  # NAM206", above=f"""
        def check(model, config):
            {CALL}(type(model), config)
        """),
]  # fmt: skip

NAMES = [
    _config("NAM206", "annotated-second-parameter", "self, backend, cfg: AcmeConfig", "cfg"),
    _config("NAM206", "after-a-config-of-something-else", "self, backend_config, hf_config: AcmeConfig", "hf_config"),
    _config("NAM206", "after-an-optional-one", "self, quant_config=None, cfg: AcmeConfig = None", "cfg"),
    _config("NAM206", "keyword-only", "self, *, hf_config: AcmeConfig", "hf_config"),
    _config("NAM206", "annotated-but-unwrapped", "self, cfg: AcmeConfig", "cfg.text_config", found="NAM206"),
    _call(
        "NAM205",
        "own-config-by-setattr",
        'setattr(self, "config", config)',
        f"{CALL}(type(self), self.config)  # NAM205",
    ),
]  # fmt: skip

GUARDED = init(GUARD)
MIXIN = f"""
class GuardMixin:
    def __init__(self, config, *args, **kwargs):
        {GUARD}
        super().__init__(config, *args, **kwargs)
"""

INHERITED = [
    _heir("NAM203", "no-constructor-of-its-own", GUARDED, ""),
    _heir(
        "NAM203",
        "skips-the-guarded-base",
        GUARDED,
        init("super(CausalBase, self).__init__()", build=PARTS, found="NAM203"),
    ),
    _heir("NAM203", "guarded-by-a-mixin", init(), "", bases="GuardMixin, CausalBase", above=MIXIN),
    _heir(
        "NAM206",
        "sub-config-and-the-rest",
        GUARDED,
        _super(
            "super().__init__(config.text_config, *args, **kwargs)  # NAM206", signature="self, config, *args, **kwargs"
        ),
    ),
    _heir(
        "NAM206",
        "base-names-it-second",
        init(f"{CALL}(type(self), cfg)", "config = cfg", signature="self, backend, cfg: AcmeConfig"),
        _super("super().__init__(None, config)"),
    ),
    _heir(
        "NAM206",
        "base-names-it-second-by-habit",
        init(f"{CALL}(type(self), hf_config)", "config = hf_config", signature="self, backend, hf_config: AcmeConfig"),
        _super("super().__init__(None, config)"),
    ),
    _heir(
        "NAM206",
        "base-takes-a-keyword",
        init(GUARD, signature="self, *, config"),
        _super("super().__init__(config=config.text_config)  # NAM206"),
    ),
    _heir(
        "NAM206",
        "base-takes-another-keyword",
        init(f"{CALL}(type(self), hf_config)", "config = hf_config", signature="self, *, hf_config"),
        _super("super().__init__(hf_config=config.text_config)  # NAM206"),
    ),
    _shared("NAM203", "unguarded-base-and-its-heir", init(found="NAM203")),
    _shared("NAM205", "late-in-a-base-and-its-heir", init("self.backend = 1", f"{GUARD}  # NAM205")),
    _shared("NAM207", "frozen-by-a-base-and-its-heir", init(f"{CALL}(Base, config)  # NAM207")),
]

SPELLINGS = [*REACHED, *NAMES, *INHERITED]
