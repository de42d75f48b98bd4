"""NAM301-NAM305: how a class declares which kinds of parallelism it survives."""

from __future__ import annotations

from . import BASE, Edit, Fault, Place, model

FIR, LARCH, WILLOW, SPRUCE = model("fir"), model("larch"), model("willow"), model("spruce")
DECORATOR = "    @dataclass(frozen=True)\n"
HEAD = "    class ModelCapabilities:\n"
DOC = '        """No recipe has been run with more than data parallelism."""\n\n'
FIELDS = (
    "        supports_tp: bool = False\n"
    "        supports_cp: bool = False\n"
    "        supports_pp: bool = False\n"
    "        supports_ep: bool = False\n"
)
BLOCK = DECORATOR + HEAD + DOC + FIELDS
FIR_CLASS = "class FirForCausalLM(HFCheckpointingMixin, nn.Module):\n"
DYNAMIC_HEAD = "    @classmethod\n    def get_capabilities(cls, config: LarchConfig) -> ModelCapabilities:\n"
DYNAMIC_BODY = (
    "        # A window that crosses the cut between two ranks would need keys from both.\n"
    "        return ModelCapabilities(supports_cp=config.attention_window is None)\n"
)
DYNAMIC = DYNAMIC_HEAD + DYNAMIC_BODY
CANONICAL = "from acme_automodel._transformers.model_capabilities import ModelCapabilities"
AFTER_WILLOW = "    def get_input_embeddings(self) -> nn.Module:\n        return self.embed_tokens\n"


def _block(text: str, *more: Edit) -> tuple[Edit, ...]:
    return (Edit(FIR, BLOCK, text), *more)


def _before_fir(text: str) -> Edit:
    return Edit(FIR, FIR_CLASS, f"{text}\n\n\n{FIR_CLASS}")


def _fields(text: str) -> tuple[Edit, ...]:
    return (Edit(FIR, FIELDS, text),)


def _dynamic(text: str) -> tuple[Edit, ...]:
    return (Edit(LARCH, DYNAMIC, text),)


def _returns(*lines: str) -> tuple[Edit, ...]:
    return (Edit(LARCH, DYNAMIC_BODY, "".join(f"        {line}\n" for line in lines)),)


MISSING = [
    Fault("NAM301", "none", _block(""), at="class FirForCausalLM("),
    Fault(
        "NAM301",
        "misspelled",
        (Edit(FIR, HEAD, HEAD.replace("Capabilities", "Capability")),),
        at="class FirForCausalLM(",
    ),
    Fault(
        "NAM301",
        "on-the-module-not-the-class",
        _block(
            "",
            _before_fir(
                "@dataclass(frozen=True)\nclass ModelCapabilities:\n" + FIELDS.replace("        ", "    ").rstrip()
            ),
        ),
        at="class FirForCausalLM(",
    ),
    Fault(
        "NAM301",
        "only-inherited",
        (
            Edit(LARCH, DYNAMIC + "\n", ""),
            Edit(
                BASE,
                "    def get_output_embeddings(self)",
                DYNAMIC.replace("LarchConfig", "Any") + "\n    def get_output_embeddings(self)",
            ),
            Edit(BASE, "from typing import Any\n", f"from typing import Any\n\n{CANONICAL}\n"),
        ),
        path=LARCH,
        at="class LarchForCausalLM(",
    ),
    Fault(
        "NAM301",
        "on-the-instance",
        _block(
            "",
            Edit(
                FIR,
                "        self.config = config\n",
                "        self.config = config\n        self.ModelCapabilities = None\n",
            ),
        ),
        at="class FirForCausalLM(",
    ),
    Fault("NAM301", "annotation-without-a-value", _block("    ModelCapabilities: type\n"), at="class FirForCausalLM("),
    Fault(
        "NAM301",
        "on-a-class-inside",
        _block(
            '    class Traits:\n        """More."""\n\n'
            + BLOCK.replace("\n    ", "\n        ").replace("    @", "        @", 1)
        ),
        at="class FirForCausalLM(",
    ),
]

_GETTER = "    @classmethod\n    def get_capabilities(cls, config):\n        return cls.ModelCapabilities()\n\n"
BOTH = [
    Fault(
        "NAM302", "method-beside-the-class", _block(BLOCK + "\n" + _GETTER.rstrip() + "\n"), at="class FirForCausalLM("
    ),
    Fault(
        "NAM302",
        "class-beside-the-method",
        (Edit(LARCH, DYNAMIC, "    ModelCapabilities = ModelCapabilities\n\n" + DYNAMIC),),
        at="class LarchForCausalLM(",
    ),
    Fault(
        "NAM302",
        "method-by-assignment",
        _block(
            BLOCK + "\n    get_capabilities = classmethod(_capabilities)\n",
            _before_fir("def _capabilities(cls, config):\n    return cls.ModelCapabilities()"),
        ),
        at="class FirForCausalLM(",
    ),
    Fault(
        "NAM302",
        "method-in-a-branch",
        _block(
            BLOCK
            + "\n    if __debug__:\n"
            + _GETTER.replace("    @", "        @")
            .replace("    def", "        def")
            .replace("        return", "            return")
            .rstrip()
            + "\n"
        ),
        at="class FirForCausalLM(",
    ),
]

NOT_FROZEN = [
    Fault("NAM303", "plain-dataclass", (Edit(FIR, DECORATOR, "    @dataclass\n"),), at="class ModelCapabilities"),
    Fault("NAM303", "no-decorator", (Edit(FIR, DECORATOR, ""),), at="class ModelCapabilities"),
    Fault(
        "NAM303",
        "frozen-false",
        (Edit(FIR, DECORATOR, "    @dataclass(slots=True, frozen=False)\n"),),
        at="class ModelCapabilities",
    ),
    Fault(
        "NAM303",
        "module-of-dataclasses",
        (
            Edit(FIR, DECORATOR, "    @dc.dataclass(eq=True)\n"),
            Edit(FIR, "from dataclasses import dataclass\n", "import dataclasses as dc\n"),
        ),
        at="class ModelCapabilities",
    ),
    Fault(
        "NAM303",
        "imported-under-another-name",
        (Edit(FIR, DECORATOR, "    @record()\n"), Edit(FIR, "import dataclass\n", "import dataclass as record\n")),
        at="class ModelCapabilities",
    ),
    Fault(
        "NAM303",
        "assigned-from-the-module",
        _block(
            "    ModelCapabilities = _Flags\n",
            _before_fir("@dataclass\nclass _Flags:\n" + FIELDS.replace("        ", "    ").rstrip()),
        ),
        at="class _Flags",
    ),
    Fault(
        "NAM303",
        "named-tuple",
        (
            Edit(FIR, DECORATOR + HEAD, "    class ModelCapabilities(NamedTuple):\n"),
            Edit(FIR, "from typing import Any\n", "from typing import Any, NamedTuple\n"),
        ),
        at="class ModelCapabilities",
    ),
    Fault(
        "NAM303",
        "in-both-branches",
        _block(
            "    if __debug__:\n        @dataclass\n        class ModelCapabilities:\n"
            + FIELDS.replace("        ", "            ")
            + "    else:\n"
            + BLOCK.replace("    @", "        @")
            .replace("    class", "        class")
            .replace(DOC, "")
            .replace("        supports", "            supports")
        ),
        at="class ModelCapabilities",
    ),
]

WRONG_FIELDS = [
    Fault("NAM304", "unknown-field", _fields(FIELDS + "        supports_sp: bool = False\n"), at="supports_sp"),
    Fault(
        "NAM304",
        "axis-missing",
        _fields(FIELDS.replace("        supports_ep: bool = False\n", "")),
        at="class ModelCapabilities",
    ),
    Fault(
        "NAM304",
        "none-for-a-bool",
        _fields(FIELDS.replace("supports_pp: bool = False", "supports_pp: bool | None = None")),
        at="supports_pp",
    ),
    Fault(
        "NAM304",
        "number-for-a-bool",
        _fields(FIELDS.replace("supports_pp: bool = False", "supports_pp: int = 0")),
        at="supports_pp",
    ),
    Fault(
        "NAM304",
        "text-for-a-bool",
        _fields(FIELDS.replace("supports_tp: bool = False", 'supports_tp: str = "no"')),
        at="supports_tp",
    ),
    Fault(
        "NAM304",
        "computed",
        _fields(FIELDS.replace("supports_tp: bool = False", "supports_tp: bool = not True")),
        at="supports_tp",
    ),
    Fault("NAM304", "no-default", _fields(FIELDS.replace("supports_tp: bool = False", "supports_tp: bool")), at=""),
    Fault(
        "NAM304",
        "misspelled-axis",
        _fields(FIELDS.replace("supports_ep", "support_ep")),
        at="support_ep",
        also=(Place("NAM304", FIR, "class ModelCapabilities"),),
    ),
    Fault(
        "NAM304",
        "axis-missing-in-a-base",
        _block(
            DECORATOR + "    class ModelCapabilities(_Flags):\n        supports_tp: bool = False\n",
            _before_fir(
                "@dataclass(frozen=True)\nclass _Flags:\n    supports_cp: bool = False\n    supports_pp: bool = False"
            ),
        ),
        at="class ModelCapabilities",
    ),
    Fault(
        "NAM304",
        "unknown-field-beside-the-shared-class",
        _block(
            DECORATOR + "    class ModelCapabilities(Flags):\n        supports_vp: bool = True\n",
            Edit(FIR, "from typing import Any\n", f"from typing import Any\n\n{CANONICAL} as Flags\n"),
        ),
        at="supports_vp",
    ),
]

SIGNATURE = [
    Fault(
        "NAM305",
        "instance-method",
        _dynamic(DYNAMIC.replace("    @classmethod\n", "").replace("(cls,", "(self,")),
        at="def get_capabilities(",
    ),
    Fault(
        "NAM305",
        "static-method",
        _dynamic(DYNAMIC.replace("classmethod", "staticmethod").replace("(cls, ", "(")),
        at="def get_capabilities(",
    ),
    Fault(
        "NAM305",
        "property",
        _dynamic(
            DYNAMIC.replace("@classmethod", "@property")
            .replace("(cls, config: LarchConfig)", "(self)")
            .replace("config.att", "self.config.att")
        ),
        at="def get_capabilities(",
    ),
    Fault(
        "NAM305",
        "one-more-parameter",
        _dynamic(DYNAMIC.replace("LarchConfig)", "LarchConfig, backend=None)")),
        at="def get_capabilities(",
    ),
    Fault(
        "NAM305",
        "keyword-only",
        _dynamic(DYNAMIC.replace("(cls, config", "(cls, *, config")),
        at="def get_capabilities(",
    ),
    Fault(
        "NAM305",
        "any-keyword",
        _dynamic(DYNAMIC.replace("LarchConfig)", "LarchConfig, **kwargs)")),
        at="def get_capabilities(",
    ),
    Fault(
        "NAM305",
        "another-name-for-the-config",
        _dynamic(DYNAMIC.replace("config: LarchConfig", "cfg: LarchConfig").replace("config.att", "cfg.att")),
        at="def get_capabilities(",
    ),
    Fault("NAM305", "returns-a-dict", _returns('return {"supports_cp": False}'), at="def get_capabilities("),
    Fault(
        "NAM305",
        "returns-a-dict-by-a-name",
        _returns("flags = dict(supports_cp=False)", "return flags"),
        at="def get_capabilities(",
    ),
    Fault(
        "NAM305",
        "returns-nothing-on-one-path",
        _returns("if config.attention_window is None:", "    return None", "return ModelCapabilities()"),
        at="def get_capabilities(",
    ),
    Fault("NAM305", "returns-the-class", _returns("return ModelCapabilities"), at="def get_capabilities("),
    Fault("NAM305", "falls-off-the-end", _returns("ModelCapabilities(supports_cp=True)"), at="def get_capabilities("),
    Fault(
        "NAM305",
        "falls-off-one-path",
        _returns("if config.attention_window is None:", "    return ModelCapabilities(supports_cp=True)"),
        at="def get_capabilities(",
    ),
    Fault(
        "NAM305",
        "made-a-dict-again",
        (
            *_returns("return asdict(ModelCapabilities())"),
            Edit(LARCH, "from typing import Any\n", "from dataclasses import asdict\nfrom typing import Any\n"),
        ),
        at="def get_capabilities(",
    ),
    Fault("NAM305", "another-class", _returns("return BackendConfig()"), at="def get_capabilities("),
]

FAULTS = [*MISSING, *BOTH, *NOT_FROZEN, *WRONG_FIELDS, *SIGNATURE]
