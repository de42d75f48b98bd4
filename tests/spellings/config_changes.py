"""What stands before the tie guard, and what it does to the config (NAM204, NAM205)."""

from __future__ import annotations

from . import (
    BUILD,
    GUARD,
    PARTS,
    PLAIN,
    SUPER,
    Spelling,
    acme,
    function,
    init,
    klass,
    mark,
    module,
)

ON_TEXT = BUILD.replace("AcmeModel(config)", "AcmeModel(text)")
FLAGS = "_HF_AVAILABLE = True\n_TE_AVAILABLE = True\n"


def _before(
    name: str,
    *lines: str,
    found: str = "NAM204",
    build: str = BUILD,
    members: tuple[str, ...] = (),
    above: str = "",
    bases: str = PLAIN,
    library: bool = True,
) -> Spelling:
    """A constructor that begins so and guards then."""
    constructor = init(*lines, mark(GUARD, found), build=build)
    text = module(above, klass(*members, bases=bases, constructor=constructor))
    return acme(found or "NAM205", name, text, library=library)


def _built(name: str, *lines: str, **how) -> Spelling:
    """A constructor that builds something before it guards."""
    return _before(name, SUPER, *lines, build=PARTS, **how)


HARMLESS = [
    _before("warns-with-an-instance", 'warnings.warn(DeprecationWarning("old"))', found=""),
    _before("flag-is-false", "if _HF_AVAILABLE is False:", '    raise ImportError("x")', found="", above=FLAGS),
    _before(
        "not-both-flags",
        "if not (_HF_AVAILABLE and _TE_AVAILABLE):",
        '    raise ImportError("x")',
        found="",
        above=FLAGS,
    ),
    _before(
        "either-flag-missing",
        "if not _HF_AVAILABLE or not _TE_AVAILABLE:",
        '    raise ImportError("x")',
        found="",
        above=FLAGS,
    ),
    _before("changes-a-copy", "cfg = copy.deepcopy(config)", "cfg.pad = 0", found="NAM205"),
]

CHANGED = [
    _before("object-setattr", 'object.__setattr__(config, "pad", 0)'),
    _before("two-attributes-at-once", "config.pad, config.bos = 0, 1"),
    _before("attribute-of-a-name-bound-there", "(c := config).pad = 0"),
    _before("attribute-of-a-getattr", 'getattr(config, "text_config").pad = 0'),
    _before("attribute-of-the-text-config", "config.get_text_config().pad = 0"),
    _before(
        "own-method-changes-own-config",
        "self.config = config",
        "self._fix()",
        members=(function("_fix", "self", "self.config.pad = 0"),),
    ),
    _before(
        "own-staticmethod-changes-it",
        "self._fix(config)",
        members=(function("_fix", "cfg", "cfg.pad = 0", above="@staticmethod\n"),),
    ),
    _before(
        "helper-changes-a-sub-config",
        "fill(config.text_config)",
        above="def fill(cfg):\n    cfg.tie_word_embeddings = False\n",
    ),
    _before("loop-over-sub-configs", "for sub in (config.text_config, config.vision_config):", "    sub.dtype = 1"),
    _before(
        "loop-over-their-names",
        'for name in ("text_config", "vision_config"):',
        "    getattr(config, name).dtype = 1",
    ),
    _before(
        "loop-over-names-with-a-local",
        'for name in ("text_config", "vision_config"):',
        "    sub = getattr(config, name, None)",
        "    if sub is not None:",
        "        sub.dtype = 1",
    ),
]

UNWRAPPED = [
    _before("sub-config-of-a-sub-config", "text = config.thinker_config.text_config", build=ON_TEXT),
    _before("copy-of-a-sub-config", "text = copy.deepcopy(config.text_config)", build=ON_TEXT),
    _before(
        "sub-config-to-a-base-constructor",
        "super().__init__(config.text_config)",
        build=PARTS,
        bases="HFCheckpointingMixin, PreTrainedModel",
    ),
]

BUILT = [
    _built("from-config", "self.tower = LlamaModel._from_config(config)"),
    _built("auto-model", "self.tower = AutoModel.from_config(config)"),
    _built("foreign-class-by-its-name", "self.tower = LlamaModel(config)", library=False),
    _built(
        "factory",
        "self.proj = make(config)",
        above="def make(config):\n    layer = nn.Linear(2, 2)\n    return layer\n",
    ),
    _built("own-method", "self._build()", members=(function("_build", "self", "self.proj = nn.Linear(2, 2)"),)),
    _built("class-held-by-an-attribute", "self.tower = self.model_cls(config)", members=("model_cls = AcmeModel",)),
    _built(
        "heir-of-a-foreign-class",
        "self.tower = Inner(config)",
        above="class Inner(LlamaPreTrainedModel):\n    pass\n",
        library=False,
    ),
]

SPELLINGS = [*HARMLESS, *CHANGED, *UNWRAPPED, *BUILT]
