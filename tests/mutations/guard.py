"""NAM203-NAM207: the guard of the constructor, on every path, first, on the caller's own config and class."""

from __future__ import annotations

from . import BASE, Edit, Fault, Place, model

FIR, CEDAR, LARCH = model("fir"), model("cedar"), model("larch")
NAME = "reject_unsupported_tie_word_embeddings"
GUARD = f"        {NAME}(type(self), config)\n"
INIT = "    def __init__(self, config: FirConfig, backend: BackendConfig | None = None):\n"
AT_INIT = "def __init__(self, config: FirConfig, backend"
LARCH_INIT = "    def __init__(self, config: LarchConfig, backend: BackendConfig | None = None):\n"
LARCH_SUPER = "        super().__init__(config, backend)\n"
LARCH_BODY = f"{LARCH_INIT}{LARCH_SUPER}        self.model = LarchModel(config)\n        self.tie_weights()\n\n"
# Larch without a constructor of its own: that of the base builds the whole model.
NO_CONSTRUCTOR = (
    Edit(LARCH, LARCH_BODY, "    backbone_class = LarchModel\n\n"),
    Edit(
        BASE,
        "        self.lm_head = initialize",
        "        self.model = self.backbone_class(config)\n        self.lm_head = initialize",
    ),
)
BEFORE_FIR = "class FirForCausalLM("
SUPER = "        super().__init__()\n        self.config = config\n"


def _lines(*lines: str) -> str:
    return "".join(f"        {line}\n" for line in lines)


def _instead(*lines: str, path: str = FIR) -> Edit:
    """Other statements where the guard stands."""
    return Edit(path, GUARD, _lines(*lines))


def _ahead(*lines: str, path: str = FIR) -> Edit:
    """Statements ahead of the guard."""
    return Edit(path, GUARD, _lines(*lines) + GUARD)


def _helper(text: str) -> Edit:
    return Edit(FIR, BEFORE_FIR, f"{text}\n\n\n{BEFORE_FIR}")


def _imported(line: str) -> Edit:
    return Edit(FIR, "from typing import Any\n", f"from typing import Any\n{line}\n")


def _missing(name: str, *edits: Edit) -> Fault:
    return Fault("NAM203", name, edits, at=AT_INIT)


def _late(name: str, *edits: Edit, path: str = FIR, guard: str = NAME + "(", also: tuple[str, ...] = ()) -> Fault:
    others = tuple(Place(code, path, guard) for code in also)
    return Fault("NAM204", name, edits, at=guard, path=path, also=others)


CALL = f"{NAME}(type(self), config)"

MISSING = [
    _missing("no-call", _instead("assert config is not None")),
    _missing("under-a-condition", _instead("if backend is None:", f"    {CALL}")),
    _missing(
        "under-two-conditions",
        _instead("if backend is None:", "    if config.hidden_size:", f"        {CALL}", "else:", f"    {CALL}"),
    ),
    _missing("in-a-loop", _instead("for _ in config.architectures or ():", f"    {CALL}")),
    _missing("in-a-while", _instead("while backend is None:", f"    {CALL}", "    break")),
    _missing("in-a-nested-function", _instead("def check():", f"    {CALL}", "", "self.check = check")),
    _missing("in-a-lambda", _instead(f"check = lambda: {CALL}  # noqa: E731")),
    _missing("named-but-not-called", _instead(f"self.check = {NAME}")),
    _missing("short-circuit", _instead(f"backend is None and {CALL}")),
    _missing("conditional-expression", _instead(f"{CALL} if backend is None else None")),
    _missing("early-return", _instead("if backend is None:", "    return", CALL)),
    _missing("error-swallowed", _instead("try:", f"    {CALL}", "except NotImplementedError:", "    pass")),
    _missing(
        "only-when-something-else-fails",
        _instead("try:", "    backend = backend or BackendConfig()", "except TypeError:", f"    {CALL}"),
    ),
    _missing("in-one-case-of-a-match", _instead("match backend:", "    case None:", f"        {CALL}")),
    _missing("in-a-comprehension", _instead(f"_ = [{CALL} for _ in config.architectures or ()]")),
    _missing(
        "in-another-method",
        _instead("self.checked = False"),
        Edit(
            FIR,
            "    def get_output_embeddings(self)",
            f"    def check(self, config):\n        {CALL}\n\n    def get_output_embeddings(self)",
        ),
    ),
    Fault(
        "NAM203",
        "base-in-another-file-lost-it",
        (Edit(BASE, GUARD, ""),),
        path=LARCH,
        at="def __init__(self, config: LarchConfig",
    ),
    Fault(
        "NAM203",
        "inherited-constructor-lost-it",
        (Edit(BASE, GUARD, ""), *NO_CONSTRUCTOR),
        at="def __init__(self, config: Any",
    ),
]

LATE = [
    _late("unwraps", _ahead("config = config.text_config", path=CEDAR), path=CEDAR, also=("NAM206",)),
    _late(
        "unwraps-by-walrus",
        _ahead("hidden_size = (config := config.text_config).hidden_size", path=CEDAR),
        path=CEDAR,
        also=("NAM206",),
    ),
    _late(
        "unwraps-by-getattr",
        _ahead('config = getattr(config, "text_config", config)', path=CEDAR),
        path=CEDAR,
        also=("NAM206",),
    ),
    _late(
        "unwraps-by-tuple",
        _ahead("config, vision = config.text_config, config.vision_config", path=CEDAR),
        path=CEDAR,
        also=("NAM206",),
    ),
    _late(
        "unwraps-by-a-function",
        Edit(
            CEDAR,
            "class CedarModel(nn.Module):",
            "def _text(config):\n    if config.text_config is not None:\n        return config.text_config\n"
            "    return config\n\n\nclass CedarModel(nn.Module):",
        ),
        _ahead("text = _text(config)", "print(text)", path=CEDAR),
        path=CEDAR,
    ),
    _late(
        "rebinds-a-copy", _imported("from copy import deepcopy"), _ahead("config = deepcopy(config)"), also=("NAM206",)
    ),
    _late(
        "sub-config-used-as-the-config",
        _ahead("text_config = config.text_config", path=CEDAR),
        Edit(
            CEDAR,
            "        self.model = CedarModel(config)\n        text_config = config.text_config\n",
            "        self.model = CedarModel(config)\n",
        ),
        path=CEDAR,
    ),
    _late("changes-a-field", _ahead("config.tie_word_embeddings = False")),
    _late("changes-by-augmented-assignment", _ahead("config.num_hidden_layers += 1")),
    _late("changes-by-setattr", _ahead('setattr(config, "dtype", "float32")')),
    _late("changes-through-self", _ahead("self.config = config", 'self.config.dtype = "float32"')),
    _late("changes-through-a-second-name", _ahead("cfg = config", 'cfg.dtype = "float32"')),
    _late("changes-its-dict", _ahead('config.__dict__["dtype"] = "float32"')),
    _late("changes-by-vars", _ahead('vars(config).update(dtype="float32")')),
    _late("changes-under-a-condition", _ahead("if config.dtype is None:", '    config.dtype = "float32"')),
    _late(
        "loops-over-its-fields", _ahead("for name, value in vars(config).items():", "    setattr(self, name, value)")
    ),
    _late(
        "changed-by-a-helper",
        _helper('def _complete(config):\n    """Fill in."""\n    config.dtype = config.dtype or "float32"'),
        _ahead("_complete(config)"),
    ),
    _late(
        "builds-the-decoder",
        Edit(FIR, GUARD + SUPER, SUPER),
        Edit(FIR, "        self.model = FirModel(config)\n", "        self.model = FirModel(config)\n" + GUARD),
    ),
    _late(
        "builds-by-a-factory",
        Edit(FIR, GUARD, ""),
        Edit(
            FIR,
            "            self.backend.linear, config.hidden_size, config.vocab_size, dtype=dtype_of(config)\n"
            "        )\n",
            "            self.backend.linear, config.hidden_size, config.vocab_size, dtype=dtype_of(config)\n"
            "        )\n" + GUARD,
        ),
    ),
    _late(
        "builds-under-a-device",
        _ahead(
            "super().__init__()", 'with torch.device("meta"):', "    self.head_norm = nn.RMSNorm(config.hidden_size)"
        ),
    ),
    _late(
        "adds-a-module", _ahead("super().__init__()", 'self.add_module("head_norm", nn.RMSNorm(config.hidden_size))')
    ),
    _late(
        "built-by-a-method",
        _ahead("nn.Module.__init__(self)", "self._build(config)"),
        Edit(
            FIR,
            "    def get_output_embeddings(self)",
            "    def _build(self, config):\n"
            "        self.head_norm = nn.RMSNorm(config.hidden_size)\n\n"
            "    def get_output_embeddings(self)",
        ),
    ),
    _late(
        "base-constructor",
        Edit(BASE, GUARD, ""),
        Edit(LARCH, LARCH_SUPER, LARCH_SUPER + GUARD),
        Edit(LARCH, "import CausalLMBase\n", f"import CausalLMBase, {NAME}\n"),
        path=LARCH,
        guard=f"{NAME}(",
    ),
    _late(
        "base-constructor-by-name-and-keyword",
        Edit(BASE, GUARD, ""),
        Edit(LARCH, LARCH_SUPER, "        CausalLMBase.__init__(self, backend=backend, config=config)\n" + GUARD),
        Edit(LARCH, "import CausalLMBase\n", f"import CausalLMBase, {NAME}\n"),
        path=LARCH,
        guard="reject_unsupported_tie_word_embeddings(type",
    ),
]


def _second(name: str, *edits: Edit, guard: str = NAME + "(") -> Fault:
    return Fault("NAM205", name, edits, at=guard)


NOT_FIRST = [
    _second("after-super", Edit(FIR, GUARD + "        super().__init__()\n", "        super().__init__()\n" + GUARD)),
    _second("after-the-module-constructor", _ahead("nn.Module.__init__(self)")),
    _second("after-keeping-the-config", _ahead("self.config = config")),
    _second("after-choosing-a-backend", _ahead("self.backend = backend or BackendConfig()")),
    _second("after-a-read", _ahead("hidden_size: int = config.hidden_size")),
    _second("after-an-alias-that-it-checks", _instead("cfg = config", f"{NAME}(type(self), cfg)")),
    _second(
        "after-a-sub-config-read-for-its-size",
        _ahead("size = config.text_config.hidden_size", "text = config.text_config", "size = text.hidden_size"),
    ),
    _second("after-a-log-line", _imported("import logging"), _ahead('logging.getLogger(__name__).info("building")')),
    _second("after-a-default", _ahead("if backend is None:", "    backend = BackendConfig()")),
    _second("in-a-with", _instead("backend = backend or BackendConfig()", "with torch.no_grad():", f"    {CALL}")),
    _second(
        "in-both-branches",
        _instead("backend = backend or BackendConfig()", "if backend.linear:", f"    {CALL}", "else:", f"    {CALL}"),
    ),
]


def _other_config(name: str, argument: str, path: str = CEDAR, also: tuple[Place, ...] = ()) -> Fault:
    return Fault("NAM206", name, (_instead(f"{NAME}({argument})", path=path),), at=NAME + "(", also=also)


OTHER_CONFIG = [
    _other_config("sub-config", "type(self), config.text_config"),
    _other_config("sub-config-by-keyword", "config=config.text_config, model_cls=type(self)"),
    _other_config("sub-config-by-getattr", 'type(self), getattr(config, "text_config", config)'),
    _other_config("sub-config-by-method", "type(self), config.get_text_config()"),
    _other_config("fresh-config", "type(self), CedarConfig()"),
    _other_config("config-of-the-class", "type(self), self.config_class()"),
    _other_config("other-parameter", "type(self), backend"),
    _other_config("conditional", "type(self), config.text_config if config.text_config else config"),
    _other_config("swapped", "config, type(self)", also=(Place("NAM207", CEDAR, NAME + "("),)),
    Fault(
        "NAM206",
        "rebound-name",
        (_instead("text = config.text_config", f"{NAME}(type(self), text)", path=CEDAR),),
        at=NAME + "(",
        also=(Place("NAM204", CEDAR, NAME + "("),),  # the sub-config is used as the config
    ),
    Fault(
        "NAM206",
        "kept-and-unwrapped",
        (_instead("self.config = config", f"{NAME}(type(self), self.config.text_config)", path=CEDAR),),
        at=NAME + "(",
        also=(Place("NAM205", CEDAR, NAME + "("),),
    ),
    Fault(
        "NAM206",
        "handed-to-a-guarded-base",
        (Edit(LARCH, LARCH_SUPER, LARCH_SUPER.replace("config,", "config.text_config,")),),
        at="super().__init__(",
    ),
    Fault(
        "NAM206",
        "handed-on-by-keyword",
        (Edit(LARCH, LARCH_SUPER, "        super().__init__(backend=backend, config=config.text_config)\n"),),
        at="super().__init__(",
    ),
]

OTHER_CLASS = [
    Fault("NAM207", "name-of-the-class", (_instead(f"{NAME}(FirForCausalLM, config)"),), at=NAME + "("),
    Fault("NAM207", "name-by-keyword", (_instead(f"{NAME}(config=config, model_cls=FirForCausalLM)"),), at=NAME + "("),
    Fault("NAM207", "dunder-class-cell", (_instead(f"{NAME}(__class__, config)"),), at=NAME + "("),
    Fault("NAM207", "instance", (_instead(f"{NAME}(self, config)"),), at=NAME + "("),
    Fault("NAM207", "class-of-the-config", (_instead(f"{NAME}(type(config), config)"),), at=NAME + "("),
    Fault("NAM207", "base-of-the-class", (_instead(f"{NAME}(type(self).__mro__[0], config)"),), at=NAME + "("),
    Fault(
        "NAM207",
        "kept-in-a-name",
        (_helper("_CLASS = None"), _instead(f"{NAME}(_CLASS or FirForCausalLM, config)")),
        at=NAME + "(",
    ),
    Fault(
        "NAM207",
        "alias-of-the-guard",
        (
            Edit(FIR, f"    {NAME},\n", f"    {NAME} as check_tie,\n"),
            _instead("check_tie(FirForCausalLM, config)"),
        ),
        at="check_tie(FirForCausalLM",
    ),
]

FAULTS = [*MISSING, *LATE, *NOT_FIRST, *OTHER_CONFIG, *OTHER_CLASS]
