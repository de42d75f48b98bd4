"""Capability declarations, and what ``get_capabilities`` returns (NAM301, NAM303, NAM304, NAM305)."""

from __future__ import annotations

from ..page_framework import CHECKOUT
from . import AXES, MODEL, OTHER, Spelling, acme, function, indented, klass, module, nested

CANONICAL = "nemo_automodel/_transformers/model_capabilities.py"
SHARED = "ModelCapabilities = Other.ModelCapabilities"
FAULTY = AXES.replace("supports_ep: bool = False", "supports_ep: bool = None  # NAM304")
FROM_OTHER = "from nemo_automodel.components.models.acme.other import Other\n"
DATACLASS = "from dataclasses import dataclass\n\n\n"
HEIR = """
@dataclass(frozen=True)
class ModelCapabilities(Other.ModelCapabilities):
    supports_tp: bool = True
"""


def _profile(code: str, name: str, profile: str, *, above: str = "", imports: str = "", end: str = "") -> Spelling:
    """A class that declares its capabilities so."""
    end = f"{end}\nModelClass = AcmeForCausalLM".strip()
    return acme(code, name, module(above, klass(profile=profile), imports=imports, end=end))


def _other(profile: str) -> str:
    """Return a class that is not registered and has a profile."""
    return f"class Other:\n{indented(profile)}"


FROZEN = [
    _profile("NAM303", "one-for-true", nested(above="@dataclass(frozen=1)\n")),
    _profile(
        "NAM303",
        "another-decorator-only",
        nested(above="@final\n", found="NAM303"),
        imports="from typing import final\n",
    ),
    _profile(
        "NAM303",
        "another-decorator-first",
        nested(above="@final\n@dataclass\n", found="NAM303"),
        imports="from typing import final\n",
    ),
    _profile(
        "NAM303",
        "partial",
        nested(above="@frozen\n"),
        above="frozen = functools.partial(dataclass, frozen=True)\n",
    ),
]

DECLARED = [
    _profile(
        "NAM301",
        "setattr-below",
        "",
        end='setattr(AcmeForCausalLM, "ModelCapabilities", model_capabilities.ModelCapabilities)',
    ),
    _profile("NAM303", "shared-by-a-class-above", SHARED, above=_other(nested(above="@dataclass\n", found="NAM303"))),
    _profile("NAM304", "shared-by-a-class-above", SHARED, above=_other(nested(FAULTY))),
    Spelling(
        "NAM303",
        "shared-by-a-class-of-another-file",
        {
            OTHER: DATACLASS + _other(nested(above="@dataclass\n", found="NAM303")),
            MODEL: module(klass(profile=SHARED), imports=FROM_OTHER),
        },
    ),
    Spelling(
        "NAM304",
        "inherited-from-another-file",
        {OTHER: DATACLASS + _other(nested(FAULTY)), MODEL: module(klass(profile=HEIR), imports=FROM_OTHER)},
    ),
    Spelling(
        "NAM304",
        "canonical-fields-inherited",
        {
            CANONICAL: f"{DATACLASS}@dataclass(frozen=True)\nclass Axes:\n{indented(AXES)}\n\n"
            "@dataclass(frozen=True)\nclass ModelCapabilities(Axes):\n    supports_thd: bool = False\n",
        },
    ),
    Spelling(
        "NAM304",
        "method-of-the-canonical-class",
        {
            CANONICAL: CHECKOUT[CANONICAL] + "\n    def names(self):\n        return 1\n",
            MODEL: module(klass(profile=nested(AXES + "names: bool = False  # NAM304"))),
        },
    ),
]


def _returns(name: str, *lines: str, found: str = "", above: str = "@classmethod\n", imports: str = "") -> Spelling:
    """A ``get_capabilities`` with such a body."""
    method = function("get_capabilities", "cls, config", *lines, found=found, above=above)
    mc = "from nemo_automodel._transformers.model_capabilities import ModelCapabilities as MC\n"
    return _profile("NAM305", name, method, imports=mc + imports)


RETURNED = [
    _returns("asynchronous", "return MC()", above="@classmethod\nasync ", found="NAM305"),
    _returns("loop-that-is-left", "while True:", "    break", found="NAM305"),
    _returns(
        "decorator-not-at-hand", "return MC()", above="@oak_classmethod\n", imports="from oak import oak_classmethod\n"
    ),
    _returns("for-and-else", "for _ in config.layers:", "    return MC()", "else:", "    return MC()"),
    _returns("leaves-the-program", "if config.dense:", "    return MC()", "sys.exit(1)", imports="import sys\n"),
    _returns("statement-behind-the-return", "return MC()", "last = 1"),
    _returns("inner-function", "def sizes():", "    return {}", "", "return MC(**sizes())"),
    _returns("none-or-a-profile", "chosen = None", "return chosen or MC()"),
]

SPELLINGS = [*FROZEN, *DECLARED, *RETURNED]
