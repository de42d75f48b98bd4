"""Repairs of declared capabilities in spellings that neither pages nor mutations have, and what is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from automodel_lint.fixes.repairing import repaired
from automodel_lint.request import Request

from .page_checkout import lay
from .page_framework import MODEL
from .spellings import AXES, klass, module, nested

MC = "from nemo_automodel._transformers.model_capabilities import ModelCapabilities as MC\n"
LAST = "\nModelClass = AcmeForCausalLM"


def _repaired(folder: Path, text: str, code: str, unsafe: bool = False) -> str:
    """Return the model file after the repairs of one rule."""
    root = lay(folder, {MODEL: text})
    outcome = repaired(Request(paths=[str(root)], select=[code], cache=False), unsafe=unsafe)
    assert not outcome.dropped
    new = outcome.files.get(str(root / MODEL))
    return new[1].decode() if new else text


def _file(profile: str, imports: str = "", above: str = "", end: str = "") -> str:
    return module(above, klass(profile=profile), imports=imports, end=end + LAST)


# -- NAM301 ---------------------------------------------------------------------------------------------------------

NAMED_OTHERWISE = {
    "class": (nested().replace("ModelCapabilities", "Capabilities"), nested()),
    "query": (
        "@classmethod\ndef get_capability(cls, config):\n    return MC()\n",
        "@classmethod\ndef get_capabilities(cls, config):\n    return MC()\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), NAMED_OTHERWISE.values(), ids=NAMED_OTHERWISE)
def test_a_declaration_of_another_name_is_renamed(before: str, after: str, tmp_path: Path) -> None:
    assert _repaired(tmp_path, _file(before, MC), "NAM301", unsafe=True) == _file(after, MC)


def test_a_profile_that_is_used_under_its_name_keeps_it(tmp_path: Path) -> None:
    profile = nested().replace("ModelCapabilities", "Capabilities")
    text = _repaired(tmp_path, _file(profile, end="print(AcmeForCausalLM.Capabilities)\n"), "NAM301", unsafe=True)
    assert "class Capabilities:" in text and "class ModelCapabilities:" in text


# -- NAM303 ---------------------------------------------------------------------------------------------------------

PLAIN = AXES.replace(": bool", "")
POST = "\ndef __post_init__(self):\n    self.supports_ep = self.supports_tp\n"
BASE = "@dataclass\nclass Base:\n    supports_ep: bool = False\n"
HEIR = "@dataclass\nclass Heir(AcmeForCausalLM.ModelCapabilities):\n    pass\n\n"
BARE = nested(above="@dataclass\n")
FREEZING = {
    "plain-class": (nested(PLAIN, above=""), nested()),
    "plain-class-with-a-list": (nested(f"names: list = []\n{AXES}", above=""), None),
    "other-decorators": (
        nested(above="@cast\n@dataclass(\n    slots=True,  # small\n)\n"),
        nested(above="@cast\n@dataclass(\n    slots=True,  # small\n    frozen=True,\n)\n"),
    ),
    "writes-to-itself": (nested(AXES + POST, above="@dataclass\n"), None),
    "base-not-frozen": (BARE.replace("Capabilities:", "Capabilities(Base):"), None),
}


@pytest.mark.parametrize(("before", "after"), FREEZING.values(), ids=FREEZING)
def test_a_profile_is_frozen_if_it_can_be(before: str, after: str | None, tmp_path: Path) -> None:
    text = _file(before, above=BASE)
    assert _repaired(tmp_path, text, "NAM303") == (text if after is None else _file(after, above=BASE))


def test_a_class_with_an_heir_that_is_not_frozen_is_left_alone(tmp_path: Path) -> None:
    """Python would refuse the heir."""
    text = _file(BARE, end=HEIR)
    assert _repaired(tmp_path, text, "NAM303") == text


# -- NAM304 ---------------------------------------------------------------------------------------------------------

TP, EP = "supports_tp: bool = False\n", "supports_ep: bool = False\n"
REST = AXES.replace(TP, "")
FIELDS = {
    "case": (f"supports_TP: bool = True\n{REST}", f"supports_tp: bool = True\n{REST}"),
    "one-misspelled-one-missing": (
        "suports_tp: bool = True  # ours\nsupports_cp: bool = False\nsupports_pp: bool = False\n",
        f"supports_tp: bool = True  # ours\nsupports_cp: bool = False\nsupports_pp: bool = False\n{EP}",
    ),
    "its-opposite": (f"unsupported_tp: bool = False\n{REST}", None),
    "another-axis": (f"supports_sp: bool = True\n{REST}", None),
    "another-feature": (f"supports_mtp: bool = True\n{REST}", None),
    "spelled-twice": (f"suports_tp: bool = True\nsupport_tp: bool = True\n{REST}", None),
    "read": (f"suports_tp: bool = True\n{REST}\ndef any(self):\n    return self.suports_tp\n", None),
    "without-annotations": (
        "supports_tp = True\nsupports_cp = supports_pp = False\n",
        "supports_tp = True\nsupports_cp = supports_pp = False\nsupports_ep = False\n",
    ),
    "in-field": (f"supports_tp: bool = field(default=1)\n{REST}", f"supports_tp: bool = field(default=True)\n{REST}"),
    "field-without-default": (
        f"supports_tp: bool = field(repr=False)\n{REST}",
        f"supports_tp: bool = field(repr=False, default=False)\n{REST}",
    ),
    "made-by-a-factory": (f"supports_tp: bool = field(default_factory=bool)\n{REST}", None),
    "says-yes": (f'supports_tp: str = "yes"\n{REST}', f"supports_tp: bool = True\n{REST}"),
    "says-no": (f'supports_tp: str = "no"\n{REST}', None),  # for Python that is true: not without a look
    "says-nothing": (f"supports_tp: bool = ...\n{REST}", None),
    "from-elsewhere": (f"supports_tp: bool = warnings.tp\n{REST}", None),
    "optional": (f"supports_tp: Optional[bool] = None\n{REST}", f"supports_tp: Optional[bool] = False\n{REST}"),
}


@pytest.mark.parametrize(("before", "after"), FIELDS.values(), ids=FIELDS)
def test_fields_are_put_right(before: str, after: str | None, tmp_path: Path) -> None:
    imports = "from dataclasses import field\nfrom typing import Optional\n"
    text = _file(nested(before), imports)
    assert _repaired(tmp_path, text, "NAM304") == (text if after is None else _file(nested(after), imports))


def test_axes_of_a_base_that_cannot_be_read_are_not_overwritten(tmp_path: Path) -> None:
    text = _file(nested("supports_tp: bool = True\n").replace("ies:", "ies(Elsewhere):"), "from oak import Elsewhere\n")
    assert _repaired(tmp_path, text, "NAM304", unsafe=True) == text


# -- NAM305 ---------------------------------------------------------------------------------------------------------


def _query(signature: str, body: str, above: str = "@classmethod\n", gives: str = "") -> str:
    return f"{above}def get_capabilities({signature}){gives}:\n    {body}\n"


GOOD = _query("cls, config", "return MC()")
LINES = "\n    cls,\n    config,\n{}"
FLAGS = "return {{{}}}"
QUERIES = {
    "class-beside-the-model": (
        _query("self, config", "return MC(supports_tp=self.small(config))", ""),
        _query("cls, config", "return MC(supports_tp=cls.small(config))"),
    ),
    "asks-the-object": (_query("self, config", "return MC(supports_tp=self.model.small)", ""), None),
    "config-alone": (_query("config", "return MC()", ""), GOOD),
    "under-another-decorator": (_query("self, config", "return MC()", "@functools.cache\n"), None),
    "uses-the-parameter": (_query("cls, config, tp=None", "return MC(supports_tp=tp)"), None),
    "several-parameters": (_query("cls, model, config, *args, tp=1, **kwargs", "return MC()"), GOOD),
    "parameters-in-lines": (
        _query(LINES.format("    model=None,\n    *,\n    tp=1,  # ranks\n"), "return MC()"),
        None,  # the comment would stand beside another
    ),
    "further-lines": (
        _query(LINES.format("    model=None,\n    **kwargs,\n"), "return MC()"),
        _query(LINES.format(""), "return MC()"),
    ),
    "bare-star": (_query("cls, config, *, tp=1", "return MC()"), GOOD),
    "coroutine": (GOOD.replace("def", "async def"), GOOD),
    "waiting-coroutine": (_query("cls, config", "return await cls.ask()").replace("def", "async def"), None),
    "called-with-more": (_query("cls, config, tp=1", "return MC() or cls.get_capabilities(config, tp=2)"), None),
    "dict-in-lines": (
        _query(
            "cls, config", FLAGS.format('\n        "supports_tp": (True),  # ran\n    '), gives=" -> dict[str, bool]"
        ),
        _query("cls, config", "return MC(\n        supports_tp=(True),  # ran\n    )", gives=" -> MC"),
    ),
    "one-or-the-other": (
        _query("cls, config", 'return MC() if config.dense else {"supports_ep": True}'),
        _query("cls, config", "return MC() if config.dense else MC(supports_ep=True)"),
    ),
    "unknown-flag": (_query("cls, config", 'return {"supports_all": True}'), None),
    "flag-given-twice": (_query("cls, config", 'return {"supports_tp": True, "supports_tp": False}'), None),
    "flags-from-elsewhere": (_query("cls, config", "return {**config.flags}"), None),
    "dict-that-is-filled": (
        _query("cls, config", 'flags = {}\n    flags["supports_tp"] = True\n    return flags'),
        None,
    ),
    "imported-inside": (
        _query("cls, config", f"{MC.strip().replace('MC', 'Flags')}\n    return {{}}"),
        _query("cls, config", f"{MC.strip().replace('MC', 'Flags')}\n    return Flags()"),
    ),
    "assigned": ("get_capabilities = outside\n", "get_capabilities = classmethod(outside)\n"),
}
ABOVE = "def outside(cls, config):\n    return MC()\n"
SMALL = "\n@staticmethod\ndef small(config):\n    return config.hidden_size < 9\n"


@pytest.mark.parametrize(("before", "after"), QUERIES.values(), ids=QUERIES)
def test_the_query_is_put_right(before: str, after: str | None, tmp_path: Path) -> None:
    text = _file(before + SMALL, MC, ABOVE)
    assert _repaired(tmp_path, text, "NAM305") == (text if after is None else _file(after + SMALL, MC, ABOVE))


def test_a_query_of_the_object_wants_a_look(tmp_path: Path) -> None:
    """Whoever asked an object without a config has to give one now."""
    text = _file(_query("self", "return MC(supports_tp=self.config.tp)", "@property\n"), MC)
    (tmp_path / "safe").mkdir()
    (tmp_path / "unsafe").mkdir()
    assert _repaired(tmp_path / "safe", text, "NAM305") == text
    after = _file(_query("cls, config", "return MC(supports_tp=config.tp)"), MC)
    assert _repaired(tmp_path / "unsafe", text, "NAM305", unsafe=True) == after
